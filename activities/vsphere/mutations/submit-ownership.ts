import type { OwnershipMark, Submission, VmSubject } from '../../../contracts/virtual-machine/activities.ts';
import { extraConfigKeys, managedBy as ownManager } from '../../../contracts/virtual-machine/metadata.ts';
import type { Tools } from '../dependencies.ts';
import { isMark } from '../observation/config.ts';
import { configOf, isFormerMark, isSameMark, readOwned, readOwnedThere } from './find-vm.ts';
import { option } from '../specs/config-spec.ts';
import { changed, reconfigure } from './submit-reconfigure.ts';
import type { SeenMark } from '../types.ts';
import { vim } from '../wire/kinds.ts';

const isOwnOrFormer = (mark: OwnershipMark, seen: SeenMark | null): boolean =>
  isSameMark(mark, seen) || isFormerMark(mark, seen);

/** Only one without a mark, or with that of the operator before. */
export async function submitAdoption(
  tools: Tools,
  request: VmSubject & { changeVersion: string },
): Promise<Submission> {
  const seen = await readOwnedThere(tools, request, (mark, found) => found === null || isOwnOrFormer(mark, found));
  if (isSameMark(request.mark, seen.mark)) return null;
  const { changeVersion } = configOf(seen);
  if (changeVersion !== request.changeVersion) throw changed(seen, request.changeVersion);
  const { namespacedName, uid } = request.mark;
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
    { vmId: request.vmId, name: seen.name, mark: request.mark },
  );
}

/** One whose mark is off, or that is gone, is left to others already. */
export async function submitRelease(tools: Tools, request: VmSubject): Promise<Submission> {
  const seen = await readOwned(tools, request, (mark, found) => found === null || isOwnOrFormer(mark, found));
  if (seen === null || seen.mark === null) return null;
  const { changeVersion, extraConfig } = configOf(seen);
  const keys = Object.keys(extraConfig).filter(isMark);
  const isManaged =
    vim('ManagedByInfo').safeParse(seen.properties['config.managedBy']).data?.extensionKey === ownManager.extensionKey;
  return reconfigure(
    tools,
    'submitRelease',
    request,
    // An empty extension takes it away.
    {
      extraConfig: keys.map((key) => option({ key, value: '' })),
      ...(isManaged && { managedBy: { extensionKey: '', type: '' } }),
    },
    { changeVersion },
    { vmId: request.vmId, name: seen.name, released: keys },
  );
}
