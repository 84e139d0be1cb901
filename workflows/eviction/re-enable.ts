import type { DesiredEviction } from '../../contracts/eviction/eviction.ts';

/** What happens to the compute service once the host is empty. */
export type ReEnable =
  | { how: 'leave' }
  | { how: 'now' }
  /** After a rolling update: only when the Node came back with a new boot id and Ready. */
  | { how: 'afterReboot' };

/**
 * By cause, unless the Eviction says otherwise; text in `spec.reason` selects nothing. Source: seed 001 "Eviction Reasons"; design
 * section 5, step 7.
 */
export function planReEnable({ cause, reEnable }: Pick<DesiredEviction, 'cause' | 'reEnable'>): ReEnable {
  if (reEnable === false) return { how: 'leave' };
  if (cause === 'rolling-update') return { how: 'afterReboot' };
  if (reEnable === true) return { how: 'now' };
  return { how: 'leave' };
}
