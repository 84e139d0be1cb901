import { noVolumes } from '../../invariants/read-volumes.ts';
import type { Condition } from '../../../contracts/conditions.ts';
import type { Eviction } from '../../../contracts/crds/eviction.ts';
import type { Hypervisor } from '../../../contracts/crds/hypervisor.ts';
import type { Migration } from '../../../contracts/crds/migration.ts';
import type { VirtualMachineClass } from '../../../contracts/crds/virtual-machine-class.ts';
import type { VirtualMachineSetResourcePolicy } from '../../../contracts/crds/virtual-machine-set-resource-policy.ts';
import type { VirtualMachine } from '../../../contracts/crds/virtual-machine.ts';
import type { ApiCall } from '../../../lab/openstack/journal.ts';
import type {
  AuditLine,
  DroverObject,
  OwnedVm,
  MigrationFact,
  ObservedRun,
  Snapshot,
  WatchEvent,
} from '../../invariants/snapshot.ts';
import { violations } from '../../invariants/violations.ts';

/**
 * A world in which every invariant holds, and what it is made of. Each invariant can fail, and says of what and why: a
 * row per way.
 */

export const created = '2026-01-31T12:00:00Z';
export const t0 = Date.parse(created);
interface EvictionParts {
  finalizers?: string[];
  generation?: number;
  outstanding?: string[];
  annotations?: Record<string, string>;
  metadata?: object;
  /** Of `Evicting`. */
  condition?: Partial<Condition>;
}
export const eviction = (
  reason: string,
  { condition = {}, metadata = {}, outstanding = [], ...more }: EvictionParts = {},
): Eviction =>
  ({
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Eviction',
    metadata: {
      name: 'node-1',
      uid: 'u1',
      generation: 1,
      resourceVersion: '7',
      creationTimestamp: created,
      finalizers: [],
      ...more,
      ...metadata,
    },
    spec: { hypervisor: 'node-1', reason: 'test' },
    status: {
      outstandingInstances: outstanding,
      conditions: [
        {
          type: 'Evicting',
          status: 'False',
          reason,
          message: 'x',
          lastTransitionTime: created,
          observedGeneration: 1,
          ...condition,
        },
      ],
    },
  }) as unknown as Eviction;
export const running = (more: EvictionParts = {}): Eviction =>
  eviction('Running', { ...more, condition: { status: 'True', ...more.condition } });
export const watchEvent = (object: DroverObject, type: WatchEvent['type'] = 'MODIFIED', afterMs = 0): WatchEvent => ({
  atMs: t0 + afterMs,
  type,
  object,
});
export const run = (more: Partial<ObservedRun> = {}): ObservedRun => ({
  workflowId: 'eviction/node-1',
  runId: 'r1',
  type: 'evictHypervisor',
  status: 'COMPLETED',
  startedAtMs: t0,
  closedAtMs: t0 + 10_000,
  input: { hypervisor: 'node-1' },
  events: 100,
  activities: { openEviction: 1, ensureServiceDisabled: 1 },
  children: 2,
  messages: 1,
  failures: 0,
  retries: 0,
  conduct: [],
  safety: [],
  ...more,
});
export const moveRun = (more: Partial<ObservedRun> = {}): ObservedRun =>
  run({
    workflowId: 'migration/s1',
    runId: 'r2',
    type: 'migrateInstance',
    input: { instance: { id: 's1' } },
    events: 30,
    activities: { startLiveMigration: 1 },
    children: 0,
    ...more,
  });
export const policyRun = (more: Partial<ObservedRun> = {}): ObservedRun =>
  run({
    workflowId: 'resource-policy/team/apart',
    type: 'reconcileSetResourcePolicy',
    input: { namespace: 'team', name: 'apart' },
    children: 0,
    ...more,
  });
