import type { VcenterPlaces } from '../../../runtime/config/vsphere-config.ts';
import { markPaths } from '../observation/read-vm.ts';
import type { ManagedObjectReference } from '../wire/values.ts';
import type { PropertyFilterSpec } from '../wire/vim/types.ts';
import { watchedPaths } from './watched.ts';

/** The folders that hold the VMs of all namespaces: where a path names the namespace, what is above it. None lies in another. Pure. */
export function rootsOf({ zones }: Pick<VcenterPlaces, 'zones'>): string[] {
  const folders = Object.values(zones).map(({ folder }) => {
    const parts = folder.split('/');
    const ofNamespace = parts.findIndex((part) => part.includes('{namespace}'));
    return (ofNamespace === -1 ? parts : parts.slice(0, ofNamespace)).join('/');
  });
  const all = [...new Set(folders)].toSorted();
  return all.filter((folder) => !all.some((other) => folder.startsWith(`${other}/`)));
}

/** Every VM below these folders; those that come are told of, and those that go. Pure. */
export const filterOf = (folders: readonly ManagedObjectReference[]): PropertyFilterSpec => ({
  propSet: [{ type: 'VirtualMachine', pathSet: [...watchedPaths, ...markPaths] }],
  objectSet: folders.map((obj) => ({
    obj,
    skip: true,
    selectSet: [
      {
        $type: 'TraversalSpec',
        name: 'below',
        type: 'Folder',
        path: 'childEntity',
        skip: false,
        selectSet: [{ $type: 'SelectionSpec', name: 'below' }],
      },
    ],
  })),
});
