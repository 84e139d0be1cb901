import type { ConditionUpdate } from '../../contracts/conditions.ts';
import { evictingReasons, evictionConditions } from '../../contracts/eviction/conditions.ts';
import type { Obstacle } from '../../contracts/eviction/eviction.ts';
import { describeRest } from './plan.ts';
import type { EvictionState, TrackedInstance } from './state.ts';
import { acceptedObstacles, inState, unacceptedObstacles } from './state.ts';

/** The worst are named, the rest counted: a condition is for people. Every instance is in its Migration and in `drover describe`. */
const namedAtMost = 20;

/**
 * The Eviction's conditions, with the types and reasons of the operator that drover replaces (hypervisor.md A.2). Pure.
 *
 * @param waitingFor what the run waits for, as a sentence; null while it acts
 */
export function describeConditions(state: EvictionState, waitingFor: string | null): ConditionUpdate[] {
  const { generation } = state.desired;
  const updates = [
    evicting(state, waitingFor),
    preflight(state),
    hypervisorDisabled(state),
    migratingInstance(state),
    hypervisorReEnabled(state),
  ];
  return updates.filter((update) => update !== null).map((update) => ({ ...update, observedGeneration: generation }));
}

function evicting(state: EvictionState, waitingFor: string | null): ConditionUpdate {
  const type = evictionConditions.evicting;
  if (state.end !== null) {
    const { reason, message } = state.end;
    // What refused the eviction is named by the preflight's own condition.
    const blocked =
      reason === evictingReasons.preflightFailed ? '' : nameSome(inState(state, 'blocked'), describeBlocked);
    return { type, status: 'False', reason, message: blocked === '' ? message : `${message}. ${blocked}` };
  }
  const figures = state.host === null ? `${state.phase} ${state.desired.hypervisor}` : describeRest(state);
  // A problem is told at once, not only when the run has come to wait for its end.
  const problem = state.stop === null ? state.problem : null;
  const waits = problem !== null ? `. ${problem.message}` : waitingFor === null ? '' : `. Waiting for ${waitingFor}`;
  const { stopping, paused, running } = evictingReasons;
  const reason =
    state.stop !== null ? stopping : problem !== null ? problem.reason : state.paused !== null ? paused : running;
  return { type, status: 'True', reason, message: `${figures}${waits}` };
}

function preflight(state: EvictionState): ConditionUpdate | null {
  const type = evictionConditions.preflight;
  if (state.host === null) return null;
  const open = unacceptedObstacles(state);
  const accepted = acceptedObstacles(state);
  const acceptedHere = state.obstacles.filter(({ id }) => accepted.has(id));
  const suffix = acceptedHere.length === 0 ? '' : ` Accepted: ${acceptedHere.map(({ id }) => id).join(', ')}.`;
  if (open.length === 0)
    return { type, status: 'True', reason: 'Succeeded', message: `Preflight checks passed.${suffix}` };
  const carried =
    state.end?.reason === evictingReasons.preflightFailed
      ? ''
      : ` Carried along because the cause is ${state.desired.cause}.`;
  return {
    type,
    status: 'False',
    reason: 'Failed',
    message: `${nameSome(open, describeObstacle)}.${carried}${suffix}`,
  };
}

const describeObstacle = ({ id, message }: Obstacle): string => `${message} [${id}]`;

function hypervisorDisabled({ host, end }: EvictionState): ConditionUpdate | null {
  const type = evictionConditions.disabled;
  if (host === null) return null;
  const { status, disabledReason } = host.service;
  if (status === 'disabled')
    return {
      type,
      status: 'True',
      reason: 'Succeeded',
      message: `Disabled in Nova: ${disabledReason ?? 'no reason given'}`,
    };
  return { type, status: 'False', reason: end === null ? 'Enabled' : 'Succeeded', message: 'Enabled in Nova' };
}

/** Always False, as the replaced operator writes it; a failure stays until nothing is left that failed. */
function migratingInstance(state: EvictionState): ConditionUpdate | null {
  const type = evictionConditions.migrating;
  const blocked = inState(state, 'blocked');
  if (blocked.length > 0)
    return { type, status: 'False', reason: 'Failed', message: nameSome(blocked, describeBlocked) };
  const [last] = inState(state, 'moved', 'gone').toSorted((a, b) => b.sinceMs - a.sinceMs);
  if (last === undefined) return null;
  const how =
    last.state === 'moved' ? `finished: it is on ${last.target ?? 'another host'}` : (last.message ?? 'is gone');
  return {
    type,
    status: 'False',
    reason: 'Succeeded',
    message: `Migration of instance ${last.instance.id} (${last.instance.name}) ${how}`,
  };
}

const describeBlocked = ({ instance, message }: TrackedInstance): string =>
  `${instance.name} (${instance.id}): ${message ?? 'did not move'}`;

function hypervisorReEnabled({ end, phase, desired, reEnabled }: EvictionState): ConditionUpdate | null {
  const type = evictionConditions.reEnabled;
  if (phase === 'ReEnabling' && reEnabled === null) {
    return {
      type,
      status: 'Unknown',
      reason: 'WaitingForNode',
      message: `Waiting for Node ${desired.hypervisor} to come back with a new boot id and Ready`,
    };
  }
  if (end === null || reEnabled === null) return null;
  if (reEnabled) return { type, status: 'True', reason: 'Succeeded', message: 'Enabled in Nova again' };
  return { type, status: 'False', reason: 'LeftDisabled', message: `Left disabled in Nova (cause ${desired.cause})` };
}

function nameSome<One>(all: readonly One[], describe: (one: One) => string): string {
  const named = all.slice(0, namedAtMost).map(describe).join('; ');
  return all.length > namedAtMost ? `${named}; and ${all.length - namedAtMost} more` : named;
}
