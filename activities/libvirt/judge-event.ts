import type { DomainEvent, DomainState } from './types.ts';

/**
 * What an event of libvirt's asks for on a host that should be well.
 *
 * - `none`: it is ordinary.
 * - `verify`: ask Nova and libvirt what the domain is now, then {@link judgeVerified}.
 * - `restart`: reboot the instance in place.
 * - `notify`: say so, and go on watching.
 * - `migrate`: move the instance to another host.
 * - `evict`: the host is to be emptied.
 */
export type EventVerdict = 'none' | 'verify' | 'restart' | 'notify' | 'migrate' | 'evict';

/** Of the same domain, within the time in which events count as one trouble. */
export interface EarlierEvents {
  watchdogs: number;
  ioErrors: number;
}

export interface EventLimits {
  /** So many restarts in place; the next watchdog migrates. */
  restarts: number;
  /** From so many I/O errors on, they are persistent. */
  ioErrors: number;
}

/** Pure. libvirt reports an ordered stop as it does any other; only Nova knows who ordered it. */
export function judgeEvent(event: DomainEvent, earlier: EarlierEvents, limits: EventLimits): EventVerdict {
  switch (event.type) {
    case 'crashed':
      return 'evict';
    case 'stopped':
      return stopVerdicts[event.detail];
    case 'rebooted':
      return 'verify';
    case 'watchdog':
      return judgeWatchdog(earlier, limits);
    case 'io-error':
      return judgeIoError(earlier, limits);
    case 'suspended':
      // libvirt says so besides the watchdog's and the I/O error's own events, which are judged.
      return event.detail === 'post-copy-failed' ? 'verify' : 'none';
    case 'defined':
    case 'undefined':
    case 'started':
    case 'resumed':
    case 'shutting-down':
    case 'suspended-by-guest':
    case 'unknown':
      return 'none';
  }
}

const stopVerdicts = {
  failed: 'evict',
  crashed: 'evict',
  shutdown: 'verify',
  destroyed: 'verify',
  migrated: 'none',
  saved: 'none',
  'from-snapshot': 'none',
  unknown: 'verify',
} as const satisfies Record<string, EventVerdict>;

const judgeWatchdog = ({ watchdogs }: EarlierEvents, { restarts }: EventLimits): EventVerdict =>
  watchdogs < restarts ? 'restart' : 'migrate';
const judgeIoError = ({ ioErrors }: EarlierEvents, limits: EventLimits): EventVerdict =>
  ioErrors + 1 < limits.ioErrors ? 'notify' : 'migrate';

/** What was found of a domain whose event asked to `verify`. */
export interface VerifiedDomain {
  /** null: libvirt does not know it any more. */
  state: DomainState | null;
  /** Nova wants it to run on this host: it is ACTIVE there, and no task is changing that. */
  shouldRun: boolean;
}

const runningStates: readonly (DomainState | null)[] = ['running', 'blocked'];

/** Pure. */
export const judgeVerified = ({ state, shouldRun }: VerifiedDomain): EventVerdict =>
  shouldRun && !runningStates.includes(state) ? 'evict' : 'none';