export const move = (more: Partial<MigrationFact> = {}): MigrationFact => ({
  atMs: t0 + 5_000,
  id: 1,
  instanceId: 's1',
  type: 'live-migration',
  status: 'completed',
  sourceHost: 'node-1',
  targetHost: 'node-2',
  ...more,
});
export const serviceCall = (more: Partial<ApiCall> = {}): ApiCall => ({
  timeMs: t0 + 800,
  durationMs: 200,
  method: 'PUT',
  path: '/v2.1/os-services/1',
  query: '',
  action: 'disabled',
  status: 200,
  requestId: 'req-1',
  userAgent: 'drover',
  ...more,
});
const audited = (more: Partial<AuditLine>): AuditLine => ({
  time: created,
  actor: 'jane',
  cause: 'x',
  action: 'x',
  object: 'x',
  before: null,
  after: null,
  run: null,
  requestId: null,
  ...more,
});
export const disabled = audited({
  action: 'ensureServiceDisabled',
  object: 'compute-service/node-1',
  after: { disabledReason: 'drover: eviction node-1: test' },
});
export const forced = (
  forcedDown: boolean,
  cause = 'incident node-3/x: person, jane at 2026-01-31T12:00:00Z',
): AuditLine => audited({ action: 'ensureForcedDown', object: 'compute-service/node-3', cause, after: { forcedDown } });
/** The request had no answer. */
export const unanswered = (forcedDown: boolean): AuditLine => ({
  ...forced(forcedDown),
  after: { asked: { forcedDown }, failed: 'no answer' },
});
export const evacuated = audited({
  action: 'startEvacuation',
  object: 'server/s3',
  cause: 'incident node-3/x',
  before: { host: 'node-3' },
});
export const migration = (uid: string | null): Migration =>
  ({
    kind: 'Migration',
    metadata: {
      name: 's1',
      uid: 'm1',
      labels: uid === null ? {} : { 'drover.dev/eviction-uid': uid },
      managedFields: [{ manager: 'drover' }],
    },
  }) as unknown as Migration;
/** Of so many CPUs, and as many GiB. */
export const vmClass = (name: string, cpus: number, generation = 1): VirtualMachineClass =>
  ({
    kind: 'VirtualMachineClass',
    metadata: { namespace: 'team', name, uid: `class-${name}`, generation },
    spec: { hardware: { cpus, memory: `${cpus}Gi` } },
  }) as unknown as VirtualMachineClass;
/** The annotation of which class was applied. */
export const applied = (name: string, generation = 1): Record<string, string> => ({
  'vmoperator.vmware.com/last-resized-vm-class': JSON.stringify({
    Name: name,
    UID: `class-${name}`,
    Generation: generation,
  }),
});
export const virtualMachine = (
  more: {
    finalizers?: string[];
    observedGeneration?: number;
    annotations?: Record<string, string>;
    spec?: object;
    /** Of `VirtualMachineComputeConfigSynced`. */
    waitsFor?: string;
  } = {},
): VirtualMachine =>
  ({
    kind: 'VirtualMachine',
    metadata: {
      namespace: 'team',
      name: 'web',
      uid: 'v1',
      generation: 2,
      resourceVersion: '8',
      finalizers: more.finalizers ?? ['vmoperator.vmware.com/virtualmachine'],
      annotations: more.annotations ?? applied('small'),
    },
    spec: {
      className: 'small',
      powerState: 'PoweredOn',
      advanced: { extraConfig: [{ key: 'colour', value: 'blue' }] },
      ...more.spec,
    },
    status: {
      conditions: [
        {
          type: 'Lifecycle',
          status: 'True',
          reason: 'Reconciled',
          message: '',
          lastTransitionTime: created,
          observedGeneration: more.observedGeneration ?? 2,
        },
        {
          type: 'VirtualMachineComputeConfigSynced',
          status: more.waitsFor === undefined ? 'True' : 'False',
          reason: more.waitsFor ?? 'True',
          message: '',
          lastTransitionTime: created,
          observedGeneration: more.observedGeneration ?? 2,
        },
      ],
    },
  }) as unknown as VirtualMachine;
export const hypervisor = (
  reason: string,
  more: { status?: Condition['status']; generation?: number; message?: string } = {},
): Hypervisor =>
  ({
    kind: 'Hypervisor',
    metadata: { name: 'node-4', uid: 'h4', generation: more.generation ?? 1, resourceVersion: '9' },
    spec: {},
    status: {
      conditions: [
        {
          type: 'Lifecycle',
          status: more.status ?? 'True',
          reason,
          message: more.message ?? 'x',
          lastTransitionTime: created,
          observedGeneration: 1,
        },
      ],
    },
  }) as unknown as Hypervisor;
