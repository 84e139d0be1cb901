import { z } from 'zod';

import type { PolicyOwner, PolicyPart, PolicyRemains } from '../../../contracts/resource-policy/resource-policy.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import { settlingDelayMs, waitFor } from '../../nova/wait.ts';
import { carryOut, type Tools } from '../dependencies.ts';
import { traversal } from '../properties.ts';
import { folderRef, poolRef } from '../references.ts';
import type { VcenterRest } from '../rest/client.ts';
import { createModule, deleteModule } from '../rest/cluster-modules.ts';
import type { ManagedObjectReference } from '../wire/values.ts';
import { allocationOf } from './allocation.ts';
import { readCpuMHz } from './cpu-speed.ts';

export type PolicyTools = Pick<Tools, 'gateway' | 'stopGate' | 'audit' | 'scope' | 'clock'> & { rest: VcenterRest };

type Make<Kind extends PolicyPart['make']> = Extract<PolicyPart, { make: Kind }>;

/** Makes one thing, unless it is there already. */
export async function makePolicyPart(
  tools: PolicyTools,
  { part, ...owner }: PolicyOwner & { part: PolicyPart },
): Promise<string | null> {
  switch (part.make) {
    case 'folder':
      await makeFolder(tools, owner, part);
      return null;
    case 'resourcePool':
      await makeResourcePool(tools, owner, part);
      return null;
    case 'module':
      return await done(tools, owner, part, () => createModule(tools.rest, part.cluster, tools.scope.signal));
  }
}

/** Removes one thing, unless it is gone, or holds something. */
export async function removePolicyPart(
  tools: PolicyTools,
  { part, ...owner }: PolicyOwner & { part: PolicyRemains },
): Promise<void> {
  switch (part.remove) {
    case 'module':
      await unlessGone(done(tools, owner, part, () => deleteModule(tools.rest, part.module, tools.scope.signal)));
      return;
    case 'folder':
      return await removeEmpty(tools, owner, part, folderRef(part.id), ['childEntity']);
    case 'resourcePool':
      return await removeEmpty(tools, owner, part, poolRef(part.id), ['vm', 'resourcePool']);
  }
}

/** Behind the stop, and with its line in the audit log. */
const done = <Result>(
  tools: PolicyTools,
  { namespace, name, cause }: PolicyOwner,
  part: PolicyPart | PolicyRemains,
  submit: () => Promise<Result>,
): Promise<Result> =>
  carryOut(tools, {
    action: 'make' in part ? 'makePolicyPart' : 'removePolicyPart',
    object: `resourcepolicy/${namespace}/${name}`,
    cause,
    before: null,
    after: { vcenter: tools.gateway.vcenter, ...part },
    submit,
  });

async function makeFolder(tools: PolicyTools, owner: PolicyOwner, part: Make<'folder'>): Promise<void> {
  const {
    gateway,
    scope: { signal },
  } = tools;
  await unlessTaken(
    done(tools, owner, part, () => gateway.call('CreateFolder', folderRef(part.parent), { name: part.name }, signal)),
  );
}

/** One that is there gets the allocation that it shall have. */
async function makeResourcePool(tools: PolicyTools, owner: PolicyOwner, part: Make<'resourcePool'>): Promise<void> {
  const {
    gateway,
    scope: { signal },
  } = tools;
  const { parent, cluster, name, allocation } = part;
  const spec = allocationOf(allocation, cluster === null ? 0 : await readCpuMHz(gateway, poolRef(parent), signal));
  const there = await findPool(tools, parent, name);
  if (there === null)
    await unlessTaken(
      done(tools, owner, part, () => gateway.call('CreateResourcePool', poolRef(parent), { name, spec }, signal)),
    );
  else await done(tools, owner, part, () => gateway.call('UpdateConfig', there, { config: spec }, signal));
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

/** Looks again whether it is empty: a VM may have come into it since it was decided. */
async function removeEmpty(
  tools: PolicyTools,
  owner: PolicyOwner,
  part: Extract<PolicyRemains, { remove: 'folder' | 'resourcePool' }>,
  ref: ManagedObjectReference,
  contents: string[],
): Promise<void> {
  const { gateway, scope } = tools;
  const [seen] = await gateway.retrieve(
    { propSet: [{ type: ref.type, pathSet: contents }], objectSet: [{ obj: ref }] },
    scope.signal,
  );
  if (seen === undefined) return;
  if (contents.some((path) => z.array(reference).safeParse(seen.properties[path] ?? []).data?.length !== 0)) return;
  const taskId = await unlessGone(
    done(tools, owner, part, () => gateway.submit('Destroy_Task', ref, {}, scope.signal)),
  );
  if (taskId !== null) await untilOver(tools, taskId, part.name);
}

/** @throws what it failed with; VsphereTaskOverdue */
async function untilOver({ gateway, scope, clock }: PolicyTools, taskId: string, what: string): Promise<void> {
  const startMs = clock.now();
  await waitFor({
    scope,
    clock,
    look: async () => {
      const seen = await gateway.readTask(taskId, scope.signal);
      if (seen.state === 'success') return { done: null };
      if (seen.state === 'error') throw seen.failure;
      if (clock.now() >= scope.deadlineMs)
        throw droverFailure(
          'VsphereTaskOverdue',
          `${taskId} at vCenter ${gateway.vcenter}, which removes ${what}, is still ${seen.state}`,
        );
      return { againMs: settlingDelayMs(clock.now() - startMs) };
    },
  });
}

/** Another attempt was faster, or somebody else: the next look sees it. */
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
