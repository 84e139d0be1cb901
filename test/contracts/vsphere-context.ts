import { createHash } from 'node:crypto';
import { format } from 'node:util';

import { createVirtualMachineVsphereActivities } from '../../activities/vsphere/activities.ts';
import type { Vim } from '../../activities/vsphere/client.ts';
import { openGateway } from '../../activities/vsphere/gateway.ts';
import type { DatastoreHttp } from '../../activities/vsphere/datastore-http.ts';
import type { VcenterRest } from '../../activities/vsphere/rest/client.ts';
import type { VcenterGateway } from '../../activities/vsphere/types.ts';
import { openRecentObservations, type RecentObservations } from '../../activities/vsphere/watch/recent-observations.ts';
import type { ReadBackup } from '../../contracts/virtual-machine/backup.ts';
import type { ReadBootstrap } from '../../contracts/virtual-machine/bootstrap.ts';
import type {
  MutationRequest,
  SubmittedPower,
  SubmittedTask,
  ObservationRequest,
  VirtualMachineVsphereActivities,
  VmSubject,
} from '../../contracts/virtual-machine/activities.ts';
import type { ObservedVm } from '../../contracts/virtual-machine/observation.ts';
import type { CreateSpec, PowerOperation } from '../../contracts/virtual-machine/mutations.ts';
import type { RecordedRequest, VcenterControl } from '../../lab/vsphere/control.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import type { DescribedVm, VcenterWitness } from '../../lab/vsphere/witness.ts';
import type { AuditEntry } from '../../runtime/telemetry/audit.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { VcenterPlaces } from '../../runtime/config/vsphere-config.ts';
import type { VcenterSettings } from '../../runtime/config/vsphere-settings.ts';

export const never = new AbortController().signal;

