import { setTimeout as delay } from 'node:timers/promises';
import type { CreateSpec } from '../../contracts/virtual-machine/mutations.ts';
import { growingDelayMs } from '../../activities/lib/wait.ts';
import { configOf } from '../../activities/vsphere/mutations/find-vm.ts';
import { folderRef, vmRef } from '../../activities/vsphere/wire/values.ts';
import { cloneSpec } from '../../activities/vsphere/specs/new-vm.ts';
import type { VcenterGateway } from '../../activities/vsphere/types.ts';
import { vmFixture } from '../../lab/vsphere/vm-fixture.ts';
import { mapConcurrently } from '../load/concurrency.ts';

const taskDeadlineMs = 300_000;

/** Where VMs go, and what they are made from, as vCenter's ids. */
export type BarePlaces = Record<'folder' | 'resourcePool' | 'datastore' | 'datacenter' | 'template', string>;

/**
 * The script that a user would write who needs the VMs tonight: check that the name is free, clone, poll the task,
 * switch on, poll the task, read the VM. So many clones at once; a VM that is made is switched on beside the next
 * clones. The same client as drover's, the same clone specification, the same pauses between polls of a task; no
 * Temporal, no Kubernetes, and nothing survives its end.
 *
 * @returns ms of each, from its turn to the look that shows it on
 */
export async function makeByScript(
  gateway: VcenterGateway,
  places: BarePlaces,
  names: readonly string[],
  { creates, signal }: { creates: number; signal: AbortSignal },
): Promise<number[]> {
  const template = await gateway.read(places.template, signal);
  if (template === null) throw new Error(`there is no template ${places.template}`);
  const { devices } = configOf(template);
  const finished = await mapConcurrently(names, creates, async (name) => {
    const startedMs = performance.now();
    const found = await gateway.findInFolder(places.folder, name, signal);
    if (found.kind !== 'nothing') throw new Error(`${name} is there already`);
    const create = createOf(name, places);
    const spec = cloneSpec(create, { namespacedName: `bare/${name}`, uid: create.instanceUuid }, devices);
    const task = await gateway.submit(
      'CloneVM_Task',
      vmRef(places.template),
      { folder: folderRef(places.folder), name, spec },
      signal,
    );
    const vmId = (await untilEnded(gateway, task, signal)) ?? '';
    const on = switchOn(gateway, vmId, signal).then(() => performance.now() - startedMs);
    // It is reported at the end, when all are waited for.
    on.catch(() => undefined);
    // Wrapped, so that the worker does not wait for it.
    return { on };
  });
  return await Promise.all(finished.map(({ on }) => on));
}

export async function switchOn(gateway: VcenterGateway, vmId: string, signal: AbortSignal): Promise<void> {
  await untilEnded(gateway, await gateway.submit('PowerOnVM_Task', vmRef(vmId), {}, signal), signal);
  const vm = await gateway.read(vmId, signal);
  if (vm?.powerState !== 'poweredOn') throw new Error(`${vmId} is ${vm?.powerState ?? 'gone'}, not on`);
}

/** @returns id of the VM that the task made, where it made one */
export async function untilEnded(gateway: VcenterGateway, taskId: string, signal: AbortSignal): Promise<string | null> {
  const startedMs = performance.now();
  for (;;) {
    const task = await gateway.readTask(taskId, signal);
    if (task.state === 'success') return task.vmId;
    if (task.state === 'error') throw task.failure;
    const waitedMs = performance.now() - startedMs;
    if (waitedMs > taskDeadlineMs) throw new Error(`${taskId} is ${task.state} after ${taskDeadlineMs / 1_000} s`);
    await delay(growingDelayMs(waitedMs), undefined, { signal });
  }
}

/** Removes them again. */
export async function removeByScript(
  gateway: VcenterGateway,
  { folder }: Pick<BarePlaces, 'folder'>,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  await mapConcurrently(names, 8, async (name) => {
    const found = await gateway.findInFolder(folder, name, signal);
    if (found.kind !== 'vm') return;
    const vm = vmRef(found.vm.id);
    if (found.vm.powerState === 'poweredOn')
      await untilEnded(gateway, await gateway.submit('PowerOffVM_Task', vm, {}, signal), signal);
    await untilEnded(gateway, await gateway.submit('Destroy_Task', vm, {}, signal), signal);
  });
}

/** As drover makes one of class small, but for its card. */
function createOf(name: string, { template, folder, resourcePool, datastore, datacenter }: BarePlaces): CreateSpec {
  const uuid = crypto.randomUUID();
  return {
    name,
    instanceUuid: uuid,
    uuid,
    source: { kind: 'template', moId: template },
    at: { zone: vmFixture.zone, datacenter, folder, resourcePool, datastore, host: null, cpuMHz: 2_000 },
    bootDiskBytes: null,
    config: { numCPUs: 1, memoryMB: 1_024 },
    classConfigSpec: {},
  };
}
