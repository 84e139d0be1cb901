import type { DesiredEviction, EvictionSettings } from '../../contracts/eviction.ts';
import type { HostObservation, Instance } from '../../contracts/instance.ts';
import type { EvictionState, TrackedInstance } from './state.ts';
import { beginEviction, takeIn } from './state.ts';

/** An eviction of `node-1` for the table tests: in the middle of its work, with nothing on the host. */

export const settings: EvictionSettings = {
  region: 'RegionOne',
  cluster: '',
  perSource: 1,
  perTarget: 2,
  maxAttempts: 3,
  retryDelayMs: 10,
  stuck: { msPerGiB: 150_000, floorMs: 300_000, noProgressMs: 150_000, startMs: 600_000 },
  poll: { minMs: 250, maxMs: 2_000 },
  instanceBusyMs: 300_000,
  busyElsewhereMs: 30_000,
  targetBusyMs: 600_000,
  emptyRecheckMs: 10_000,
  emptyDeadlineMs: 600_000,
  publishMinMs: 2_000,
  publishMaxMs: 30_000,
  allowanceRenewMs: 60_000,
  cancelGraceMs: 1_800_000,
  nodeReturnMs: 7_200_000,
  lingerMs: 2_000,
};

export const desired: DesiredEviction = {
  name: 'node-1',
  uid: 'u1',
  generation: 1,
  hypervisor: 'node-1',
  reason: 'kernel update',
  cause: 'admin',
  deadline: null,
  reEnable: null,
  parallelism: null,
  acceptedObstacles: [],
  consent: [],
  mode: 'act',
  startedBy: null,
  deleting: false,
};

export const server = (id: string, over: Partial<Instance> = {}): Instance => ({
  id,
  name: `vm-${id}`,
  status: 'ACTIVE',
  taskState: null,
  vmState: 'active',
  host: 'node-1',
  locked: false,
  memoryMiB: 512,
  vcpus: 1,
  localDiskGiB: 0,
  serverGroups: [],
  fault: null,
  ...over,
});

export const emptyHost: HostObservation = {
  host: 'node-1',
  hypervisorHostname: 'node-1.example.org',
  hypervisorId: 'h1',
  serviceId: 's1',
  service: {
    status: 'disabled',
    disabledReason: 'drover: eviction node-1: kernel update',
    state: 'up',
    forcedDown: false,
  },
  instances: [],
  migrations: [],
  unconfirmedResizes: [],
  allocations: [],
  schedulingDisabled: true,
};

export const hostWith = (...instances: Instance[]): HostObservation => ({
  ...emptyHost,
  instances,
  allocations: instances.map(({ id }) => id),
});

/** Looked at `host` at time `nowMs`, with the whole allowance. */
export function evictionOf(host: HostObservation, nowMs = 1_000): EvictionState {
  const state = beginEviction(structuredClone(desired), structuredClone(settings), null, 0);
  state.allowance = { allowance: 8, limit: 8, consumers: 1, sequence: 1 };
  state.phase = 'Moving';
  takeIn(state, structuredClone(host), nowMs);
  return state;
}

export function theOnly(state: EvictionState): TrackedInstance {
  const [one] = Object.values(state.instances);
  if (one === undefined) throw new Error('no server');
  return one;
}
