import { ApplicationFailure } from '@temporalio/common';
import type { Clock } from '../runtime/clock.ts';
import { droverFailure } from '../runtime/failure.ts';
import { isUnknownKind, type KubernetesFaultDetails } from '../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import type { Logger } from '../runtime/telemetry/logging.ts';
import { type BackOffLimits, backOffMs, countFailure, type FailureCount } from './back-off.ts';
import { readKubeList, type KubeObject } from './kube-object.ts';
import { createStore, type Delta, type Named, type Store } from './store.ts';
import { connectionLost, readWatchEvents } from './watch-events.ts';

export interface ReflectorSettings {
  pageSize: number;
  /** The server ends a watch after a random time between these, so that the watches of many clients spread. */
  watchSeconds: { min: number; max: number };
  /** A watch that is silent for this long is dead: bookmarks come about every minute. */
  idleMs: number;
  backOff: BackOffLimits;
  backOffResetMs: number;
}

export interface ReflectorOptions<Kept extends Named> {
  kubernetes: Kubernetes;
  /** Collection, such as `/apis/kvm.cloud.sap/v1/evictions`. */
  path: string;
  /** A collection that is not served is empty, and asked for again now and then. Default: it is a failure. */
  optional?: boolean;
  settings: ReflectorSettings;
  /** What is kept of an object. Must not throw. */
  keep: (object: KubeObject) => Kept;
  /** The keys that an object is found by, besides its uid and name. */
  keysOf?: (object: Kept) => Iterable<string>;
  /** One change. `relisted`: found by comparing a new list with the store, so events in between may be missing. */
  onDelta: (delta: Delta<Kept>, relisted: boolean) => void;
  /** The first complete list is in the store; its objects do not come as deltas. */
  onSynced: () => void;
  clock: Clock;
  /** 0 to 1: spreads watches and back-offs. */
  random: () => number;
  log: Logger;
  abort: AbortSignal;
}

/** How a reflector is, for the health page. */
export interface ReflectorState {
  synced: boolean;
  objects: number;
  lists: number;
  watches: number;
  /** RFC 3339: when the server last sent something. */
  lastContact: string | null;
  /** The last failure since then. */
  error: string | null;
}

export interface Reflector<Kept extends Named> extends Pick<Store<Kept>, 'objects' | 'get' | 'named' | 'indexed'> {
  state(): ReflectorState;
  /** Resolves once `abort` has ended it. */
  done: Promise<void>;
}

/**
 * A watch that the server ends within this time without a single event counts as a failure, or the two would go round
 * in a hot loop.
 */
const shortestWatchMs = 1_000;

/**
 * Keeps a copy of a collection: pages of a list, then a watch from there; the same again whenever the server says that
 * the watch is too old (410), and from where it was when only the connection broke. A server that was restored from a
 * backup has gone back: it takes a watch of a version that it has not reached, and is silent until it has reached it, so
 * it is asked for its version after each break. It never ends by itself. So does
 * client-go's reflector; the informer of the client library stops at an error, asks for no bookmarks, and has no pages.
 */