export const policy = (
  made: number | null,
  modules: readonly string[] = ['module-1'],
): VirtualMachineSetResourcePolicy =>
  ({
    kind: 'VirtualMachineSetResourcePolicy',
    metadata: {
      namespace: 'team',
      name: 'apart',
      uid: 'p1',
      generation: 2,
      resourceVersion: '10',
      annotations: made === null ? {} : { 'drover.dev/policy-made': String(made) },
    },
    spec: {},
    status: { clustermodules: modules.map((moduleUUID) => ({ clusterMoID: 'c1', groupName: 'web', moduleUUID })) },
  }) as unknown as VirtualMachineSetResourcePolicy;
export const vm = (more: Partial<OwnedVm> = {}): OwnedVm => ({
  id: 'vm-61',
  name: 'web',
  powerState: 'poweredOn',
  cpus: 1,
  memoryMiB: 1_024,
  namespacedName: 'team/web',
  uid: 'v1',
  extraConfig: { colour: 'blue' },
  ...more,
});
export const good: Snapshot = {
  atMs: t0 + 20_000,
  hosts: null,
  isQuiet: true,
  waitingEventsPerSecond: 8,
  runs: [run(), moveRun()],
  objects: [eviction('Succeeded'), migration('u1'), virtualMachine(), hypervisor('Active'), policy(2)],
  watchEvents: [
    watchEvent(running({ outstanding: ['s1'] }), 'ADDED'),
    watchEvent(eviction('Succeeded')),
    watchEvent(virtualMachine()),
    watchEvent(policy(1)),
    watchEvent(policy(2)),
  ],
  vmClasses: [vmClass('small', 1), vmClass('large', 2)],
  machines: [],
  agents: [],
  agentPools: [],
  agentVms: [],
  ...noVolumes,
  expectedServers: [{ id: 's1', name: 'vm-1', host: 'node-1', status: 'ACTIVE' }],
  servers: [{ id: 's1', name: 'vm-1', status: 'ACTIVE', taskState: null, host: 'node-2' }],
  guests: { 'node-1': 0, 'node-2': 1 },
  services: [
    { id: '1', host: 'node-1', status: 'disabled', disabledReason: 'drover: eviction node-1: test' },
    { id: '2', host: 'node-2', status: 'enabled', disabledReason: null },
  ],
  allocations: { 'node-1': [] },
  migrationEvents: [move({ status: 'running', atMs: t0 + 4_000 }), move()],
  novaCalls: [serviceCall()],
  power: {},
  vms: [vm()],
  vmsMade: [{ id: 'vm-61', uid: 'v1', madeAtMs: t0, goneAtMs: null }],
  clusterModules: [{ id: 'module-1', members: 1 }],
  strangers: [{ what: 'VM team/theirs', before: 'as it was', after: 'as it was' }],
  modes: { Eviction: 'act', Hypervisor: 'act', VirtualMachine: 'act', VirtualMachineSetResourcePolicy: 'act' },
  migrationsPerRegion: 1,
  sweepGates: { frozen: true, renamedAreKept: true },
  audit: [disabled, forced(true), evacuated],
  ownChanges: [],
  secrets: [{ name: 'password', value: 'correct-horse' }],
  texts: [{ where: 'worker.log', text: 'nothing to see' }],
};
/** The good world with another object in the place of the one of its kind, or without it. */
export const objects = (...changed: DroverObject[]): Pick<Snapshot, 'objects'> => ({
  objects: [...good.objects.filter(({ kind }) => !changed.some((object) => object.kind === kind)), ...changed],
});
export const without = (kind: DroverObject['kind']): Pick<Snapshot, 'objects'> => ({
  objects: good.objects.filter((object) => object.kind !== kind),
});
export const andThen = (...events: WatchEvent[]): Pick<Snapshot, 'watchEvents'> => ({
  watchEvents: [...good.watchEvents, ...events],
});

/** Each change of the good world is one violation. */
export function breaks(rows: readonly (readonly [what: string, change: Partial<Snapshot>, violation: RegExp])[]): void {
  test('a world in order violates nothing', () => expect(violations(good)).toEqual([]));
  test.each(rows)('%s is a violation', (_, change, violation) => {
    expect(violations({ ...good, ...change })).toEqual([expect.stringMatching(violation)]);
  });
}