/** A vCenter that drover's adapter is tested on: the lab's, or the simulator's model of one. */
export interface VsphereCounterpart {
  clock: Clock;
  witness: VcenterWitness;
  control: VcenterControl;
  settings: VcenterSettings;
  openVim(settings: VcenterSettings): Vim;
  openRest(settings: VcenterSettings): VcenterRest;
  openDatastoreHttp(settings: VcenterSettings, vim: Vim): DatastoreHttp;
  /** Does what takes the counterpart's time. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** One vCenter of a suite's own, with a namespace `team-a` in it, and drover's activities on it. */
export interface VsphereContext extends Pick<VsphereCounterpart, 'clock' | 'witness' | 'control'> {
  audit: AuditEntry[];
  /** What Kubernetes says; a test replaces it. */
  kubernetes: { bootstrap: ReadBootstrap; backup: ReadBackup };
  settings(change?: Partial<VcenterSettings>): VcenterSettings;
  /** A client that is closed with the context. */
  connect(change?: Partial<VcenterSettings>): Vim;
  gateway(change?: Partial<VcenterSettings>): VcenterGateway;
  /** Of a client of its own. */
  datastoreHttp: DatastoreHttp;
  /** That of all activities here. */
  rest: VcenterRest;
  activities(
    gateway: VcenterGateway,
    signal?: AbortSignal,
    deadlineMs?: number,
    recent?: RecentObservations,
    /** Of an attempt after the first one. */
    waitedMs?: number,
  ): VirtualMachineVsphereActivities;
  /** Of the namespace and of what it makes VMs from. */
  ids: { datacenter: string; folder: string; pool: string; datastore: string; template: string };
  /** A VM that is to be made by cloning, with an object of that name as owner. */
  newVm(name: string, change?: Partial<CreateSpec>): NewVm;
  /** What a run asks about the VM of that object. */
  observationRequest(name: string, change?: Partial<ObservationRequest>): ObservationRequest;
  requests(method: string): Promise<RecordedRequest[]>;
  close(): Promise<void>;
}

export type NewVm = MutationRequest & { create: CreateSpec };

/** The namespace of all VMs that are made here. */
export const namespace = 'team-a';
export const vmFolder = `${inventory.vmFolder}/${namespace}`;
export const vmPool = `${inventory.resourcePool}/${namespace}`;

const places: VcenterPlaces = {
  zones: {
    'zone-a': { folder: `${inventory.vmFolder}/{namespace}`, resourcePool: `${inventory.resourcePool}/{namespace}` },
  },
  storagePolicies: {
    'profile-1': { datastores: [...inventory.datastores], encrypted: false },
    'profile-local': { datastores: [inventory.datastores[0]], encrypted: false },
  },
  networks: { backend: `/${inventory.datacenter}/network/DC0_DVPG0` },
};
const budget = { calls: 8, callsPerSecond: 1_000, tasks: 32 };

export async function openVsphereContext(counterpart: VsphereCounterpart): Promise<VsphereContext> {
  const { clock, witness, control } = counterpart;
  const open: { close(): Promise<void> }[] = [];
  const audit: AuditEntry[] = [];
  const missing = (): Promise<never> => Promise.reject(new Error('the test says nothing of what Kubernetes has'));
  const kubernetes: VsphereContext['kubernetes'] = { bootstrap: missing, backup: missing };
  const settings = (change: Partial<VcenterSettings> = {}): VcenterSettings => ({
    ...counterpart.settings,
    name: 'lab',
    budget,
    places,
    ...change,
  });
  const connect = (change?: Partial<VcenterSettings>): Vim => {
    const vim = counterpart.openVim(settings(change));
    open.push(vim);
    return vim;
  };
  const rest = counterpart.openRest(settings());
  open.push(rest);
  const datastoreHttp = counterpart.openDatastoreHttp(settings(), connect());
  open.push(datastoreHttp);
  await witness.createFolder(vmFolder);
  await witness.createPool(vmPool);
  const ids = {
    datacenter: await witness.idOf(`/${inventory.datacenter}`),
    folder: await witness.idOf(vmFolder),
    pool: await witness.idOf(vmPool),
    datastore: await witness.idOf(inventory.datastores[0]),
    template: await witness.idOf(inventory.template),
  };
  return {
    clock,
    witness,
    control,
    audit,
    kubernetes,
    settings,
    connect,
    rest,
    datastoreHttp,
    gateway: (change = {}) => openGateway(connect(change), settings(change).budget, clock),
    activities: (gateway, signal = never, deadlineMs = Infinity, recent = openRecentObservations(), waitedMs = 0) =>
      createVirtualMachineVsphereActivities({
        gateway,
        rest,
        places,
        readBootstrap: (...asked) => kubernetes.bootstrap(...asked),
        readBackup: (...asked) => kubernetes.backup(...asked),
        recent,
        stopGate: () => Promise.resolve(),
        audit: { record: (entry) => Promise.resolve(void audit.push(entry)) },
        clock,
        scope: () => ({
          signal,
          deadlineMs,
          heartbeatDetails: undefined,
          run: null,
          heartbeat: () => undefined,
          scheduledMs: 0,
          waitedMs,
          warn: () => undefined,
        }),
      }),
    ids,
    newVm: (name, change = {}) => ({
      owner: { namespacedName: `${namespace}/${name}`, uid: uidOf(name) },
      cause: 'the test',
      create: {
        name,
        instanceUuid: uidOf(name),
        uuid: uidOf(name),
        source: { kind: 'template', moId: ids.template },
        at: {
          zone: 'zone-a',
          datacenter: ids.datacenter,
          folder: ids.folder,
          resourcePool: ids.pool,
          datastore: ids.datastore,
          host: null,
          cpuMHz: 2_000,
        },
        bootDiskBytes: null,
        config: {},
        classConfigSpec: {},
        ...change,
      },
    }),
    observationRequest: (name, change = {}) => ({
      object: { namespace, name, uid: uidOf(name) },
      vmName: name,
      mayBeMade: true,
      uniqueId: null,
      recordedUuid: null,
      isBeingMade: false,
      instanceUuid: null,
      madeDisks: [],
      chosenDatastore: null,
      cachedOn: [],
      zone: null,
      folder: null,
      resourcePool: null,
      modules: {},
      profileId: 'profile-1',
      networks: [],
      isos: {},
      guestInfo: [],
      extraConfigKeys: [],
      ...change,
    }),
    requests: async (method) => (await control.requests()).filter((request) => request.method === method),
    close: async () => {
      await Promise.all(open.map((one) => one.close()));
    },
  };
}

/** Declares the tests of a suite on a context of its own, in the counterpart's time. */
export interface ContractSuite {
  /** This and the next two are filled before the first test. */
  context: VsphereContext;
  gateway: VcenterGateway;
  activities: VirtualMachineVsphereActivities;
  /** The VM of the object of that name, by its owner. */
  find: (name: string) => Promise<string | null>;
  /** Asks for it and waits for it. */
  power: (subject: VmSubject, operation: PowerOperation) => Promise<void>;
  test: (name: string, body: () => Promise<void>) => void;
  /** One test for each row; its first value stands in the name: `%s`. */
  each: <Row extends readonly unknown[]>(
    rows: readonly Row[],
  ) => (name: string, body: (...row: Row) => Promise<void>) => void;
  beforeAll: (body: () => Promise<void>) => void;
}

/** The first run on a machine builds the lab's vCenter. */
const startTimeoutMs = 15 * 60_000;

/** @param prepare what all tests of the suite need */
export function openSuite(
  open: () => Promise<VsphereCounterpart>,
  prepare: (context: VsphereContext) => Promise<void> = async () => undefined,
): ContractSuite {
  let counterpart: VsphereCounterpart | undefined;
  const context = {} as VsphereContext;
  const gateway = {} as VcenterGateway;
  const activities = {} as VirtualMachineVsphereActivities;
  const run = (work: () => Promise<void>): Promise<void> => {
    if (counterpart === undefined) throw new Error('the vCenter did not start');
    return counterpart.run(work);
  };
  beforeAll(async () => {
    counterpart = await open();
    Object.assign(context, await openVsphereContext(counterpart));
    Object.assign(gateway, context.gateway());
    Object.assign(activities, context.activities(gateway));
    await run(() => prepare(context));
  }, startTimeoutMs);
  afterAll(async () => {
    await context.close?.();
    await counterpart?.close();
  });
  beforeEach(async () => {
    await context.control.reset();
    context.audit.splice(0);
  });
  return {
    context,
    gateway,
    activities,
    find: async (name) =>
      (await activities.observeVirtualMachineInVcenter(context.observationRequest(name))).vm?.moId ?? null,
    power: async (subject, operation) => settle(activities, await activities.submitPower({ ...subject, operation })),
    test: (name, body) => test(name, () => run(body)),
    each: (rows) => (name, body) => rows.forEach((row) => test(format(name, row[0]), () => run(() => body(...row)))),
    beforeAll: (body) => beforeAll(() => run(body)),
  };
}

/** The same for the same name, in the form of a UUID. */
export const uidOf = (name: string): string =>
  createHash('sha256')
    .update(name)
    .digest('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/u, '$1-$2-4$3-8$4-$5');

export const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no failure',
    (error: unknown) => error,
  );

/** Makes it and waits for it. */
export async function makeVm(activities: VirtualMachineVsphereActivities, vm: NewVm): Promise<VmSubject> {
  const submitted = await activities.submitNewVm(vm);
  const vmId =
    'vmId' in submitted
      ? submitted.vmId
      : 'taskId' in submitted
        ? ((await activities.awaitTask(submitted)).vmId ?? '')
        : '';
  return { vmId, owner: vm.owner, cause: vm.cause };
}

/** Of a submission that does not observe the VM afterwards. */
export function taskOf(submitted: SubmittedPower): SubmittedTask {
  if (submitted === null || !('taskId' in submitted)) throw new Error('there is no task');
  return submitted;
}

/** Waits where there is something to wait for. */
export const settle = async (activities: VirtualMachineVsphereActivities, submitted: SubmittedPower): Promise<void> =>
  void (submitted !== null && 'taskId' in submitted && (await activities.awaitTask(submitted)));

/** The observation of the VM of the object of that name. */
export async function observedVmOf(
  context: VsphereContext,
  activities: VirtualMachineVsphereActivities,
  name: string,
  change: Partial<ObservationRequest> = {},
): Promise<ObservedVm> {
  const { vm, candidates } = await activities.observeVirtualMachineInVcenter(context.observationRequest(name, change));
  if (vm === null) throw new Error(`no VM of ${name} among ${JSON.stringify(candidates)}`);
  return vm;
}

/** The same, of one that vCenter reports completely. */
export async function configOf(
  context: VsphereContext,
  activities: VirtualMachineVsphereActivities,
  name: string,
  change: Partial<ObservationRequest> = {},
): Promise<NonNullable<ObservedVm['config']>> {
  const { config } = await observedVmOf(context, activities, name, change);
  if (config === null) throw new Error(`no configuration of ${name}`);
  return config;
}

/** The VMs of that name in the folder of the namespace and below it, as another client sees them. */
export async function describeVms({ witness }: VsphereContext, name: string): Promise<DescribedVm[]> {
  const paths = (await witness.find('vm', inventory.vmFolder)).filter((path) => path.endsWith(`/${name}`));
  const found = await Promise.all(paths.map((path) => witness.describeVm(path)));
  return found.filter((vm) => vm !== null);
}
