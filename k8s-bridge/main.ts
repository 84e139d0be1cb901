import type { Config } from '../runtime/config/config-schema.ts';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client } from '@temporalio/client';
import { systemClock } from '../runtime/clock.ts';
import { type Health, serveHealth } from '../runtime/telemetry/health.ts';
import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import type { Logger } from '../runtime/telemetry/logging.ts';
import { awaitClaim } from '../runtime/temporal/claim.ts';
import { createMetrics, type Metrics } from '../runtime/telemetry/metrics.ts';
import { readVersion } from '../runtime/version.ts';
import {
  type BridgeStats,
  type BridgeTimings,
  defaultBridgeTimings,
  runBridge,
  type RunSettings,
} from './run-bridge.ts';

export interface BridgeSettings extends RunSettings {
  /** host:port of the health pages. */
  healthAddress: string;
}

export interface BridgeDeps {
  /** Closed by the caller, after {@link Bridge.stop}. */
  kubernetes: Kubernetes;
  /** Opened lazily, so that the bridge starts while Temporal is away. Closed by the caller. */
  temporal: Client;
  settings: BridgeSettings;
  timings?: BridgeTimings;
  log: Logger;
  /** Default: of its own. */
  metrics?: Metrics;
}

export interface Bridge {
  /** `http://host:port` of `/healthz`, `/readyz` and `/metrics`. */
  healthUrl: string;
  stats(): BridgeStats;
  health(): Promise<Health>;
  /**
   * Stops watching, delivers what is queued, releases the Lease. Resolves to how many changes were left; the next start
   * finds them.
   */
  stop(): Promise<number>;
  /** Rejects when the cluster's name belongs to another; else it never ends. */
  done: Promise<void>;
}

/**
 * Starts the bridge with its health pages, by the machine's clock.
 *
 * @throws InvalidConfiguration when the health address cannot be had
 */
export async function startBridge({
  kubernetes,
  temporal,
  settings,
  timings = defaultBridgeTimings,
  log,
  metrics = createMetrics('bridge', readVersion()),
}: BridgeDeps): Promise<Bridge> {
  const stopping = new AbortController();
  let waitsFor: string | null = null;
  const readiness = async (): Promise<Health> => {
    const health = await bridge.readiness();
    return waitsFor === null ? health : { ...health, ok: false, reasons: [waitsFor, ...health.reasons] };
  };
  const server = await serveHealth({
    address: settings.healthAddress,
    setting: 'bridge.healthAddress',
    pages: { '/healthz': () => bridge.liveness(), '/readyz': readiness },
    metrics,
  });
  log.info({ health: server.url }, 'the health pages are served');
  const identity = `${hostname()}_${randomUUID()}`;
  const admitted = awaitClaim(
    {
      temporal,
      kubernetes,
      clock: systemClock,
      logger: log,
      abort: stopping.signal,
      onWait: (why) => void (waitsFor = why),
    },
    { cluster: settings.cluster, region: null },
  );
  const bridge = runBridge({
    kubernetes,
    temporal,
    admitted,
    settings,
    timings,
    identity,
    clock: systemClock,
    random: Math.random,
    log,
    metrics,
  });

  const { promise: done, reject } = Promise.withResolvers<void>();
  admitted.catch((error: unknown) => {
    if (!stopping.signal.aborted) reject(error);
  });
  const shutDown = async (): Promise<number> => {
    stopping.abort();
    const left = await bridge.stop();
    await server.close();
    return left;
  };
  let stopped: Promise<number> | null = null;

  return {
    healthUrl: server.url,
    health: readiness,
    done,
    stats: () => bridge.stats(),
    stop: () => (stopped ??= shutDown()),
  };
}

/** What of drover's settings the bridge goes by. */
export const runSettings = ({
  cluster,
  modes,
  kubernetes: { systemNamespace },
  bridge: { leaseName, resyncMs },
  hypervisor: { copiedLabels },
  virtualMachine: { fastDeploy, groups },
}: Config): Required<RunSettings> => ({
  cluster,
  modes,
  systemNamespace,
  leaseName,
  resyncMs,
  watch: { copiedLabels, imageCacheNamespace: fastDeploy === null ? null : systemNamespace, groups },
});
