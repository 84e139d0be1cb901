import { type Mode, watchAlways, type WatchSettings } from '../contracts/kinds/kind.ts';
import type { Kind } from '../contracts/kinds/table.ts';
import type { Client } from '@temporalio/client';
import { type Clock, repeat } from '../runtime/clock.ts';
import type { Health } from '../runtime/telemetry/health.ts';
import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import type { Logger } from '../runtime/telemetry/logging.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';
import { probeTemporal } from '../runtime/temporal/probe.ts';
import { wordsOf } from '../runtime/temporal/temporal.ts';
import { inTrace } from '../runtime/telemetry/tracing.ts';
import { backOffResetMs, reflectorBackOff } from './back-off.ts';
import { coalesceChanges, type Delivery } from './decide-delivery.ts';
import { deliverChange, type RoutedChange } from './deliver.ts';
import { followKinds } from './follow.ts';
import { type LeaseSettings, startLease } from './lease.ts';
import type { ReflectorSettings, ReflectorState } from './reflector.ts';
import { reportMetrics } from './report-metrics.ts';
import { catchUp, followSecrets, followTerminated } from './catch-up.ts';
import { type DrivenKind, routesFor } from './routes.ts';
import { createWorkQueue, type WorkQueueOptions, type WorkQueueStats } from './work-queue.ts';

export interface RunSettings {
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  /** A kind that is left out is off. */
  modes: Readonly<Partial<Record<Kind, Mode>>>;
  /** Namespace of the Lease. */
  systemNamespace: string;
  leaseName: string;
  /** How often objects that are not reconciled are compared with open runs. */
  resyncMs: number;
  /** Default: what is always watched. */
  watch?: WatchSettings;
}

/** What seldom needs another value, except in tests. */
export interface BridgeTimings {
  reflector: ReflectorSettings;
  lease: LeaseSettings;
  queue: Pick<WorkQueueOptions<never>, 'workers' | 'backOff'> & {
    /** Least time between two signals of one run; a kind may ask for more. */
    minIntervalMs?: number;
  };
  /** For each call of Temporal. */
  deliveryTimeoutMs: number;
  /** For each page of the list of all runs of a kind, which is read once after a start. */
  listTimeoutMs: number;
  /** How often it is asked whether Secrets are there that objects lack. */
  secretsMs: number;
  /** How often it is asked which runs were terminated. */
  terminatedMs: number;
  /** How long a stop waits for what is queued. */
  drainMs: number;
}

export const defaultBridgeTimings: BridgeTimings = {
  // Bookmarks come about every minute, so that two and a half of them missing mean a dead connection.
  reflector: {
    pageSize: 500,
    watchSeconds: { min: 300, max: 600 },
    idleMs: 150_000,
    backOff: reflectorBackOff,
    backOffResetMs,
  },
  // Shorter than client-go's 15 s: two bridges at once are harmless, and after a kill -9 nothing is signalled until the
  // Lease has run out. It takes longer limits by itself where kube-apiserver is slow.
  lease: { durationMs: 8_000, renewDeadlineMs: 6_000, retryMs: 1_500 },
  // Low, so that a Temporal that comes back is signalled soon; what it costs while it is away is bounded by the
  // workers. The distance: a run takes five signals a second for long, and ten thousand in all.
  queue: { workers: 8, backOff: { initialMs: 100, factor: 2, maxMs: 5_000, jitter: 0.5 }, minIntervalMs: 200 },
  deliveryTimeoutMs: 5_000,
  listTimeoutMs: 60_000,
  secretsMs: 10 * 60_000,
  terminatedMs: 5 * 60_000,
  drainMs: 10_000,
};

export interface RunDeps {
  kubernetes: Kubernetes;
  temporal: Client;
  /**
   * Resolves once the cluster is known to be the one of its name: nothing is signalled before. It is for the caller to
   * see it rejected.
   */
  admitted: Promise<void>;
  settings: RunSettings;
  timings: BridgeTimings;
  /** Unique to this process, as the Lease names its holder. */
  identity: string;
  clock: Clock;
  /** 0 to 1: spreads watches, back-offs and renewals. */
  random: () => number;
  log: Logger;
  metrics: Metrics;
}

export interface BridgeStats {
  queue: WorkQueueStats;
  /** How many changes went where. */
  deliveries: Record<Delivery, number>;
  reflectors: Readonly<Record<string, ReflectorState>>;
  /** How many objects have been found at a start for which nothing had changed since their last run. */
  unchanged: number;
  /** How often objects that are not reconciled were compared with open runs. */
  resyncs: number;
  /** Whether this bridge delivers. */
  leading: boolean;
}

