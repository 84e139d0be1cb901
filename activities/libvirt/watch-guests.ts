import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { emptyTally, judgeGuests, takeGuestDown, takeGuestEvent, type GuestLimits } from './guest-tally.ts';
import { judgeVerified, type EventVerdict } from './judge-event.ts';
import type { Domain, DomainEvent, DomainState, LibvirtConnection } from './types.ts';
import { unless, virErrors } from './faults.ts';

export interface GuestWatchTools {
  open(signal: AbortSignal): Promise<LibvirtConnection>;
  /** Whether Nova wants that guest to run on this host, and no task is changing that. */
  shouldRun(domain: Domain, signal: AbortSignal): Promise<boolean>;
  /** Something that a person should know of, though it is not the host's trouble yet. Must not fail. */
  notice(notice: GuestNotice): void;
  limits: GuestLimits;
  /**
   * After a stop or a reboot, until it is checked whether the guest runs again: Nova takes some 15 s to write down that
   * its owner stopped it.
   */
  verifyAfterMs: number;
  clock: Clock;
  random: Random;
}

export interface GuestNotice {
  domain: Domain;
  verdict: Exclude<EventVerdict, 'none' | 'verify'>;
  /** A sentence. */
  message: string;
}

export interface GuestWatch {
  readonly isConnected: boolean;
  /** As {@link judgeGuests}. */
  judge(): string | null;
  /** Ends it; resolves when the connection is closed. Never rejects. */
  stop(): Promise<void>;
}

/** A connection that lasted this long was well: the next loss is tried again soon. */
const wellAfterMs = 60_000;
const firstDelayMs = 1_000;
const longestDelayMs = 5 * 60_000;

/**
 * Listens to the guests of one host over one connection, which is opened again when it is lost: after 1 s at first,
 * then after twice as long each time, up to 5 min. What happened while it was lost is not known, but for guests that
 * lie crashed or paused.
 */
export function startGuestWatch(tools: GuestWatchTools): GuestWatch {
  const { limits, clock } = tools;
  const stopping = new AbortController();
  const { signal } = stopping;
  const verifying = new Map<string, Promise<void>>();
  let tally = emptyTally;
  let isConnected = false;

  const verify = (connection: LibvirtConnection, domain: Domain): void => {
    if (verifying.has(domain.uuid)) return;
    const work = verifyLater(tools, connection, domain, signal)
      .then((found) => {
        if (judgeVerified(found) !== 'evict') return;
        tally = takeGuestDown(tally, domain, limits, clock.now());
        tools.notice({
          domain,
          verdict: 'evict',
          message: `${domain.name} is ${found.state ?? 'gone from libvirt'}, while Nova wants it to run`,
        });
      })
      // What could not be found out counts as nothing.
      .catch(() => undefined)
      .finally(() => verifying.delete(domain.uuid));
    verifying.set(domain.uuid, work);
  };

  const take = (connection: LibvirtConnection, event: DomainEvent): void => {
    const taken = takeGuestEvent(tally, event, limits, clock.now());
    ({ tally } = taken);
    const { verdict } = taken;
    // A watchdog or an I/O error may have left it stopped or paused, which says more than the event.
    if (verdict === 'verify' || event.type === 'watchdog' || event.type === 'io-error')
      verify(connection, event.domain);
    if (verdict !== 'none' && verdict !== 'verify')
      tools.notice({ domain: event.domain, verdict, message: sentenceOf(event) });
  };

  const listen = async (connection: LibvirtConnection): Promise<void> => {
    const events = await connection.domainEvents(signal);
    isConnected = true;
    for (const { state, ...domain } of await connection.domains(signal))
      if (lastingStates.includes(state)) verify(connection, domain);
    for await (const event of events) take(connection, event);
  };

  const run = async (): Promise<void> => {
    let losses = 0;
    while (!signal.aborted) {
      const sinceMs = clock.now();
      try {
        const connection = await tools.open(signal);
        try {
          await listen(connection);
        } finally {
          isConnected = false;
          await connection.close();
        }
      } catch {
        // Whether libvirt is silent is for the host's check to say.
      }
      losses = clock.now() - sinceMs >= wellAfterMs ? 1 : losses + 1;
      // Hundreds that were lost at once do not come back at once.
      await clock
        .sleep(Math.min(longestDelayMs, firstDelayMs * 2 ** (losses - 1)) * (0.5 + tools.random() / 2), signal)
        .catch(() => undefined);
    }
  };

  const running = run();
  return {
    get isConnected() {
      return isConnected;
    },
    judge: () => judgeGuests(tally, limits, clock.now()),
    async stop() {
      stopping.abort();
      await Promise.all([running, ...verifying.values()]);
    },
  };
}

const lastingStates: readonly DomainState[] = ['crashed', 'paused'];

/** What is asked of the daemon first: a guest that runs is no matter for Nova. */
async function verifyLater(
  { verifyAfterMs, clock, ...tools }: GuestWatchTools,
  connection: LibvirtConnection,
  domain: Domain,
  signal: AbortSignal,
): Promise<{ state: DomainState | null; shouldRun: boolean }> {
  await clock.sleep(verifyAfterMs, signal);
  const state = await unless([virErrors.noDomain], connection.domainState(domain, signal));
  if (judgeVerified({ state, shouldRun: true }) === 'none') return { state, shouldRun: true };
  return { state, shouldRun: await tools.shouldRun(domain, signal) };
}

function sentenceOf(event: DomainEvent): string {
  const { name } = event.domain;
  if (event.type === 'io-error')
    return `${name} has an I/O error on ${event.device}${event.reason === '' ? '' : ` (${event.reason})`}; QEMU’s action: ${event.action}`;
  if (event.type === 'watchdog') return `The watchdog of ${name} fired; its action: ${event.action}`;
  return event.type === 'stopped' && event.detail === 'failed' ? `${name} has lost its QEMU` : `${name} has crashed`;
}
