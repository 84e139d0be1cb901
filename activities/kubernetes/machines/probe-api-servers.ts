import type { SafetyState } from '../../../contracts/machine-safety/api-server-safety.ts';
import {
  type AnsweringServers,
  type ApiServerProbe,
  answeringServers,
  judgeApiServers,
  notKnownYet,
  readSafetyState,
} from '../../../contracts/machine-safety/judge-api-servers.ts';
import type { ApiServerRound, ApiServerSafetyActivities } from '../../../contracts/machine-safety/watch-api-servers.ts';
import { probeControl, probeTarget } from './probe.ts';
import { type SafetyTools, isWatched } from './tools.ts';
import { watchForRound } from './watch-round.ts';

/**
 * Probes until something is to be done, or the round is over. What a probe finds is in the next heartbeat, and a round
 * that goes on after its worker died begins with the last one.
 */
export async function probeApiServers(
  tools: SafetyTools,
  { namespace, state: given }: Parameters<ApiServerSafetyActivities['probeApiServers']>[0],
): Promise<ApiServerRound> {
  const { scope, clock, settings, meter, leaving } = tools;
  const { apiServers } = settings;
  let state: SafetyState = readSafetyState(scope.heartbeatDetails) ?? readSafetyState(given) ?? notKnownYet;
  if (!isWatched(tools, namespace)) return { wanted: false, state };
  let servers: AnsweringServers | null = null;
  let isThawing = false;
  try {
    await watchForRound(
      tools,
      () => ({ ...state, servers }),
      async () => {
        const askedMs = clock.now();
        const probe = await probeBoth(tools, namespace);
        const { probeAfterMs, transition, ...verdict } = judgeApiServers(state, probe, apiServers, askedMs);
        state = verdict.state;
        servers = answeringServers(probe);
        // They are frozen until those that are Unknown have been reset.
        isThawing = transition === 'thaw';
        meter.show(namespace, state.frozen || isThawing);
        return transition === null ? probeAfterMs : null;
      },
    );
    return { wanted: true, state };
  } finally {
    if (isThawing && !leaving.aborted) meter.keepFrozen(namespace);
    else meter.hide(namespace);
  }
}

async function probeBoth(tools: SafetyTools, namespace: string): Promise<ApiServerProbe> {
  const { control, target, scope, clock, settings } = tools;
  const limits = { signal: scope.signal, clock, ...settings.apiServers };
  const [ofControl, ofTarget] = await Promise.all([
    probeControl(control, namespace, limits),
    target === null ? null : probeTarget(target, limits),
  ]);
  return { control: ofControl, target: ofTarget };
}
