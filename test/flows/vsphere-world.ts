import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createVirtualMachineVsphereActivities } from '../../activities/vsphere/activities.ts';
import { openVcenter, type ClientOptions, type Vim } from '../../activities/vsphere/client.ts';
import { openGateway } from '../../activities/vsphere/gateway.ts';
import { openRest, type VcenterRest } from '../../activities/vsphere/rest/client.ts';
import type { VcenterGateway } from '../../activities/vsphere/types.ts';
import type { ReadBackup } from '../../contracts/virtual-machine-backup.ts';
import type { ReadBootstrap } from '../../contracts/virtual-machine-bootstrap.ts';
import { openRecentLooks, type RecentLooks } from '../../activities/vsphere/watch/recent-looks.ts';
import type { OwnerOfVm, Submission, SubmittedTask, VirtualMachineLook, VirtualMachineVsphereActivities, VmSubject } from '../../contracts/virtual-machine-activities.ts';
import type { VmFacts } from '../../contracts/virtual-machine-observation.ts';
import type { CreateSpec } from '../../contracts/virtual-machine-plan.ts';
import { startLab, type Lab } from '../../lab/lab.ts';
import { connectVcenterControl, type RecordedRequest, type VcenterControl } from '../../lab/vsphere/control.ts';
import { govc, govcJson } from '../../lab/vsphere/govc.ts';
import { inventory, type VsphereHandle } from '../../lab/vsphere/handle.ts';
import type { AuditEntry } from '../../runtime/audit.ts';
import type { VcenterPlaces } from '../../runtime/vsphere-config.ts';
import type { VcenterSettings } from '../../runtime/vsphere-settings.ts';

export const never = new AbortController().signal;

/** The first run on a machine builds the simulator. */
export const startTimeoutMs = 15 * 60_000;

/** One vCenter of a test file's own. */
export interface VsphereWorld {
  handle: VsphereHandle;
  control: VcenterControl;
  audit: AuditEntry[];
  /** What Kubernetes says; a test replaces it. */
  kubernetes: { bootstrap: ReadBootstrap; backup: ReadBackup };
  settings(change?: Partial<VcenterSettings>): VcenterSettings;
  /** A client that is closed with the world. */
  connect(change?: Partial<VcenterSettings>, options?: ClientOptions): Vim;
  gateway(change?: Partial<VcenterSettings>, options?: ClientOptions): VcenterGateway;
  /** That of all activities here. */
  rest: VcenterRest;
  activities(gateway: VcenterGateway, signal?: AbortSignal, deadlineMs?: number, looks?: RecentLooks): VirtualMachineVsphereActivities;
  /** Of namespace `team-a` and of what it makes VMs from. */
  ids: { datacenter: string; folder: string; pool: string; datastore: string; template: string };
  /** A VM that is to be made by cloning, with the mark of an object of that name. */
  newVm(name: string, change?: Partial<CreateSpec>): NewVm;
  /** What a run asks about the VM of that object. */
  look(name: string, change?: Partial<VirtualMachineLook>): VirtualMachineLook;
  requests(method: string): Promise<RecordedRequest[]>;
  close(): Promise<void>;
}

export type NewVm = OwnerOfVm & { create: CreateSpec };

/** The namespace of all VMs that are made here. */
export const namespace = 'team-a';

const places: VcenterPlaces = {
  zones: { 'zone-a': { folder: `${inventory.vmFolder}/{namespace}`, resourcePool: `${inventory.resourcePool}/{namespace}` } },
  storagePolicies: { 'profile-1': { datastores: [...inventory.datastores], encrypted: false } },
  networks: { backend: `/${inventory.datacenter}/network/DC0_DVPG0` },
};

