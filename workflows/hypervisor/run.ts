import type { SeenByActivity } from '../../contracts/hypervisor/activities.ts';
import type {
  DesiredHypervisor,
  HypervisorObservation,
  HypervisorSettings,
  ObservedFailure,
  ShownStatus,
  TestRecord,
} from '../../contracts/hypervisor/hypervisor.ts';

/** What a run remembers from one look to the next, and across continue-as-new: nothing that it could read again. */
export interface HypervisorState {
  tests: TestRecord[];
  /** Failures in a row, for the back-off. */
  failures: number;
  failure: ObservedFailure | null;
  /** Something was changed: then the run lingers, so that echoes coalesce. */
  acted: boolean;
  /** What the run of the host's failure was last told; absent: nothing. */
  failureTold?: string;
  /** The deadline of which it was told that half of the time is over, milliseconds since the epoch; absent: none. */
  halfOverAtMs?: number;
}

export interface HypervisorRun {
  name: string;
  state: HypervisorState;
  /** Null before the first look. */
  seen: {
    settings: HypervisorSettings;
    desired: DesiredHypervisor | null;
    observed: SeenByActivity;
    shown: ShownStatus;
  } | null;
  /** What it waits for, for people; null: it is at work. */
  waiting: { for: string; untilMs: number } | null;
  message: string;
}

export const beginState = (): HypervisorState => ({ tests: [], failures: 0, failure: null, acted: false });

/** What the decision is made of: what was seen, and what the run remembers. */
export const observationOf = (
  observed: SeenByActivity,
  { tests, failure }: HypervisorState,
): HypervisorObservation => ({ ...observed, tests, failure });

/** An attempt more of a check. Pure. */
export function recordCheck(
  tests: readonly TestRecord[],
  record: Omit<TestRecord, 'attempts'>,
  attempt: number,
): TestRecord[] {
  return [...tests.filter(({ check }) => check !== record.check), { ...record, attempts: attempt }];
}
