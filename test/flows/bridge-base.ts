import type { Client } from '@temporalio/client';
import type { Bridge, BridgeSettings } from '../../k8s-bridge/main.ts';
import { type BridgeTimings, defaultBridgeTimings } from '../../k8s-bridge/run-bridge.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';

/** Seconds instead of minutes, so that tests need not wait. */
export const quickTimings: BridgeTimings = {
  ...defaultBridgeTimings,
  reflector: { ...defaultBridgeTimings.reflector, backOff: { initialMs: 100, factor: 2, maxMs: 1_000, jitter: 0.2 } },
  lease: { durationMs: 3_000, renewDeadlineMs: 2_000, retryMs: 200 },
  queue: { workers: 8, backOff: { initialMs: 100, factor: 2, maxMs: 500, jitter: 0.2 }, minIntervalMs: 200 },
  deliveryTimeoutMs: 2_000,
  drainMs: 2_000,
};

/** Of a bridge, unless a test has others. */
export const quickSettings = {
  cluster: '',
  modes: { Eviction: 'act', Hypervisor: 'off', VirtualMachine: 'off', VirtualMachineSetResourcePolicy: 'off' },
  systemNamespace: 'drover-system',
  leaseName: 'drover-bridge',
  resyncMs: 3_600_000,
} as const satisfies Omit<BridgeSettings, 'healthAddress'>;

export interface BridgeOptions {
  settings?: Partial<BridgeSettings>;
  timings?: Partial<BridgeTimings>;
}

/** A bridge as tests see it, wherever it runs. `stop` may be asked twice. */
export type TestBridge = Pick<Bridge, 'stats' | 'health' | 'stop'>;

/** What a world of bridges stands on: a lab, or a simulation. No worker: what is signalled stays to be read. */
export interface BridgeBase<Started extends TestBridge, Options extends BridgeOptions> {
  client: Client;
  /** kube-apiserver, as the administrator. */
  admin: Kubernetes;
  start(options: Options): Promise<Started>;
  /** kill -9 of Temporal, and a start of it with what it has kept. */
  temporal: { kill(): Promise<void>; restart(): Promise<unknown> };
  close(): Promise<void>;
}
