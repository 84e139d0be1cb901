import { effectOf } from '../../../contracts/virtual-machine/advanced-keys.ts';
import { extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';

export interface ExtraConfigDifference {
  changes: { key: string; value: string }[];
  /** Keys that wait until the VM is off. */
  whenOff: string[];
}

const { rebootPowerCycle, managedKeys } = extraConfigKeys;

/** Whether what was changed while the VM ran counts only after its next power cycle. */
export const isPowerCyclePending = (current: Readonly<Record<string, string>>): boolean =>
  current[rebootPowerCycle]?.toUpperCase() === 'TRUE';

/**
 * What of the changes can be made now. One that counts after a power cycle is made, and the guest’s next restart
 * becomes one; one that a running VM does not take waits, and is remembered as drover’s own until it is taken away.
 *
 * @param wanted keys that the spec itself decides
 */
export function timeChanges(
  changes: readonly { key: string; value: string }[],
  wanted: Readonly<Record<string, string>>,
  current: Readonly<Record<string, string>>,
  isOff: boolean,
): ExtraConfigDifference {
  const isAsked = (wanted[rebootPowerCycle] ?? '') !== '';
  if (isOff) {
    const isDone = !isAsked && isPowerCyclePending(current);
    return { changes: [...changes, ...(isDone ? [{ key: rebootPowerCycle, value: '' }] : [])], whenOff: [] };
  }
  const waits = changes.filter(({ key }) => effectOf(key) === 'powerOff');
  const now = changes.filter((change) => !waits.includes(change));
  const isCycled = now.some(({ key }) => effectOf(key) === 'powerCycle');
  return {
    changes: [
      ...rememberRemoved(now, waits, current),
      ...(isCycled && !isAsked && !isPowerCyclePending(current) ? [{ key: rebootPowerCycle, value: 'TRUE' }] : []),
    ],
    whenOff: waits.map(({ key }) => key),
  };
}

/** A key whose removal waits stays on the list of those that drover has set: else it would never be removed. */
function rememberRemoved(
  now: readonly { key: string; value: string }[],
  waits: readonly { key: string; value: string }[],
  current: Readonly<Record<string, string>>,
): { key: string; value: string }[] {
  const removed = waits.flatMap(({ key, value }) => (value === '' ? [key] : []));
  if (removed.length === 0) return [...now];
  return now.flatMap((change) => {
    if (change.key !== managedKeys) return [change];
    const keys = [...new Set([...change.value.split(','), ...removed])].filter((key) => key !== '').toSorted();
    const value = keys.join(',');
    return value === (current[managedKeys] ?? '') ? [] : [{ key: managedKeys, value }];
  });
}
