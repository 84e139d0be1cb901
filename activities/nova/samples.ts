import type { Migration } from '../../contracts/instance.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ActivityScope } from './scope.ts';
import type { ComputeServiceRecord, Hypervisor, InstanceDetail } from './types.ts';

/** Plain records for tests, in which only what a test is about differs. */

export const instanceDetail = (change: Partial<InstanceDetail> = {}): InstanceDetail => ({
  id: 'a0000000-0000-4000-8000-000000000001',
  name: 'vm-1',
  status: 'ACTIVE',
  taskState: null,
  vmState: 'active',
  host: 'node-1',
  hypervisorHostname: 'node-1',
  locked: false,
  memoryMiB: 512,
  vcpus: 1,
  localDiskGiB: 1,
  serverGroups: [],
  fault: null,
  projectId: 'project',
  userId: 'user',
  availabilityZone: 'nova',
  pinnedAvailabilityZone: null,
  flavorName: 'tiny',
  extraSpecs: {},
  imageId: 'image',
  imageProperties: {},
  trustedImageCertificates: [],
  metadata: {},
  rootDiskGiB: 1,
  ephemeralDiskGiB: 0,
  swapMiB: 0,
  volumeIds: [],
  onlyVolumes: false,
  configDrive: false,
  createdAt: '2026-01-01T00:00:00Z',
  ...change,
});

export const migrationRecord = (change: Partial<Migration> = {}): Migration => ({
  id: 1,
  instanceId: 'a0000000-0000-4000-8000-000000000001',
  type: 'live-migration',
  status: 'running',
  sourceHost: 'node-1',
  targetHost: 'node-2',
  memoryTotalBytes: null,
  memoryRemainingBytes: null,
  diskTotalBytes: null,
  diskRemainingBytes: null,
  createdAt: '2026-01-01T00:00:00Z',
  ...change,
});

export const computeService = (change: Partial<ComputeServiceRecord> = {}): ComputeServiceRecord => {
  const host = change.host ?? 'node-1';
  return {
    id: `service-${host}`,
    host,
    zone: 'nova',
    cellDown: false,
    status: 'enabled',
    disabledReason: null,
    state: 'up',
    forcedDown: false,
    ...change,
  };
};

export const hypervisor = (change: Partial<Hypervisor> = {}): Hypervisor => {
  const serviceHost = change.serviceHost ?? 'node-1';
  return {
    id: `hypervisor-${serviceHost}`,
    hypervisorHostname: serviceHost,
    serviceHost,
    serviceId: `service-${serviceHost}`,
    state: 'up',
    status: 'enabled',
    hypervisorType: 'QEMU',
    hypervisorVersion: 9_002_000,
    ...change,
  };
};

/** A client that answers what the test says and nothing else. */
export const stubClient = <Client extends object>(methods: Partial<Client>): Client =>
  new Proxy(methods, {
    get(known, name) {
      if (name in known) return Reflect.get(known, name);
      throw new Error(`unexpected call of ${String(name)}`);
    },
  }) as Client;

/** A clock that only sleeping moves: what is scheduled happens when a sleep passes its moment. */
export function testClock(): Clock {
  let nowMs = 1_000_000;
  const scheduled = new Set<{ atMs: number; action: () => void }>();
  const pass = (ms: number): void => {
    const untilMs = nowMs + ms;
    for (;;) {
      const next = [...scheduled].filter(({ atMs }) => atMs <= untilMs).toSorted((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      scheduled.delete(next);
      nowMs = next.atMs;
      next.action();
    }
    nowMs = untilMs;
  };
  return {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      pass(ms);
      // Lets what else is going on go on.
      await new Promise((resolve) => setImmediate(resolve));
    },
    schedule(action, delayMs) {
      const entry = { atMs: nowMs + delayMs, action };
      scheduled.add(entry);
      return () => void scheduled.delete(entry);
    },
  };
}

/** An activity that nobody cancels. */
export const testScope = (change: Partial<ActivityScope> = {}): ActivityScope => ({
  signal: new AbortController().signal,
  deadlineMs: Number.MAX_SAFE_INTEGER,
  heartbeatDetails: undefined,
  run: null,
  heartbeat: () => {},
  ...change,
});
