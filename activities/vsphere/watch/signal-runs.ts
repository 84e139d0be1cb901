import { unseenChange } from '../../../contracts/messages.ts';
import { failureCode } from '../../../runtime/failure.ts';
import { isError } from '../../../runtime/is-error.ts';
import { redactedStart } from '../../../runtime/redaction.ts';
import type { KnownVms } from './known-vms.ts';
import type { SignalQueue, PendingSignal } from './signal-queue.ts';
import type { WatchTools } from './tools.ts';

interface Signaller extends Pick<WatchTools, 'vcenter' | 'signalRun' | 'stopGate' | 'meter' | 'scope' | 'clock'> {
  signal: AbortSignal;
  queue: SignalQueue;
  vms: KnownVms;
  onSignalled: () => void;
}

/** Signals that are on their way at once. */
const mostAtOnce = 8;
/** After a signal that failed, and while drover is stopped. */
const againMs = 1_000;

/** Signals runs what is due, until aborted. A signal that fails is sent later. Never rejects. */
export async function signalRuns(signaller: Signaller): Promise<void> {
  const { queue, signal, clock, scope } = signaller;
  const underWay = new Set<Promise<void>>();
  const warned = { of: '' };
  while (!signal.aborted) {
    const taken = underWay.size >= mostAtOnce ? { againMs: null } : queue.take(clock.now());
    if ('next' in taken) {
      const work: Promise<void> = signalOne(signaller, taken.next, (words) => {
        // A repeated failure is logged once.
        if (warned.of !== words) scope.warn(words);
        warned.of = words;
      }).finally(() => underWay.delete(work));
      underWay.add(work);
      continue;
    }
    await untilWorthwhile(signaller, taken.againMs, underWay);
  }
  await Promise.all(underWay);
}

/** Until the time is reached, a change is added, or a signal is delivered. */
async function untilWorthwhile(
  { queue, clock, signal }: Signaller,
  waitMs: number | null,
  underWay: ReadonlySet<Promise<void>>,
): Promise<void> {
  const rest = new AbortController();
  const stop = AbortSignal.any([signal, rest.signal]);
  await Promise.race([clock.sleep(waitMs ?? longestWaitMs, stop).catch(() => undefined), queue.changed(), ...underWay]);
  rest.abort();
}

const longestWaitMs = 60_000;

async function signalOne(
  { vcenter, signalRun, stopGate, meter, signal, queue, vms, clock, onSignalled }: Signaller,
  pending: PendingSignal,
  warn: (words: string) => void,
): Promise<void> {
  const { owner, vmIds, causes, sinceMs, isObserved } = pending;
  // The states at the time of the signal: what changes meanwhile is signalled again.
  const digests = vmIds.map((vmId) => [vmId, vms.digestOf(vmId)] as const);
  const [only, ...others] = digests;
  try {
    if (isObserved) {
      meter.skipped(vcenter);
    } else {
      await stopGate(signal);
      const state = others.length === 0 ? (only?.[1] ?? null) : null;
      await signalRun(owner, {
        ...unseenChange(`vcenter: ${causes.join(', ')}`),
        uid: owner.uid,
        ...(state !== null && { stateDigest: state }),
      });
      meter.signalled(vcenter, (clock.now() - sinceMs) / 1_000);
      onSignalled();
    }
    for (const [vmId, state] of digests) vms.signalled(vmId, state);
  } catch (error) {
    queue.putBack(pending, clock.now() + againMs);
    if (!signal.aborted)
      warn(
        failureCode(error) === 'Stopped'
          ? `drover is stopped: ${vcenter} is watched, and no run is signalled`
          : `Runs cannot be signalled about changes in vCenter ${vcenter}: ${redactedStart(isError(error) ? error.message : String(error), 600)}`,
      );
  }
}