export interface RunningBridge {
  stats(): BridgeStats;
  /** What keeps it from its work at the moment. */
  readiness(): Promise<Health>;
  /** Loops that ended though no user stopped them: only a new process helps. */
  liveness(): Health;
  /**
   * Stops watching, delivers what is queued, releases the Lease. Resolves to how many changes were left; the next start
   * finds them.
   */
  stop(): Promise<number>;
}

/**
 * Runs the bridge: it watches every routed kind, and while it holds the Lease it delivers what changed to the runs that
 * it concerns. It goes on whether or not kube-apiserver and Temporal are there.
 */
export function runBridge({
  kubernetes,
  temporal,
  admitted,
  settings,
  timings,
  identity,
  clock,
  random,
  log,
  metrics,
}: RunDeps): RunningBridge {
  const stopping = new AbortController();
  const deliveries: BridgeStats['deliveries'] = {
    signalWithStart: 0,
    signalOpen: 0,
    reportStopped: 0,
    nothing: 0,
    lookUp: 0,
  };
  let lastFailure = '';

  const queue = createWorkQueue<RoutedChange>({
    ...timings.queue,
    minIntervalMs: ({ route }) => Math.max(timings.queue.minIntervalMs ?? 0, route.row.gatherMs ?? 0),
    clock,
    random,
    deliver: async (routed, abort) => {
      const { route, seenMs } = routed;
      // It may have waited long, and drover's own writes, such as the status that makes an object reconciled, come by
      // no other way.
      const change = follower.renew(routed);
      const deps = {
        temporal,
        kubernetes,
        cluster: settings.cluster,
        digestOf: follower.digestOf,
        timeoutMs: timings.deliveryTimeoutMs,
        clock,
        log,
      };
      const deliver = (): Promise<Delivery> => deliverChange(deps, { ...routed, change }, abort);
      const delivery = await inTrace(
        `deliver ${route.resource.kind}`,
        { 'drover.object': change.facts.fullName, 'drover.causes': [...change.causes] },
        deliver,
      );
      deliveries[delivery] += 1;
      const { kind } = route.resource;
      metrics.count('bridgeDeliveries', { kind, delivery });
      if (seenMs !== null && (delivery === 'signalWithStart' || delivery === 'signalOpen'))
        metrics.observe('bridgeSignalSeconds', { kind }, (clock.monotonicMs() - seenMs) / 1_000);
    },
    coalesce: (earlier, later) => ({
      ...later,
      change: coalesceChanges(earlier.change, later.change),
      seenMs: earlier.seenMs ?? later.seenMs,
    }),
    onFailure: ({ route, change: { facts } }, error, retryInMs) => {
      const { kind } = route.resource;
      metrics.count('bridgeDeliveries', { kind, delivery: 'failed' });
      lastFailure = `${kind} ${facts.fullName}: ${wordsOf(error)}`;
      log.warn(
        {
          kind,
          object: facts.fullName,
          uid: facts.uid,
          retryInMs: Math.round(retryInMs),
          error: wordsOf(error),
        },
        'not delivered yet',
      );
    },
  });
  // Until the Lease is held.
  queue.pause();

  let resyncs = 0;
  const resync = (): void => {
    resyncs += 1;
    follower.compare('resync');
  };

  const readiness = async (): Promise<Health> => {
    const states = follower.states();
    const temporalError = await probeTemporal(temporal, clock);
    const reasons = [
      ...Object.entries(states).flatMap(([kind, state]) => (state.synced ? [] : [`${kind} has not been listed yet`])),
      ...Object.entries(states).flatMap(([kind, { error }]) =>
        error === null ? [] : [`${kind} is not followed: ${error}`],
      ),
      ...(lease.error() === null ? [] : [`the lease: ${lease.error()}`]),
      ...(!lease.held() && lease.holder() === null ? ['no bridge holds the lease yet'] : []),
      ...(temporalError === null ? [] : [temporalError]),
      ...[...comparing].map(
        ([kind, error]) =>
          `${kind} has not been compared with its last runs yet: what changed while no bridge ran has no run` +
          (error === null ? '' : `; ${error}`),
      ),
      ...(queue.stats().backingOff === 0
        ? []
        : [`${queue.stats().backingOff} changes are not delivered yet; ${lastFailure}`]),
    ];
    return {
      ok: reasons.length === 0,
      reasons,
      lease: { held: lease.held(), holder: lease.holder(), identity },
      queue: queue.stats(),
      deliveries,
      resyncs,
      kinds: states,
    };
  };

  const ended: string[] = [];
  const guard = (what: string, loop: Promise<void>): Promise<void> =>
    loop.catch((error: unknown) => {
      ended.push(`${what} has ended: ${wordsOf(error)}`);
      log.error({ error }, `${what} has ended; this is a defect`);
    });

  let unchanged = 0;
  /** The kinds that are being compared with their last runs, and what that failed with the last time. */
  const comparing = new Map<Kind, string | null>();
  /** While this bridge holds the Lease. */
  let leading = new AbortController();
  const catchUpWith = async (row: DrivenKind, abort: AbortSignal): Promise<void> => {
    const {
      listTimeoutMs,
      deliveryTimeoutMs: timeoutMs,
      secretsMs,
      terminatedMs,
      queue: { backOff },
    } = timings;
    const { cluster } = settings;
    const onFailure = (kind: Kind, error: string): void => void (comparing.has(kind) && comparing.set(kind, error));
    const calls = { temporal, kubernetes, cluster, listTimeoutMs, timeoutMs, backOff, clock, random };
    const deps = { ...calls, follower, onFailure, log };
    comparing.set(row.kind, null);
    try {
      const same = await catchUp(deps, row, abort);
      comparing.delete(row.kind);
      unchanged += same;
      await Promise.all([
        followTerminated(deps, row, terminatedMs, abort),
        ...(row.lacksSecret === undefined ? [] : [followSecrets(deps, row, secretsMs, abort)]),
      ]);
    } catch (error) {
      if (!abort.aborted) throw error;
    }
  };

  let isAdmitted = false;
  const isDelivering = (): boolean => isAdmitted && lease.held();
  /** While it holds the Lease, once it is admitted. */
  const deliver = (): void => {
    queue.resume();
    follower.compare('relist');
    leading = new AbortController();
    follower.observing.forEach((row) => void catchUpWith(row, AbortSignal.any([leading.signal, stopping.signal])));
  };

  const lease = startLease({
    kubernetes,
    namespace: settings.systemNamespace,
    name: settings.leaseName,
    identity,
    settings: timings.lease,
    onAcquired: () => {
      if (isAdmitted) deliver();
    },
    onLost: () => {
      queue.pause();
      leading.abort();
      // The bridge that leads compares.
      comparing.clear();
    },
    clock,
    random,
    log,
    abort: stopping.signal,
  });

  const { watch = watchAlways } = settings;
  const follower = followKinds({
    kubernetes,
    routes: routesFor(watch),
    modes: settings.modes,
    settings: timings.reflector,
    // One object may concern two runs.
    onChange: (routed, priority) => queue.add(keyOf(routed), routed, priority),
    clock,
    random,
    log,
    abort: stopping.signal,
  });
  void admitted.then(
    () => {
      isAdmitted = true;
      if (lease.held() && !stopping.signal.aborted) deliver();
    },
    () => undefined,
  );
  const loops = [guard('the lease', lease.done), ...follower.loops.map(({ what, done }) => guard(what, done))];

  reportMetrics(metrics, {
    kinds: () => follower.kinds(),
    queue: () => queue.stats(),
    leading: isDelivering,
    now: () => clock.now(),
  });

  const stopResync = repeat(clock, resync, settings.resyncMs);
  log.info({ identity, kinds: Object.keys(follower.states()) }, 'the bridge runs');

  const shutDown = async (): Promise<number> => {
    stopResync();
    // The Lease goes with the watch: the next holder delivers what this bridge does not deliver any more.
    const left = queue.drain(timings.drainMs);
    stopping.abort();
    await Promise.all([left, ...loops]);
    log.info({ left: await left }, 'the bridge has stopped');
    return left;
  };
  let stopped: Promise<number> | null = null;

  return {
    readiness,
    liveness: () => ({ ok: ended.length === 0, reasons: ended }),
    stats: () => ({
      queue: queue.stats(),
      deliveries: { ...deliveries },
      reflectors: follower.states(),
      resyncs,
      unchanged,
      leading: isDelivering(),
    }),
    stop: () => (stopped ??= shutDown()),
  };
}

/** What is delivered one after the other: the changes of an object, or of all that share a run. */
const keyOf = ({ route: { row }, change: { facts } }: RoutedChange): string =>
  `${row.kind} ${row.shared === true ? facts.subject : facts.uid}`;
