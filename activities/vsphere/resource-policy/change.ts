import { z } from 'zod';

import type { PolicyChange, ResourcePolicyInput } from '../../../contracts/resource-policy/resource-policy.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import { growingDelayMs, waitFor } from '../../lib/wait.ts';
import { mutate } from '../../lib/mutate.ts';
import type { Tools } from '../dependencies.ts';
import { retrieve, traversal } from '../properties.ts';
import { folderRef, type ManagedObjectReference, poolRef } from '../wire/values.ts';
import type { VcenterRest } from '../rest/client.ts';
import { createModule, deleteModule } from '../rest/cluster-modules.ts';
import { allocationOf, countsCores, readCpuMHz } from './allocation.ts';

export type PolicyTools = Pick<Tools, 'gateway' | 'stopGate' | 'audit' | 'scope' | 'clock'> & { rest: VcenterRest };

type Change<Kind extends PolicyChange['kind']> = Extract<PolicyChange, { kind: Kind }>;

/** What a change is made for. */
interface Owner extends ResourcePolicyInput {
  cause: string;
}

/** Makes one thing, unless it is there; or removes one, unless it is gone or holds something. */
export async function changePolicyInVcenter(
  tools: PolicyTools,
  { change, ...owner }: Owner & { change: PolicyChange },
): Promise<string | null> {
  const { rest, scope } = tools;
  switch (change.kind) {
    case 'makeFolder':
      await makeFolder(tools, owner, change);
      return null;
    case 'makePool':
      await makePool(tools, owner, change);
      return null;
    case 'makeModule':
      return await audited(tools, owner, change, () => createModule(rest, change.cluster, scope.signal));
    case 'removeModule':
      await unlessGone(audited(tools, owner, change, () => deleteModule(rest, change.module, scope.signal)));
      return null;
    case 'removeFolder':
      await removeEmpty(tools, owner, change, folderRef(change.id), ['childEntity']);
      return null;
    case 'removePool':
      await removeEmpty(tools, owner, change, poolRef(change.id), ['vm', 'resourcePool']);
      return null;
  }
}

/** Behind the stop, and with its line in the audit log. */
const audited = <Result>(
  tools: PolicyTools,
  { namespace, name, cause }: Owner,
  { kind, ...what }: PolicyChange,
  submit: () => Promise<Result>,
): Promise<Result> =>
  mutate(
    tools,
    {
      action: kind,
      object: `resourcepolicy/${namespace}/${name}`,
      cause,
      before: null,
      after: { vcenter: tools.gateway.vcenter, ...what },
    },
    submit,
  );

async function makeFolder(tools: PolicyTools, owner: Owner, change: Change<'makeFolder'>): Promise<void> {
  const {
    gateway,
    scope: { signal },
  } = tools;
  await unlessTaken(
    audited(tools, owner, change, () =>
      gateway.call('CreateFolder', folderRef(change.parent), { name: change.name }, signal),
    ),
  );
}

/** One that is there gets the allocation that it shall have. */
async function makePool(tools: PolicyTools, owner: Owner, change: Change<'makePool'>): Promise<void> {
  const {
    gateway,
    scope: { signal },
  } = tools;
  const { parent, name, allocation } = change;
  const cpuMHz = countsCores(allocation) ? await readCpuMHz(gateway, poolRef(parent), signal) : 0;
  // 0 MHz would be written as a limit, and hold up all that runs there.
  if (countsCores(allocation) && cpuMHz === 0)
    throw droverFailure(
      'AnswerMalformed',
      `vCenter ${gateway.vcenter} does not say how fast a core of any host of resource pool ${parent} is`,
    );
  const spec = allocationOf(allocation, cpuMHz);
  const there = await findPool(tools, parent, name);
  if (there === null)
    await unlessTaken(
      audited(tools, owner, change, () => gateway.call('CreateResourcePool', poolRef(parent), { name, spec }, signal)),
    );
  else await audited(tools, owner, change, () => gateway.call('UpdateConfig', there, { config: spec }, signal));
}

const reference = z.object({ value: z.string() });

async function findPool(
  { gateway, scope: { signal } }: PolicyTools,
  parent: string,
  name: string,
): Promise<ManagedObjectReference | null> {
  const selectSet = [traversal('ResourcePool', 'resourcePool')];
  const children = await gateway.retrieve(
    {
      propSet: [{ type: 'ResourcePool', pathSet: ['name'] }],
      objectSet: [{ obj: poolRef(parent), skip: true, selectSet }],
    },
    signal,
  );
  return children.find(({ properties }) => properties['name'] === name)?.ref ?? null;
}

/**
 * Reads whether it is empty, and destroys it then: a VM may have come into it since that was decided, and vCenter
 * destroys a folder with the VMs in it, and their disks. So it is read as late as can be, after the stop gate and every
 * queue. One that is not empty stays, and the next observation shows it.
 */
async function removeEmpty(
  tools: PolicyTools,
  owner: Owner,
  change: Change<'removeFolder' | 'removePool'>,
  ref: ManagedObjectReference,
  contents: string[],
): Promise<void> {
  const { gateway, scope } = tools;
  const question = {
    propSet: [{ type: ref.type, pathSet: contents }],
    objectSet: [{ obj: ref }],
    reportMissingObjectsInResults: true,
  };
  const notToRemove = new Error(`${change.name} is gone, or holds something`);
  const submit = (): Promise<string> =>
    gateway.submit('Destroy_Task', ref, {}, scope.signal, {
      confirm: async (vim, signal) => {
        const [found] = await retrieve(vim, question, signal);
        const isEmpty = (path: string): boolean =>
          z.array(reference).safeParse(found?.properties[path] ?? []).data?.length === 0;
        if (found === undefined || !contents.every(isEmpty)) throw notToRemove;
      },
    });
  const submitIfEmpty = async (): Promise<string | null> => {
    try {
      return await submit();
    } catch (error) {
      if (error === notToRemove) return null;
      throw error;
    }
  };
  const taskId = await unlessGone(audited(tools, owner, change, submitIfEmpty));
  // Another policy that names it may go at the same time, and be faster.
  if (taskId !== null) await unlessGone(untilOver(tools, taskId, change.name));
}

/** @throws what it failed with; VsphereTaskOverdue */
async function untilOver({ gateway, scope, clock }: PolicyTools, taskId: string, what: string): Promise<void> {
  const startMs = clock.now();
  await waitFor({
    scope,
    clock,
    observe: async () => {
      const task = await gateway.readTask(taskId, scope.signal);
      if (task.state === 'success') return { done: null };
      if (task.state === 'error') throw task.failure;
      if (clock.now() >= scope.deadlineMs)
        throw droverFailure(
          'VsphereTaskOverdue',
          `${taskId} at vCenter ${gateway.vcenter}, which removes ${what}, is still ${task.state}`,
        );
      return { againMs: growingDelayMs(clock.now() - startMs) };
    },
  });
}

/** Another attempt was faster, or another client: the next observation shows it. */
async function unlessTaken(making: Promise<unknown>): Promise<void> {
  try {
    await making;
  } catch (error) {
    if (failureCode(error) !== 'VirtualMachineNameTaken') throw error;
  }
}

/** Null: there is nothing to remove any more. */
async function unlessGone<Result>(removing: Promise<Result>): Promise<Result | null> {
  try {
    return await removing;
  } catch (error) {
    if (failureCode(error) === 'VsphereObjectNotFound') return null;
    throw error;
  }
}