export async function openVsphereWorld(): Promise<VsphereWorld> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-vsphere-')));
  const lab: Lab<'vsphere'> = await startLab({ dir: join(root, 'lab'), parts: ['vsphere'] });
  const handle = lab.handles.vsphere;
  const control = connectVcenterControl(handle);
  const open: { close(): Promise<void> }[] = [];
  const audit: AuditEntry[] = [];
  const nobody = (): Promise<never> => Promise.reject(new Error('nobody said what Kubernetes has'));
  const kubernetes: VsphereWorld['kubernetes'] = { bootstrap: nobody, backup: nobody };
  const settings = (change: Partial<VcenterSettings> = {}): VcenterSettings => ({
    name: 'lab',
    url: handle.url,
    credential: () => Promise.resolve({ username: handle.username, password: readFileSync(handle.passwordFile, 'utf8') }),
    ca: readFileSync(handle.caFile, 'utf8'),
    thumbprint: null,
    budget: { calls: 8, callsPerSecond: 1_000, tasks: 32 },
    places,
    ...change,
  });
  const connect = (change?: Partial<VcenterSettings>, options?: ClientOptions): Vim => {
    const vim = openVcenter(settings(change), options);
    open.push(vim);
    return vim;
  };
  const rest = openRest(settings());
  open.push(rest);
  const first = openGateway(connect(), { tasks: 32 });
  await govc(handle, 'folder.create', `${inventory.vmFolder}/${namespace}`);
  await govc(handle, 'pool.create', `${inventory.resourcePool}/${namespace}`);
  const idOf = async (path: string): Promise<string> => (await first.findByPath(path, never))?.value ?? Promise.reject(new Error(`no ${path}`));
  const ids = {
    datacenter: await idOf(`/${inventory.datacenter}`),
    folder: await idOf(`${inventory.vmFolder}/${namespace}`),
    pool: await idOf(`${inventory.resourcePool}/${namespace}`),
    datastore: await idOf(inventory.datastores[0]),
    template: await idOf(inventory.template),
  };
  return {
    handle,
    control,
    audit,
    kubernetes,
    settings,
    connect,
    rest,
    gateway: (change = {}, options) => openGateway(connect(change, options), settings(change).budget),
    activities: (gateway, signal = never, deadlineMs = Infinity, looks = openRecentLooks()) =>
      createVirtualMachineVsphereActivities({
        gateway,
        rest,
        places,
        readBootstrap: (...asked) => kubernetes.bootstrap(...asked),
        readBackup: (...asked) => kubernetes.backup(...asked),
        looks,
        stopGate: () => Promise.resolve(),
        audit: { record: (entry) => Promise.resolve(void audit.push(entry)) },
        scope: () => ({ signal, deadlineMs, heartbeatDetails: undefined, run: null, heartbeat: () => undefined }),
      }),
    ids,
    newVm: (name, change = {}) => ({
      mark: { namespacedName: `${namespace}/${name}`, uid: uidOf(name) },
      cause: 'the test',
      create: {
        name,
        instanceUuid: uidOf(name),
        uuid: uidOf(name),
        source: { from: 'template', moId: ids.template },
        at: { zone: 'zone-a', datacenter: ids.datacenter, folder: ids.folder, resourcePool: ids.pool, datastore: ids.datastore, host: null, cpuMHz: 2_000 },
        bootDiskBytes: null,
        config: {},
        classConfigSpec: {},
        ...change,
      },
    }),
    look: (name, change = {}) => ({
      object: { namespace, name, uid: uidOf(name) },
      vmName: name,
      mayBeMade: true,
      uniqueId: null,
      instanceUuid: null,
      zone: null,
      folder: null,
      resourcePool: null,
      modules: {},
      profileId: 'profile-1',
      networks: [],
      isos: {},
      extraConfigKeys: [],
      ...change,
    }),
    requests: async (method) => (await control.requests()).filter((request) => request.method === method),
    close: async () => {
      await Promise.all(open.map((one) => one.close()));
      await lab.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** The same for the same name, in the form of a UUID. */
export const uidOf = (name: string): string => createHash('sha256').update(name).digest('hex').replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/u, '$1-$2-4$3-8$4-$5');

/** Makes it and waits for it. */
export async function makeVm(activities: VirtualMachineVsphereActivities, vm: NewVm): Promise<VmSubject> {
  const submitted = await activities.submitNewVm(vm);
  const vmId = 'vmId' in submitted ? submitted.vmId : 'taskId' in submitted ? ((await activities.awaitTask(submitted)).vmId ?? '') : '';
  return { vmId, mark: vm.mark, cause: vm.cause };
}

/** Of who did not ask to look. */
export function taskOf(submitted: Submission): SubmittedTask {
  if (submitted === null || !('taskId' in submitted)) throw new Error('there is no task');
  return submitted;
}

/** Waits where there is something to wait for. */
export const settle = async (activities: VirtualMachineVsphereActivities, submitted: Submission): Promise<void> => void (submitted !== null && 'taskId' in submitted && (await activities.awaitTask(submitted)));

/** The facts of the VM of the object of that name. */
export async function factsOf(world: VsphereWorld, activities: VirtualMachineVsphereActivities, name: string, change: Partial<VirtualMachineLook> = {}): Promise<VmFacts> {
  const { vm, candidates } = await activities.lookAtVirtualMachine(world.look(name, change));
  if (vm === null) throw new Error(`no VM of ${name} among ${JSON.stringify(candidates)}`);
  return vm;
}

/** The same, of one that vCenter tells all of. */
export async function configOf(world: VsphereWorld, activities: VirtualMachineVsphereActivities, name: string, change: Partial<VirtualMachineLook> = {}): Promise<NonNullable<VmFacts['config']>> {
  const { config } = await factsOf(world, activities, name, change);
  if (config === null) throw new Error(`no configuration of ${name}`);
  return config;
}

/** What govc shows of a VM, as far as tests look at it. */
export interface WitnessedVm {
  name: string;
  runtime: { powerState: string };
  config: {
    instanceUuid: string;
    uuid: string;
    annotation: string;
    managedBy?: object;
    hardware: { numCPU: number; memoryMB: number; device: { key: number; capacityInKB?: number; backing?: { fileName?: string } }[] };
    extraConfig: { key: string; value: string }[];
  };
}

/** The VMs of that name, wherever they are, as somebody else's client sees them. */
export async function witness(handle: VsphereHandle, name: string): Promise<WitnessedVm[]> {
  const paths = (await govc(handle, 'find', inventory.vmFolder, '-type', 'm', '-name', name)).split('\n').filter((path) => path !== '');
  if (paths.length === 0) return [];
  return (await govcJson<{ virtualMachines: WitnessedVm[] }>(handle, 'vm.info', '-e', ...paths)).virtualMachines;
}
