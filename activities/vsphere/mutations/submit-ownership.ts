import type { OwnerReference, Submission, VmSubject } from '../../../contracts/virtual-machine/activities.ts';
import {
  extraConfigKeys,
  managedBy as ownManager,
  readPolicyTags,
} from '../../../contracts/virtual-machine/metadata.ts';
import type { Tools } from '../dependencies.ts';
import { isMetadataKey } from '../observation/config.ts';
import { configOf, isFormerOwner, isSameOwner, readOwned, readOwnedThere } from './find-vm.ts';
import { option, tagSpec } from '../specs/config-spec.ts';
import { changed, reconfigure } from './submit-reconfigure.ts';
import type { ObservedOwner } from '../types.ts';
import { vim } from '../wire/kinds.ts';

const isOwnOrFormer = (owner: OwnerReference, observed: ObservedOwner | null): boolean =>
  isSameOwner(owner, observed) || isFormerOwner(owner, observed);

/** Only a VM without an owner, or with the one that the replaced operator wrote. */
export async function submitAdoption(
  tools: Tools,
  request: VmSubject & { changeVersion: string },
): Promise<Submission> {
  const vm = await readOwnedThere(tools, request, (owner, found) => found === null || isOwnOrFormer(owner, found));
  if (isSameOwner(request.owner, vm.owner)) return null;
  const { changeVersion } = configOf(vm);
  if (changeVersion !== request.changeVersion) throw changed(vm, request.changeVersion);
  const { namespacedName, uid } = request.owner;
  const extraConfig = [
    { key: extraConfigKeys.namespacedName, value: namespacedName },
    { key: extraConfigKeys.objectUid, value: uid },
  ].map(option);
  return reconfigure(
    tools,
    'submitAdoption',
    request,
    { extraConfig },
    { changeVersion },
    { vmId: request.vmId, name: vm.name, owner: request.owner },
  );
}

/** A VM without an owner, or one that is gone, is released already. */
export async function submitRelease(tools: Tools, request: VmSubject): Promise<Submission> {
  const vm = await readOwned(tools, request, (owner, found) => found === null || isOwnOrFormer(owner, found));
  if (vm === null || vm.owner === null) return null;
  const { changeVersion, extraConfig } = configOf(vm);
  const keys = Object.keys(extraConfig).filter(isMetadataKey);
  const tags = readPolicyTags(extraConfig);
  const isManaged =
    vim('ManagedByInfo').safeParse(vm.properties['config.managedBy']).data?.extensionKey === ownManager.extensionKey;
  return reconfigure(
    tools,
    'submitRelease',
    request,
    // An empty extension takes it away.
    {
      extraConfig: keys.map((key) => option({ key, value: '' })),
      ...(tags.length > 0 && { tagSpecs: tags.map((tag) => tagSpec({ operation: 'remove', tag })) }),
      ...(isManaged && { managedBy: { extensionKey: '', type: '' } }),
    },
    { changeVersion },
    { vmId: request.vmId, name: vm.name, released: keys, ...(tags.length > 0 && { detached: tags }) },
  );
}
