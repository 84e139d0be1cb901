import { z } from 'zod';

import type { SubmittedTask } from '../../contracts/virtual-machine-activities.ts';
import type { CreateSource } from '../../contracts/virtual-machine-plan.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { mutateByTask, type Tools } from './dependencies.ts';
import { configOf, findVm } from './find-vm.ts';
import { datastoreRef, folderRef, hostRef, poolRef, vmRef } from './references.ts';
import type { VcenterRest } from './rest/client.ts';
import { cloneSpec, emptyVmSpec, type NewVm } from './specs/new-vm.ts';
import { submitDeploy } from './submit-deploy.ts';

/**
 * Makes sure that the VM is there or being made: one that an earlier attempt made is found, and of two attempts in flight at once the
 * name lets one succeed.
 */
export async function submitNewVm(tools: Tools, rest: VcenterRest, request: NewVm): Promise<{ vmId: string } | SubmittedTask> {
  const { create, mark } = request;
  const { name, instanceUuid, at, source } = create;
  const identity = { instanceUuid, folder: at.folder, name, mark };
  if (source.from === 'contentLibraryItem') return submitDeploy(tools, rest, { ...request, itemId: source.itemId }, identity);
  const found = await findVm(tools, identity);
  if (found !== null) return { vmId: found.id };
  const submit = await starterOf(tools, request, source);
  const taskId = await mutateByTask(tools, {
    action: 'submitNewVm',
    owner: request,
    before: null,
    after: { vcenter: tools.gateway.vcenter, name, instanceUuid, uid: mark.uid, source, at },
    submit,
  });
  return { taskId, purpose: { kind: 'create', ...identity } };
}

/** Reads what the call needs, and gives the call. */
async function starterOf({ gateway, scope: { signal } }: Tools, { create, mark }: NewVm, source: Exclude<CreateSource, { from: 'contentLibraryItem' }>): Promise<() => Promise<string>> {
  const { name, at } = create;
  const folder = folderRef(at.folder);
  switch (source.from) {
    case 'template': {
      const template = await gateway.read(source.moId, signal);
      if (template === null) throw droverFailure('VsphereObjectNotFound', `vCenter ${gateway.vcenter} has no template ${source.moId}`);
      const spec = cloneSpec(create, mark, configOf(template).devices);
      return () => gateway.submit('CloneVM_Task', vmRef(source.moId), { folder, name, spec }, signal);
    }
    case 'nothing': {
      const config = emptyVmSpec(create, mark, await datastoreName({ gateway, signal }, at.datastore));
      return () => gateway.submit('CreateVM_Task', folder, { config, pool: poolRef(at.resourcePool), ...(at.host !== null && { host: hostRef(at.host) }) }, signal);
    }
    case 'cachedDisks':
      throw droverFailure('VsphereNotSupported', `${name} cannot be made from cached disks: switch fast deploy off (fastDeploy: null), or take it off the object`);
  }
}

/** @throws VsphereObjectNotFound */
async function datastoreName({ gateway, signal }: Pick<Tools, 'gateway'> & { signal: AbortSignal }, id: string): Promise<string> {
  const [object] = await gateway.retrieve({ propSet: [{ type: 'Datastore', pathSet: ['name'] }], objectSet: [{ obj: datastoreRef(id) }] }, signal);
  const name = z.string().safeParse(object?.properties['name']);
  if (!name.success) throw droverFailure('VsphereObjectNotFound', `vCenter ${gateway.vcenter} has no datastore ${id}`);
  return name.data;
}
