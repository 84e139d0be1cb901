import type { TrackedInstance } from './state.ts';

/**
 * Which of the pending servers go next, at most `slots`. With a deadline the largest first, so that the long ones are not left for the
 * end; else the smallest, so that the host gets lighter soonest. Members of one server group move one at a time (design section 5, step 3).
 */
export function pickNext(
  pending: readonly TrackedInstance[],
  moving: readonly TrackedInstance[],
  slots: number,
  hasDeadline: boolean,
): TrackedInstance[] {
  const largestFirst = hasDeadline ? -1 : 1;
  const sorted = pending.toSorted(
    (a, b) =>
      // One that failed before lets the others pass: nothing blocks the head of the queue (H4).
      a.attempts - b.attempts ||
      largestFirst * (a.instance.memoryMiB - b.instance.memoryMiB) ||
      a.instance.name.localeCompare(b.instance.name, 'en') ||
      a.instance.id.localeCompare(b.instance.id, 'en'),
  );
  const busyGroups = new Set(moving.flatMap(({ instance }) => instance.serverGroups));
  const picked: TrackedInstance[] = [];
  for (const one of sorted) {
    if (picked.length >= slots) break;
    if (one.instance.serverGroups.some((group) => busyGroups.has(group))) continue;
    for (const group of one.instance.serverGroups) busyGroups.add(group);
    picked.push(one);
  }
  return picked;
}
