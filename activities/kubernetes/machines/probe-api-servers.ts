import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';

import type { SafetyState } from '../../../contracts/machine-safety/api-server-safety.ts';
import {
  type AnsweringServers,
  type ProbeAnswer,
  answeringServers,
  judgeApiServers,
  notKnownYet,
  readSafetyState,
} from '../../../contracts/machine-safety/judge-api-servers.ts';
import type { ApiServerRound, ApiServerSafetyActivities } from '../../../contracts/machine-safety/watch-api-servers.ts';
import { machineKind } from '../../../contracts/kinds/machine.ts';
import { node } from '../../../contracts/kinds/resources.ts';
import { withTimeout } from '../../../runtime/clock.ts';
import { failureCode, failureDetail } from '../../../runtime/failure.ts';
import { isError } from '../../../runtime/is-error.ts';
import { typed } from '../../../runtime/kubernetes/resources.ts';
import { redactedStart } from '../../../runtime/redaction.ts';
import { type SafetyTools, isWatched } from './tools.ts';
import { watchForRound } from './watch-round.ts';

/** No object can be called so: that there is none is the answer of a server that is well. */
const absentName = 'dummy_name';
const machines = typed(machineKind, z.unknown());
const nodes = typed(node, z.unknown());

/** A server that takes longer is not well. */
const mostProbeMs = 10_000;

/**
 * Probes until something is to be done, or the round is over. What a probe finds is in the next heartbeat, and a round that goes on after its
 * worker died begins with the last one.
 */
export async function probeApiServers(
  tools: SafetyTools,
  { namespace, state: given }: Parameters<ApiServerSafetyActivities['probeApiServers']>[0],
): Promise<ApiServerRound> {
  const { scope, clock, settings, meter } = tools;
  const { apiServers } = settings;
  let state: SafetyState = readSafetyState(scope.heartbeatDetails) ?? readSafetyState(given) ?? notKnownYet;
  if (!isWatched(tools, namespace)) return { wanted: false, state };
  let servers: AnsweringServers | null = null;
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
        meter.show(namespace, state.frozen);
        return transition === null ? probeAfterMs : null;
      },
    );
    return { wanted: true, state };
  } finally {
    meter.hide(namespace);
  }
}

async function probeBoth(tools: SafetyTools, namespace: string) {
  const { control, target } = tools;
  const [ofControl, ofTarget] = await Promise.all([
    probe(tools, (signal) => control.get(machines, { namespace, name: absentName }, signal)),
    target === null ? null : probe(tools, (signal) => target.get(nodes, { name: absentName }, signal)),
  ]);
  return { control: ofControl, target: ofTarget };
}

/**
 * Whether the server has answered as one that is well does. A refusal of the credential, and an answer that is none of kube-apiserver's, tell
 * nothing of it.
 */
async function probe(
  { scope, clock, settings: { apiServers } }: SafetyTools,
  ask: (signal: AbortSignal) => Promise<unknown>,
): Promise<ProbeAnswer> {
  const withinMs = Math.min(mostProbeMs, apiServers.timeoutMs);
  try {
    await withTimeout(clock, withinMs, (overdue) => ask(AbortSignal.any([scope.signal, overdue])));
    return { isUp: true };
  } catch (error) {
    scope.signal.throwIfAborted();
    const words = failureCode(error) === null ? `no answer within ${withinMs / 1_000} s.` : messageOf(error);
    return { isUp: false, why: words };
  }
}

/** What has happened, without what the table advises: that is said where a user is to do something. */
function messageOf(error: unknown): string {
  const said = isError(error) ? error.message : String(error);
  return redactedStart(error instanceof ApplicationFailure ? failureDetail(error) : said, 300);
}
