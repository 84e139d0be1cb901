import type { SubmittedTask } from '../../../contracts/virtual-machine/activities.ts';
import type { CreateSource } from '../../../contracts/virtual-machine/mutations.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { makeFolder, readDatastoreName, topFolderPath } from './submit-file-operation.ts';
import { mutateVmByTask, type Tools } from '../dependencies.ts';
import { confirmApi } from './confirm-api.ts';
import { confirmVcenter } from './confirm-vcenter.ts';
import { configOf, findVm } from './find-vm.ts';
import { folderRef, hostRef, poolRef, vmRef } from '../wire/values.ts';
import type { VcenterRest } from '../rest/client.ts';
import { cachedDisksSpec } from '../specs/cached-disks.ts';
import { neededApi } from '../specs/config-spec.ts';
import { cloneSpec, emptyVmSpec, type NewVm } from '../specs/new-vm.ts';
import { submitDeploy } from './submit-deploy.ts';

/**
 * Makes sure that the VM is there or being made: one that an earlier attempt made is found, and of two attempts in
 * flight at once the name lets one succeed.
 */
export async function submitNewVm(
  tools: Tools,
  rest: VcenterRest,
  request: NewVm,
): Promise<{ vmId: string } | SubmittedTask> {
  const { create, owner } = request;
  const { name, instanceUuid, at, source } = create;
  const identity = { instanceUuid, folder: at.folder, name, owner };
  if (source.kind === 'contentLibraryItem')
    return submitDeploy(tools, rest, { ...request, itemId: source.itemId }, identity);
  const found = await findVm(tools, identity);
  if (found !== null) return { vmId: found.id };
  await confirmVcenter(tools, create);
  const submit = await starterOf(tools, request, source);
  const taskId = await mutateVmByTask(tools, {
    action: 'submitNewVm',
    request,
    before: null,
    after: { vcenter: tools.gateway.vcenter, name, instanceUuid, uid: owner.uid, source, at },
    submit,
  });
  return { taskId, purpose: { kind: 'create', ...identity } };
}

/** Reads what the call needs, and gives the call. */
async function starterOf(
  tools: Tools,
  { create, owner }: NewVm,
  source: Exclude<CreateSource, { kind: 'contentLibraryItem' }>,
): Promise<() => Promise<string>> {
  const {
    gateway,
    scope: { signal },
  } = tools;
  const { name, at } = create;
  const api = await confirmApi(tools, neededApi(create.config));
  const folder = folderRef(at.folder);
  const where = { pool: poolRef(at.resourcePool), ...(at.host !== null && { host: hostRef(at.host) }) };
  switch (source.kind) {
    case 'template': {
      const template = await gateway.read(source.moId, signal);
      if (template === null)
        throw droverFailure('VsphereObjectNotFound', `vCenter ${gateway.vcenter} has no template ${source.moId}`);
      const spec = cloneSpec(create, owner, configOf(template).devices);
      return () => gateway.submit('CloneVM_Task', vmRef(source.moId), { folder, name, spec }, signal, api);
    }
    case 'nothing': {
      const config = emptyVmSpec(create, owner, await readDatastoreName(gateway, at.datastore, signal));
      return () => gateway.submit('CreateVM_Task', folder, { config, ...where }, signal, api);
    }
    case 'cachedDisks': {
      const home = await topFolderPath(gateway, at.datastore, owner.uid, signal);
      const config = cachedDisksSpec(create, owner, { source, home });
      return async () => {
        await makeFolder(tools, at.datacenter, home);
        return gateway.submit('CreateVM_Task', folder, { config, ...where }, signal, api);
      };
    }
  }
}
