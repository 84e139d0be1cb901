import type { MachineSet } from '../../contracts/crds/machine-set.ts';
import { isFrozen } from '../../contracts/machine-safety/frozen-objects.ts';
import type { ApiServerSettings } from '../../contracts/machine-safety/judge-api-servers.ts';
import { type SafetyRun, judgeFreeze } from '../../contracts/machine-safety/judge-freeze.ts';
import { formatTime } from '../render/duration.ts';

/** Whether the Machines of a namespace are frozen; also an element of `drover safety --json`. Times are RFC 3339. */
export interface ListedSafety {
  namespace: string;
  /** Unknown counts as frozen. */
  state: 'thawed' | 'frozen' | 'unknown';
  /** Since when not all API servers have answered; null: all have, or it is not known. */
  since: string | null;
  /** Null where Machines are not frozen. */
  reason: string | null;
  /** Null: not yet, or it is not known. */
  lastProbe: string | null;
  /** Whether each has answered it; null: there is no such server, or it is not known. */
  control: boolean | null;
  target: boolean | null;
  /** MachineSets with too many Machines; null: they could not be listed. */
  frozenMachineSets: string[] | null;
}

/**
 * Pure.
 *
 * @param sets null: they could not be listed
 */
export function describeSafety(
  namespace: string,
  run: SafetyRun,
  sets: readonly MachineSet[] | null,
  settings: ApiServerSettings,
  nowMs: number,
): ListedSafety {
  const freeze = judgeFreeze(run, settings, nowMs);
  const { probedMs = 0, inactiveSinceMs = null } = run.beat?.state ?? run.decided ?? {};
  const { control = null, target = null } = run.beat?.servers ?? {};
  return {
    namespace,
    state: freeze.state,
    since: inactiveSinceMs === null ? null : formatTime(inactiveSinceMs),
    reason: freeze.state === 'thawed' ? null : freeze.reason,
    lastProbe: probedMs === 0 ? null : formatTime(probedMs),
    control,
    target,
    frozenMachineSets: sets?.filter(isFrozen).map(({ metadata }) => metadata.name) ?? null,
  };
}
