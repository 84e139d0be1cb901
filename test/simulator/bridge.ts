import type { Client } from '@temporalio/client';

import type { BridgeStats, BridgeTimings, RunningBridge, RunSettings } from '../../k8s-bridge/run-bridge.ts';
import { defaultBridgeTimings, runBridge } from '../../k8s-bridge/run-bridge.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Health } from '../../runtime/telemetry/health.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import type { Logger } from '../../runtime/telemetry/logging.ts';
import type { Metrics } from '../../runtime/telemetry/metrics.ts';
import { uuidFrom } from '../fakes/uuid.ts';
import type { Process } from './process.ts';
import { endProcess, runIn, startProcess } from './process.ts';

export interface SimulatedBridgeOptions {
  clock: Clock;
  random: () => number;
  kubernetes: Kubernetes;
  temporal: Client;
  /** Read at each start. */
  settings: () => Pick<RunSettings, 'modes'> & Partial<RunSettings>;
  timings?: Partial<BridgeTimings>;
  log: Logger;
}

/** The bridge as one simulated process after the other, on the real code of the bridge. */
export interface SimulatedBridge {
  /** Null: none runs. */
  readonly process: Process | null;
  /** A new process; two at once compete for the Lease. */
  start(): void;
  /** kill -9 of the newest process: its Lease is free when it has run out. */
  kill(): void;
  /** SIGTERM of the newest process. Resolves to how many changes were left. */
  stop(): Promise<number>;
  /** Of the newest process. */
  stats(): BridgeStats | null;
  /** What it says on /readyz. */
  health(): Promise<Health | null>;
}

const silentMetrics: Metrics = {
  count: () => undefined,
  observe: () => undefined,
  replace: () => undefined,
  beforePage: () => undefined,
  page: async () => '',
};

export function createSimulatedBridge({
  clock,
  random,
  kubernetes,
  temporal,
  settings,
  timings,
  log,
}: SimulatedBridgeOptions): SimulatedBridge {
  let current: { process: Process; bridge: RunningBridge } | null = null;
  return {
    get process() {
      return current?.process ?? null;
    },
    start() {
      const process = startProcess('bridge');
      const bridge = runIn(process, () =>
        runBridge({
          kubernetes,
          temporal,
          admitted: Promise.resolve(),
          settings: {
            cluster: '',
            systemNamespace: 'drover-system',
            leaseName: 'drover-bridge',
            resyncMs: 60_000,
            ...settings(),
          },
          timings: { ...defaultBridgeTimings, ...timings },
          identity: `bridge_${uuidFrom(random)}`,
          clock,
          random,
          log,
          metrics: silentMetrics,
        }),
      );
      current = { process, bridge };
    },
    kill() {
      if (current !== null) endProcess(current.process);
      current = null;
    },
    async stop() {
      const stopping = current;
      current = null;
      if (stopping === null) return 0;
      const left = await runIn(stopping.process, () => stopping.bridge.stop());
      endProcess(stopping.process);
      return left;
    },
    stats: () => current?.bridge.stats() ?? null,
    async health() {
      if (current === null) return null;
      const { process, bridge } = current;
      return await runIn(process, () => bridge.readiness());
    },
  };
}
