/** A Kubernetes condition, as in `metav1.Condition`. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  /** 1 to 1024 characters, `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`. */
  reason: string;
  /** At most 32768 characters. */
  message: string;
  /** RFC 3339; moves only when `status` changes. */
  lastTransitionTime: string;
  observedGeneration?: number;
}

/** A condition before it is known when its status last changed. */
export type ConditionUpdate = Omit<Condition, 'lastTransitionTime'>;

export const findCondition = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((condition) => condition.type === type);

/**
 * Puts `updates` into `conditions` as `meta.SetStatusCondition` does: `lastTransitionTime` moves only when the status
 * changes, because alerts and readers depend on it. Conditions of other writers stay as they are. Returns the very same
 * array when nothing changed.
 *
 * @param now RFC 3339
 */
export function setConditions(
  conditions: readonly Condition[],
  updates: readonly ConditionUpdate[],
  now: string,
): readonly Condition[] {
  return updates.reduce((current, update) => setCondition(current, update, now), conditions);
}

function setCondition(conditions: readonly Condition[], update: ConditionUpdate, now: string): readonly Condition[] {
  const before = findCondition(conditions, update.type);
  if (before === undefined) return [...conditions, { ...update, lastTransitionTime: now }];
  if (same(before, update)) return conditions;
  const lastTransitionTime =
    before.status === update.status ? before.lastTransitionTime : later(before.lastTransitionTime, now);
  return conditions.map((condition) => (condition === before ? { ...update, lastTransitionTime } : condition));
}

/** The clock of the last writer may be ahead of this one: a status never goes back in time. */
const later = (before: string, now: string): string => (Date.parse(before) > Date.parse(now) ? before : now);

const same = (before: Condition, update: ConditionUpdate): boolean =>
  before.status === update.status &&
  before.reason === update.reason &&
  before.message === update.message &&
  before.observedGeneration === update.observedGeneration;
