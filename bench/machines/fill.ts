import { readFileSync } from 'node:fs';
import { openVcenter, type Vim } from '../../activities/vsphere/client.ts';
import { readProperties } from '../../activities/vsphere/properties.ts';
import type { ManagedObjectReference } from '../../activities/vsphere/wire/values.ts';
import { writeProviderId } from '../../contracts/machine-safety/provider-id.ts';
import {
  machineFixture,
  labCloud,
  labVsphere,
  openstackMarks,
  type Provider,
  putMachine,
  setUpOpenStackClass,
  setUpVsphereClass,
  vsphereMarks,
} from '../../lab/machines.ts';
import { labVcenter } from '../../lab/drover.ts';
import { createInstances } from '../../lab/openstack/seed.ts';
import { openSession } from '../../lab/openstack/session.ts';
import { govc } from '../../lab/vsphere/govc.ts';
import { inventory, type VsphereHandle } from '../../lab/vsphere/handle.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { until } from '../../test/flows/until.ts';
import { mapConcurrently } from '../load/concurrency.ts';
import type { LoadRun } from '../load/load-run.ts';
import type { MachinesLab } from './machines-world.ts';

/** Requests of one kind at once. */
const concurrency = 16;
const { folder, region } = machineFixture;
const folderPath = `${inventory.vmFolder}/${folder}`;
const [datastore] = inventory.datastores;
const marksAtOnce = 500;

/** A class of VMs, without any. */
export const setUpVcenter = ({ lab: { handles }, api }: MachinesLab<'vsphere'>): Promise<void> =>
  setUpVsphereClass(api, labVsphere(handles.vsphere));

/** So many VMs with the marks of a class, and a Machine of each. */
export async function fillVcenter(world: MachinesLab<'vsphere'>, count: number, run: LoadRun): Promise<void> {
  const { vsphere } = world.lab.handles;
  await setUpVcenter(world);
  const ids = Array.from({ length: count }, () => crypto.randomUUID());
  await withVim(vsphere, run.signal, async (tools) => {
    await timed(run, `${count} VMs`, () => cloneVms(tools, ids));
    await timed(run, 'their marks', () => markVms(tools));
  });
  await timed(run, 'their Machines', () => addMachines(world.api, 'vsphere', ids));
}

/** So many servers with the marks of a class, and a Machine of each. */
export async function fillProject(
  { lab: { handles }, api }: MachinesLab<'openstack'>,
  count: number,
  run: LoadRun,
): Promise<void> {
  const { openstack } = handles;
  await setUpOpenStackClass(api, labCloud(openstack));
  const session = await openSession(openstack);
  const names = Array.from({ length: count }, (_, index) => nameOf(index));
  const servers = await timed(run, `${count} servers`, async () => {
    const made: string[] = [];
    // Nova builds each portion before the next is asked for, so that none waits for longer than the lab allows.
    for (let from = 0; from < count; from += portion)
      for (const { id } of await createInstances(
        session,
        names.slice(from, from + portion).map((name) => ({ name, metadata: openstackMarks() })),
      ))
        made.push(id);
    return made;
  });
  await timed(run, 'their Machines', () => addMachines(api, 'openstack', servers));
}

const portion = 50;
const nameOf = (index: number): string => `worker-${index}`;

async function timed<Result>({ report }: LoadRun, what: string, make: () => Promise<Result>): Promise<Result> {
  const startedMs = performance.now();
  const result = await make();
  report(`${what} made in ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`);
  return result;
}

interface VcenterTools {
  vsphere: VsphereHandle;
  vim: Vim;
  signal: AbortSignal;
}

async function withVim<Result>(
  vsphere: VsphereHandle,
  signal: AbortSignal,
  use: (tools: VcenterTools) => Promise<Result>,
): Promise<Result> {
  const vim = openVcenter(
    {
      name: labVcenter,
      url: vsphere.url,
      credential: () =>
        Promise.resolve({ username: vsphere.username, password: readFileSync(vsphere.passwordFile, 'utf8') }),
      ca: readFileSync(vsphere.caFile, 'utf8'),
      thumbprint: null,
      budget: { calls: concurrency, callsPerSecond: 10_000, tasks: concurrency },
      places: { zones: {}, storagePolicies: {}, networks: {} },
    },
    { clock: systemClock },
  );
  try {
    return await use({ vsphere, vim, signal });
  } finally {
    await vim.close();
  }
}

async function find({ vim, signal }: VcenterTools, inventoryPath: string): Promise<ManagedObjectReference> {
  const { searchIndex } = await vim.content(signal);
  const found = searchIndex && (await vim.call('FindByInventoryPath', searchIndex, { inventoryPath }, signal));
  if (found === undefined) throw new Error(`the lab's vCenter has no ${inventoryPath}`);
  return found;
}

/** Clones that are not waited for one by one. @param ids the BIOS UUID of each */
async function cloneVms(tools: VcenterTools, ids: readonly string[]): Promise<void> {
  const { vim, signal } = tools;
  const template = await find(tools, inventory.template);
  const into = await find(tools, folderPath);
  const location = { pool: await find(tools, inventory.resourcePool), datastore: await find(tools, datastore) };
  await mapConcurrently(ids, concurrency, async (uuid, index) => {
    const spec = { location, config: { uuid }, template: false, powerOn: false };
    await vim.call('CloneVM_Task', template, { folder: into, name: nameOf(index), spec }, signal);
  });
  const observe = async (): Promise<true | string> => {
    const { length } = await listVms(tools);
    return length === ids.length ? true : `${length} of ${ids.length}`;
  };
  await until('all VMs to be made', 60_000, observe, signal);
}

/** Ids of the VMs in the folder: govc takes half a minute to list thousands. */
async function listVms(tools: VcenterTools): Promise<string[]> {
  const [read] = await readProperties(tools.vim, [await find(tools, folderPath)], ['childEntity'], tools.signal);
  return ((read?.properties['childEntity'] ?? []) as ManagedObjectReference[]).map(({ value }) => value);
}

/** A part of them with each command, as one has half a minute. */
async function markVms(tools: VcenterTools): Promise<void> {
  const vms = (await listVms(tools)).map((id) => `VirtualMachine:${id}`);
  for (const [name, value] of Object.entries(vsphereMarks()))
    for (let from = 0; from < vms.length; from += marksAtOnce)
      await govc(
        tools.vsphere,
        'fields.set',
        '-add',
        '-type',
        'VirtualMachine',
        name,
        value,
        ...vms.slice(from, from + marksAtOnce),
      );
}

async function addMachines(api: Kubernetes, provider: Provider, ids: readonly string[]): Promise<void> {
  await mapConcurrently(ids, concurrency, (id, index) =>
    putMachine(api, {
      name: nameOf(index),
      provider,
      providerId: writeProviderId({ provider, region: region[provider], id }),
      // Its status costs as much as the Machine, and says nothing of one that names its VM.
      phase: '',
    }),
  );
}
