import type { ObjectVersion, Resource } from '../../../runtime/kubernetes/objects.ts';
import { unlessAborted } from '../../../runtime/unless-aborted.ts';
import { notYet, type Poll, waitFor } from '../../lib/wait.ts';
import type { VolumeTools } from './dependencies.ts';

const firstDelayMs = 100;
/** What is watched is looked at again only for what its watch does not tell: what Events say of it. */
const firstWatchedDelayMs = 1_000;
/** Changes come in bursts, and a watch may end at once. */
const leastDelayMs = 100;
const longestDelayMs = 2_000;
const growth = 1.5;
/** So long the first attempt of a patient wait holds its place: most of what is awaited comes by then. */
const heldMs = 10_000;
/** Between its attempts. */
const patientPollMs = 5_000;

export interface Awaiting<Fact> {
  /** From when the activity was asked for, or from now; where they have passed, what was seen last counts. */
  patienceMs: number;
  /** What is waited for, where the policy is `patientWait`; left out: the attempt waits to the end. */
  patientFor?: string | undefined;
  look: () => Promise<Fact>;
  isOver: (fact: Fact) => boolean;
  /** The object whose next version may be what is awaited; null: not there yet. */
  watched?: (fact: Fact) => WatchedObject | null;
}

interface WatchedObject {
  resource: Resource;
  version: ObjectVersion;
}

/**
 * Looks until it is over, and heartbeats meanwhile. An attempt of a patient wait ends sooner, so that those who wait for
 * hours leave their places to others.
 *
 * @returns what was seen last
 */
export async function awaitFact<Fact>(
  { scope, clock, client }: Pick<VolumeTools, 'scope' | 'clock' | 'client'>,
  { patienceMs, patientFor, look, isOver, watched = () => null }: Awaiting<Fact>,
): Promise<Fact> {
  const isPatient = patientFor !== undefined;
  const patientUntilMs = clock.now() + patienceMs - (isPatient ? scope.waitedMs : 0);
  const mostHeldMs = isPatient ? (scope.waitedMs > 0 ? 0 : heldMs) : Infinity;
  const untilMs = Math.min(patientUntilMs, clock.now() + mostHeldMs, scope.deadlineMs);
  let delayMs = firstDelayMs;
  const watch = keepWatch(client, scope.signal);
  const wait = waitFor<Fact>({
    scope,
    clock,
    observe: async (): Promise<Poll<Fact>> => {
      const fact = await look();
      const leftMs = untilMs - clock.now();
      if (isOver(fact) || leftMs <= 0) return { done: fact };
      const object = watched(fact);
      if (object !== null) delayMs = Math.max(delayMs, firstWatchedDelayMs);
      const againMs = Math.min(delayMs, leftMs);
      delayMs = Math.min(delayMs * growth, longestDelayMs);
      if (object === null) return { againMs };
      const changed = async (signal: AbortSignal): Promise<void> => {
        const pause = clock.sleep(Math.min(leastDelayMs, againMs), signal);
        await Promise.all([watch.untilChanged(object, signal), pause]);
      };
      return { againMs, changed };
    },
  });
  const fact = await wait.finally(() => watch.close());
  const leftMs = patientUntilMs - clock.now();
  if (!isPatient || leftMs <= 0 || isOver(fact)) return fact;
  throw notYet({ waitingFor: patientFor, againMs: Math.min(patientPollMs, leftMs) });
}

/** One watch for as long as its object is waited for: each costs kube-apiserver a connection. */
function keepWatch(client: VolumeTools['client'], signal: AbortSignal) {
  let open: {
    of: string;
    changes: AsyncIterator<void>;
    next: Promise<IteratorResult<void>>;
    leave: AbortController;
  } | null = null;
  const close = (): void => {
    open?.leave.abort();
    open = null;
  };
  const begin = ({ resource, version }: WatchedObject, of: string) => {
    const leave = new AbortController();
    const changes = client.changes(resource, version, AbortSignal.any([signal, leave.signal]))[Symbol.asyncIterator]();
    return { of, changes, next: nextOf(changes), leave };
  };
  return {
    close,
    /** Also once the watch has ended. What has changed since it was asked last counts. */
    async untilChanged(object: WatchedObject, until: AbortSignal): Promise<void> {
      const of = `${object.resource.plural} ${object.version.namespace}/${object.version.name}`;
      if (open?.of !== of) close();
      const current = (open ??= begin(object, of));
      const { done } = await unlessAborted(current.next, until).catch((error: unknown) => {
        if (!until.aborted) close();
        throw error;
      });
      if (done === true) close();
      else current.next = nextOf(current.changes);
    },
  };
}

/** It may fail while nothing waits for it. */
function nextOf(changes: AsyncIterator<void>): Promise<IteratorResult<void>> {
  const next = changes.next();
  next.catch(() => undefined);
  return next;
}
