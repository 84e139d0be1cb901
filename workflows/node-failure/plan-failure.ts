import type { NodeFailureLook } from '../../contracts/node-failure/activities.ts';
import type { NodeFailureResult } from '../../contracts/node-failure/run.ts';
import type { FencingState } from './fencing-state.ts';
import { planFencing, type FencingStep } from './plan-fencing.ts';

/** As {@link FencingStep}, with the end that only the world outside brings about. */
export type FailureStep =
  | Exclude<FencingStep, { do: 'end' }>
  | { do: 'end'; outcome: NodeFailureResult['outcome']; message: string };

/** The plan, unless a person has taken back what drover did: then nothing more is begun, and drover lets go. Pure. */
export function planFailure(state: FencingState, { nova }: Pick<NodeFailureLook, 'nova'>, nowMs: number): FailureStep {
  const isTakenBack = state.forcedDown && !state.restored && nova !== null && !nova.service.forcedDown;
  if (!isTakenBack) return planFencing(state, nowMs);
  const { host } = state.incident;
  if (state.evidence !== null)
    return { do: 'loseEvidence', why: `somebody has taken back that ${host} is forced down` };
  const inFlight = state.servers?.filter((server) => server.state === 'evacuating').length ?? 0;
  if (inFlight > 0)
    return {
      do: 'wait',
      for: `${inFlight} evacuations in flight to end, as somebody has taken back that ${host} is forced down`,
      untilMs: null,
    };
  return {
    do: 'end',
    outcome: 'TakenOver',
    message: `Somebody has taken back that ${host} is forced down: drover leaves it to them`,
  };
}
