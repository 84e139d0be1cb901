import { judgeEvent, type EventVerdict } from './judge-event.ts';
import type { Domain, DomainEvent } from './types.ts';

export interface GuestLimits {
  /** Events within this time are one trouble. */
  windowMs: number;
  /** From so many I/O errors of a guest on, they are persistent. */
  ioErrors: number;
  /** So many guests must fail at once for it to be their host's trouble. */
  failingGuests: number;
}

/** A watchdog restarts its guest by itself: what its device is set to. Once is the guest's trouble. */
const restarts = 1;
/** So often may a guest crash that is started again each time. */
const crashes = 1;

interface Trouble {
  name: string;
  /** It crashed, or stopped unasked, and has not been started since; since when. */
  downSinceMs: number | null;
  crashesMs: number[];
  watchdogsMs: number[];
  ioErrorsMs: number[];
}

/** What has happened to the guests of one host within the window, by UUID. */
export type GuestTally = ReadonlyMap<string, Readonly<Trouble>>;

export const emptyTally: GuestTally = new Map();

const calm = (name: string): Trouble => ({ name, downSinceMs: null, crashesMs: [], watchdogsMs: [], ioErrorsMs: [] });

/** Takes an event in, and says what it asks for. Pure. */
export function takeGuestEvent(
  tally: GuestTally,
  event: DomainEvent,
  limits: GuestLimits,
  nowMs: number,
): { tally: GuestTally; verdict: EventVerdict } {
  const kept = prune(tally, limits, nowMs);
  const { uuid, name } = event.domain;
  const before = kept.get(uuid) ?? calm(name);
  const verdict = judgeEvent(
    event,
    { watchdogs: before.watchdogsMs.length, ioErrors: before.ioErrorsMs.length },
    { restarts, ioErrors: limits.ioErrors },
  );
  if (event.type === 'stopped' && event.detail === 'migrated') return { tally: without(kept, uuid), verdict };
  const after = verdict === 'evict' ? down(before, nowMs) : follow(before, event, nowMs);
  return { tally: isCalm(after) ? without(kept, uuid) : new Map(kept).set(uuid, after), verdict };
}

/** Takes in that a guest does not run although Nova wants it to. Pure. */
export function takeGuestDown(
  tally: GuestTally,
  { uuid, name }: Domain,
  limits: GuestLimits,
  nowMs: number,
): GuestTally {
  const kept = prune(tally, limits, nowMs);
  return new Map(kept).set(uuid, down(kept.get(uuid) ?? calm(name), nowMs));
}

/** libvirt sends several events for one crash; while the guest is down it is the same one. */
const down = (trouble: Trouble, nowMs: number): Trouble =>
  trouble.downSinceMs === null ? { ...trouble, downSinceMs: nowMs, crashesMs: [...trouble.crashesMs, nowMs] } : trouble;

function follow(trouble: Trouble, event: DomainEvent, nowMs: number): Trouble {
  if (event.type === 'watchdog') return { ...trouble, watchdogsMs: [...trouble.watchdogsMs, nowMs] };
  if (event.type === 'io-error') return { ...trouble, ioErrorsMs: [...trouble.ioErrorsMs, nowMs] };
  // Started again, or taken away: what is not there does not have to run.
  return event.type === 'started' || event.type === 'resumed' || event.type === 'undefined'
    ? { ...trouble, downSinceMs: null }
    : trouble;
}

/** Without what is older than the window. */
function prune(tally: GuestTally, { windowMs }: GuestLimits, nowMs: number): Map<string, Trouble> {
  const fresh = (times: readonly number[]): number[] => times.filter((ms) => nowMs - ms < windowMs);
  const kept = [...tally].map(
    ([uuid, { name, downSinceMs, crashesMs, watchdogsMs, ioErrorsMs }]): [string, Trouble] => [
      uuid,
      {
        name,
        downSinceMs: downSinceMs !== null && nowMs - downSinceMs < windowMs ? downSinceMs : null,
        crashesMs: fresh(crashesMs),
        watchdogsMs: fresh(watchdogsMs),
        ioErrorsMs: fresh(ioErrorsMs),
      },
    ],
  );
  return new Map(kept.filter(([, trouble]) => !isCalm(trouble)));
}

const isCalm = ({ downSinceMs, crashesMs, watchdogsMs, ioErrorsMs }: Trouble): boolean =>
  downSinceMs === null && crashesMs.length + watchdogsMs.length + ioErrorsMs.length === 0;

function without(tally: ReadonlyMap<string, Trouble>, uuid: string): Map<string, Trouble> {
  const others = new Map(tally);
  others.delete(uuid);
  return others;
}

const mostNamed = 5;

/**
 * What is wrong with the host, in a sentence; null while too few guests fail for it to be the host's trouble: a guest
 * may crash by its own fault, and its owner may let it crash as often as they like. Pure.
 */
export function judgeGuests(tally: GuestTally, limits: GuestLimits, nowMs: number): string | null {
  const failing = [...prune(tally, limits, nowMs).values()].flatMap((trouble) => {
    const why = whyFailing(trouble, limits);
    return why === null ? [] : [`${trouble.name} (${why})`];
  });
  if (failing.length < limits.failingGuests) return null;
  const more = failing.length > mostNamed ? ` and ${failing.length - mostNamed} more` : '';
  return `${failing.length} guests failed within ${Math.round(limits.windowMs / 60_000)} min: ${failing.slice(0, mostNamed).join(', ')}${more}`;
}

function whyFailing({ downSinceMs, crashesMs, watchdogsMs, ioErrorsMs }: Trouble, limits: GuestLimits): string | null {
  if (downSinceMs !== null) return 'stopped unasked, and does not run';
  if (crashesMs.length > crashes) return `crashed ${crashesMs.length} times`;
  if (watchdogsMs.length > restarts) return `its watchdog fired ${watchdogsMs.length} times`;
  return ioErrorsMs.length >= limits.ioErrors ? `${ioErrorsMs.length} I/O errors` : null;
}
