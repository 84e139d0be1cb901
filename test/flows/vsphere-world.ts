import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createVsphereVmActivities } from '../../activities/vsphere/activities.ts';
import { openVcenter, type ClientOptions, type Vim } from '../../activities/vsphere/client.ts';
import { openGateway } from '../../activities/vsphere/gateway.ts';
import type { VcenterGateway } from '../../activities/vsphere/types.ts';
import type { NewVm, SubmittedTask, VmSubject, VsphereVmActivities } from '../../contracts/virtual-machine.ts';
import { startLab, type Lab } from '../../lab/lab.ts';
import { connectVcenterControl, type RecordedRequest, type VcenterControl } from '../../lab/vsphere/control.ts';
import { govc, govcJson } from '../../lab/vsphere/govc.ts';
import { inventory, type VsphereHandle } from '../../lab/vsphere/handle.ts';
import type { AuditEntry } from '../../runtime/audit.ts';
import type { VcenterSettings } from '../../runtime/vsphere-settings.ts';

export const never = new AbortController().signal;

/** The first run on a machine builds the simulator. */
export const startTimeoutMs = 15 * 60_000;

/** One vCenter of a test file's own. */
export interface VsphereWorld {
  handle: VsphereHandle;
  control: VcenterControl;
  audit: AuditEntry[];
  settings(change?: Partial<VcenterSettings>): VcenterSettings;
  /** A client that is closed with the world. */
  connect(change?: Partial<VcenterSettings>, options?: ClientOptions): Vim;
  gateway(change?: Partial<VcenterSettings>, options?: ClientOptions): VcenterGateway;
  activities(gateway: VcenterGateway, signal?: AbortSignal, deadlineMs?: number): VsphereVmActivities;
  /** By their paths in the inventory. */
  ids: { folder: string; pool: string; datastore: string; template: string };
  /** A VM that is to be made by cloning, with the mark of an object of that name. */
  newVm(name: string, change?: Partial<NewVm>): NewVm;
  requests(method: string): Promise<RecordedRequest[]>;
  close(): Promise<void>;
}

export async function openVsphereWorld(): Promise<VsphereWorld> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-vsphere-')));
  const lab: Lab<'vsphere'> = await startLab({ dir: join(root, 'lab'), parts: ['vsphere'] });
  const handle = lab.handles.vsphere;
  const control = connectVcenterControl(handle);
  const open: { close(): Promise<void> }[] = [];
  const audit: AuditEntry[] = [];
  const settings = (change: Partial<VcenterSettings> = {}): VcenterSettings => ({
    name: 'lab',
    url: handle.url,
    credential: () => Promise.resolve({ username: handle.username, password: readFileSync(handle.passwordFile, 'utf8') }),
    ca: readFileSync(handle.caFile, 'utf8'),
    thumbprint: null,
    budget: { calls: 8, callsPerSecond: 1_000, tasks: 32 },
    ...change,
  });
  const connect = (change?: Partial<VcenterSettings>, options?: ClientOptions): Vim => {
    const vim = openVcenter(settings(change), options);
    open.push(vim);
    return vim;
  };
  const first = openGateway(connect(), { tasks: 32 });
  const idOf = async (path: string): Promise<string> => (await first.findByPath(path, never))?.id ?? Promise.reject(new Error(`no ${path}`));
  const ids = { folder: await idOf(inventory.vmFolder), pool: await idOf(inventory.resourcePool), datastore: await idOf(inventory.datastores[0]), template: await idOf(inventory.template) };
  let made = 0;
  return {
    handle,
    control,
    audit,
    settings,
    connect,
    gateway: (change = {}, options) => openGateway(connect(change, options), settings(change).budget),
    activities: (gateway, signal = never, deadlineMs = Infinity) =>
      createVsphereVmActivities({
        gateway,
        stopGate: () => Promise.resolve(),
        audit: { record: (entry) => Promise.resolve(void audit.push(entry)) },
        scope: () => ({ signal, deadlineMs, heartbeatDetails: undefined, run: null, heartbeat: () => undefined }),
      }),
    ids,
    newVm: (name, change = {}) => ({
      name,
      instanceUuid: `5c0ffee0-0000-4000-8000-${String((made += 1)).padStart(12, '0')}`,
      biosUuid: null,
      folderId: ids.folder,
      mark: { namespacedName: `team-a/${name}`, uid: `uid-of-${name}` },
      placement: { resourcePoolId: ids.pool, datastoreId: ids.datastore, hostId: null },
      config: {},
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

/** Clones the template and waits for it. */
export async function makeVm(world: VsphereWorld, activities: VsphereVmActivities, vm: NewVm): Promise<VmSubject> {
  const submitted = await activities.submitClone({ source: { vmId: world.ids.template, linkedToSnapshotId: null }, vm, cause: 'the test' });
  const vmId = 'vmId' in submitted ? submitted.vmId : ((await activities.awaitTask(submitted)).vmId ?? '');
  return { vmId, mark: vm.mark, cause: 'the test' };
}

/** Waits where there is something to wait for. */
export const settle = async (activities: VsphereVmActivities, submitted: SubmittedTask | null): Promise<void> => void (submitted !== null && (await activities.awaitTask(submitted)));

/** What govc shows of a VM, as far as tests look at it. */
export interface WitnessedVm {
  name: string;
  runtime: { powerState: string };
  config: {
    instanceUuid: string;
    uuid: string;
    annotation: string;
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