export function startReflector<Kept extends Named>(options: ReflectorOptions<Kept>): Reflector<Kept> {
  const { kubernetes, path, settings, clock, random, abort, log } = options;
  const store = createStore<Kept>(options.keysOf);
  const state: ReflectorState = { synced: false, objects: 0, lists: 0, watches: 0, lastContact: null, error: null };
  /** Where to watch from; null: list first. */
  let resourceVersion: string | null = null;
  /** A watch broke, or nothing came by it: before it goes on, the server says whether it knows its version. */
  let isDoubted = false;

  const received = (): void =>
    void Object.assign(state, { lastContact: new Date(clock.now()).toISOString(), error: null });
  const emit = (delta: Delta<Kept> | null, relisted: boolean): void => {
    state.objects = store.size;
    if (delta !== null) options.onDelta(delta, relisted);
  };

  /**
   * All pages of one consistent list. A token that expires between two pages fails with 410, and the next
   * try begins anew.
   */
  const readAll = async (): Promise<Kept[]> => {
    const kept: Kept[] = [];
    for (let token: string | undefined = ''; token !== undefined;) {
      const query = { limit: settings.pageSize, ...(token !== '' && { continue: token }) };
      const page = readKubeList(await kubernetes.request({ method: 'GET', path, query }, abort));
      kept.push(...page.items.map(options.keep));
      token = page.metadata.continue || undefined;
      resourceVersion = token === undefined ? page.metadata.resourceVersion : null;
    }
    return kept;
  };

  /** Null: the collection is not served. */
  const readIfServed = async (): Promise<Kept[] | null> => {
    try {
      return await readAll();
    } catch (error) {
      if (options.optional !== true || !isUnknownKind(error)) throw error;
      resourceVersion = null;
      return null;
    }
  };

  const list = async (): Promise<void> => {
    const kept = await readIfServed();
    state.lists += 1;
    received();
    isDoubted = false;
    const deltas = store.applyList(kept ?? []);
    state.objects = store.size;
    const isFirst = !state.synced;
    // Before it is told: who compares then asks which kinds have been listed.
    state.synced = true;
    if (isFirst) options.onSynced();
    else for (const delta of deltas) emit(delta, true);
    // It may be installed any time.
    if (kept === null) await clock.sleep(settings.backOff.maxMs, abort).catch(() => undefined);
  };

  /** @throws {@link wentBack} where the server has not reached that version */
  const expectReached = async (from: string): Promise<void> => {
    const { metadata } = readKubeList(await kubernetes.request({ method: 'GET', path, query: { limit: 1 } }, abort));
    received();
    isDoubted = false;
    if (isBefore(metadata.resourceVersion, from)) throw wentBack(from, metadata.resourceVersion);
  };

  const watch = async (from: string): Promise<void> => {
    const { min, max } = settings.watchSeconds;
    const query = {
      watch: true,
      resourceVersion: from,
      allowWatchBookmarks: true,
      timeoutSeconds: Math.round(min + random() * (max - min)),
    };
    const watchdog = startWatchdog(clock, settings.idleMs);
    const startedMs = clock.monotonicMs();
    let events = 0;
    try {
      const body = await kubernetes.stream({ method: 'GET', path, query }, AbortSignal.any([abort, watchdog.signal]));
      state.watches += 1;
      watchdog.feed();
      for await (const event of readWatchEvents(body, watchdog.feed)) {
        events += 1;
        received();
        const reached = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
        if (isBefore(reached, resourceVersion ?? from)) throw wentBack(resourceVersion ?? from, reached);
        resourceVersion = reached;
        if (event.type === 'BOOKMARK') continue;
        emit(store.applyEvent(event.type, options.keep(event.object)), false);
      }
    } catch (error) {
      throw watchdog.signal.aborted ? connectionLost(`the watch was silent for ${settings.idleMs / 1_000} s`) : error;
    } finally {
      watchdog.stop();
    }
    if (events === 0 && clock.monotonicMs() - startedMs < shortestWatchMs)
      throw connectionLost('the server ended the watch at once');
  };

  const run = async (): Promise<void> => {
    let count: FailureCount | null = null;
    while (!abort.aborted) {
      try {
        if (resourceVersion === null) await list();
        else if (isDoubted) await expectReached(resourceVersion);
        else await watch(resourceVersion);
      } catch (error) {
        if (abort.aborted) return;
        isDoubted ||= !mustRelist(error);
        if (mustRelist(error)) resourceVersion = null;
        count = countFailure(count, clock.monotonicMs(), settings.backOffResetMs);
        const { failures } = count;
        const waitMs = Math.max(
          backOffMs(settings.backOff, failures, random()),
          Math.min(retryAfterMsOf(error), settings.backOff.maxMs),
        );
        state.error = error instanceof Error ? error.message : String(error);
        log.warn(
          {
            path,
            failures,
            waitMs: Math.round(waitMs),
            next: resourceVersion === null ? 'list' : 'watch',
            error: state.error,
          },
          'kube-apiserver is not followed for the moment',
        );
        await clock.sleep(waitMs, abort).catch(() => undefined);
      }
    }
  };

  return {
    objects: store.objects,
    get: store.get,
    named: store.named,
    indexed: store.indexed,
    state: () => ({ ...state }),
    done: run(),
  };
}

const detailsOf = (error: unknown): Partial<KubernetesFaultDetails> =>
  (error instanceof ApplicationFailure
    ? (error.details?.[0] as Partial<KubernetesFaultDetails> | undefined)
    : undefined) ?? {};

const retryAfterMsOf = (error: unknown): number => detailsOf(error).retryAfterMs ?? 0;

/**
 * The HTTP status that a failure carries: 0 where no answer came or the connection broke, null where it is no failure
 * of a request.
 */
export function httpStatusOf(error: unknown): number | null {
  return detailsOf(error).httpStatus ?? null;
}

/**
 * A broken connection or a busy server goes on from where it was; whatever else went wrong, 410 above all, needs
 * a new list.
 */
export function mustRelist(error: unknown): boolean {
  const status = httpStatusOf(error);
  return !(status === 0 || status === 429 || status === 503);
}

/** Of versions that can be compared, as Kubernetes' own are decimal numbers. */
const isBefore = (version: string, other: string): boolean =>
  decimal.test(version) && decimal.test(other) && BigInt(version) < BigInt(other);

const decimal = /^\d{1,40}$/u;

/** The server has less history than it had: what it has is to be listed. */
const wentBack = (from: string, to: string): Error =>
  droverFailure('KubernetesUnavailable', `kube-apiserver went back from version ${from} to ${to}, as after a restore`, {
    details: { httpStatus: 410, reason: 'Expired' } satisfies KubernetesFaultDetails,
  });

/** Aborts what it guards when it is not fed for `idleMs`. */
function startWatchdog(clock: Clock, idleMs: number): { signal: AbortSignal; feed: () => void; stop: () => void } {
  const controller = new AbortController();
  let fedMs = clock.monotonicMs();
  const check = (): void => {
    const leftMs = fedMs + idleMs - clock.monotonicMs();
    if (leftMs <= 0) controller.abort();
    else stop = clock.schedule(check, leftMs);
  };
  let stop = clock.schedule(check, idleMs);
  return { signal: controller.signal, feed: () => void (fedMs = clock.monotonicMs()), stop: () => stop() };
}
