import { unseenChange } from '../../../contracts/messages.ts';
import { failureCode } from '../../../runtime/failure.ts';
import { isError } from '../../../runtime/is-error.ts';
import { redactedStart } from '../../../runtime/redaction.ts';
import type { KnownVms } from './known-vms.ts';
import type { NewsQueue, Telling } from './signal-queue.ts';
import type { WatchTools } from './tools.ts';

interface Teller extends Pick<WatchTools, 'vcenter' | 'tell' | 'stopGate' | 'meter' | 'scope' | 'clock'> {
  signal: AbortSignal;
  queue: NewsQueue;
  vms: KnownVms;
  onTold: () => void;
}

/** Signals that are on their way at once. */
const mostAtOnce = 8;
/** After a signal that failed, and while drover is stopped. */
const againMs = 1_000;

/** Tells runs what is due, until the signal is aborted. What cannot be told now is told later. Never rejects. */
export async function tellRuns(teller: Teller): Promise<void> {
  const { queue, signal, clock, scope } = teller;
  const underWay = new Set<Promise<void>>();
  const warned = { of: '' };
  while (!signal.aborted) {
    const taken = underWay.size >= mostAtOnce ? { againMs: null } : queue.take(clock.now());
    if ('next' in taken) {
      const work: Promise<void> = tellOne(teller, taken.next, (words) => {
        // The same trouble again and again is one line.
        if (warned.of !== words) scope.warn(words);
        warned.of = words;
      }).finally(() => underWay.delete(work));
      underWay.add(work);
      continue;
    }
    await untilWorthwhile(teller, taken.againMs, underWay);
  }
  await Promise.all(underWay);
}

/** Until the time is there, there are other news, or a signal has arrived. */
async function untilWorthwhile(
  { queue, clock, signal }: Teller,
  waitMs: number | null,
  underWay: ReadonlySet<Promise<void>>,
): Promise<void> {
  const rest = new AbortController();
  const stop = AbortSignal.any([signal, rest.signal]);
  await Promise.race([clock.sleep(waitMs ?? longestWaitMs, stop).catch(() => undefined), queue.changed(), ...underWay]);
  rest.abort();
}

const longestWaitMs = 60_000;

async function tellOne(
  { vcenter, tell, stopGate, meter, signal, queue, vms, clock, onTold }: Teller,
  telling: Telling,
  warn: (words: string) => void,
): Promise<void> {
  const { owner, vmIds, causes, sinceMs, isKnown } = telling;
  // What is told is what was known when it was told: what comes meanwhile is told anew.
  const seen = vmIds.map((vmId) => [vmId, vms.seenOf(vmId)] as const);
  const [only, ...others] = seen;
  try {
    if (isKnown) {
      meter.spared(vcenter);
    } else {
      await stopGate(signal);
      const state = others.length === 0 ? (only?.[1] ?? null) : null;
      await tell(owner, {
        ...unseenChange(`vcenter: ${causes.join(', ')}`),
        uid: owner.uid,
        ...(state !== null && { seen: state }),
      });
      meter.told(vcenter, (clock.now() - sinceMs) / 1_000);
      onTold();
    }
    for (const [vmId, state] of seen) vms.told(vmId, state);
  } catch (error) {
    queue.putBack(telling, clock.now() + againMs);
    if (!signal.aborted)
      warn(
        failureCode(error) === 'Stopped'
          ? `drover is stopped: ${vcenter} is watched, and nobody told`
          : `Runs cannot be told of changes in vCenter ${vcenter}: ${redactedStart(isError(error) ? error.message : String(error), 600)}`,
      );
  }
}
