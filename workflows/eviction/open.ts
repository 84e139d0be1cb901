import type { EvictionOpened } from '../../contracts/eviction/activities.ts';
import type { EvictionInput } from '../../contracts/eviction/eviction.ts';
import { kubernetes } from '../lib/activities.ts';
import { explain } from '../lib/failures.ts';
import { noMembership } from '../limits/membership.ts';
import { evictionRead } from './answers.ts';
import { failed } from './problem.ts';
import type { EvictionRun } from './run.ts';
import { note } from './run.ts';
import type { EvictionState } from './state.ts';
import { askToStop, beginEviction } from './state.ts';

/** Finds or makes the Eviction of the host and reads what it asks for. */
export const openEviction = (input: EvictionInput, servingUid: string | null): Promise<EvictionOpened> =>
  kubernetes(servingUid === null ? 'Find the Eviction and validate it' : 'Read the Eviction again').openEviction(
    input,
    servingUid,
  );

export function beginRun(
  opened: Extract<EvictionOpened, { next: 'run' }>,
  carried: EvictionState | null,
  wake: () => void,
): EvictionRun {
  const nowMs = Date.now();
  const fresh = beginEviction(opened.desired, opened.settings, opened.bootId, nowMs);
  const state: EvictionState =
    carried === null
      ? fresh
      : { ...carried, desired: opened.desired, settings: opened.settings, startedAtMs: nowMs, allowance: null };
  if (opened.desired.deleting) askToStop(state, 'the deletion of the Eviction', nowMs);
  return {
    state,
    wake,
    moves: new Map(),
    membership: noMembership,
    unheard: null,
    waiting: null,
    unpublished: true,
    events: [],
    readAtMs: null,
  };
}

/** Takes in a change of the Eviction while the run serves it. */
export async function refresh(run: EvictionRun): Promise<void> {
  const { state } = run;
  run.readAtMs = null;
  try {
    const opened = await openEviction({ hypervisor: state.desired.hypervisor }, state.desired.uid);
    if (opened.next === 'run') evictionRead(state, opened.desired, Date.now());
    if (opened.next === 'nothing') askToStop(state, 'the deletion of the Eviction', Date.now());
    run.unpublished = true;
  } catch (error) {
    const problem = explain(error);
    // What it asked for before still holds: a bad edit must not end an eviction in the middle.
    if (problem.code === 'InvalidObject') return note(run, 'Warning', problem.reason, problem.message);
    failed(run, problem, 'read');
    run.readAtMs = state.problem?.retryAtMs ?? 0;
  }
}
