import type { VmSubject } from '../../../contracts/virtual-machine/activities.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { mutateVm, type Tools } from '../dependencies.ts';
import { readOwnedThere } from './find-vm.ts';
import type { VcenterRest } from '../rest/client.ts';
import { addMember, isMember } from '../rest/cluster-modules.ts';

/**
 * Makes the VM a member of the module. Well where it is one.
 * @throws VsphereObjectNotFound, RequestRefused for a module of another cluster
 */
export async function attachClusterModule(
  tools: Tools,
  rest: VcenterRest,
  request: VmSubject & { module: string },
): Promise<void> {
  const { vmId, module } = request;
  const { signal } = tools.scope;
  const { name } = await readOwnedThere(tools, request);
  if (await isMember(rest, module, vmId, signal)) return;
  await mutateVm(tools, {
    action: 'attachClusterModule',
    request,
    before: null,
    after: { vcenter: rest.vcenter, vmId, module },
    submit: async () => {
      if (await addMember(rest, module, vmId, signal)) return;
      // Another attempt may have been faster.
      if (await isMember(rest, module, vmId, signal)) return;
      throw droverFailure(
        'RequestRefused',
        `vCenter ${rest.vcenter} does not take ${name} (${vmId}) into cluster module ${module}: the module is of another cluster than the VM`,
      );
    },
  });
}
