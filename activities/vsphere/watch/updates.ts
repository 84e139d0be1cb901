import type { VcenterPlaces } from '../../../runtime/config/vsphere-config.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import type { Vim } from '../client.ts';
import { ownerPaths } from '../observation/read-vm.ts';
import type { ManagedObjectReference } from '../wire/values.ts';
import type { PropertyFilterSpec, UpdateSet } from '../wire/vim/types.ts';
import { watchedPaths } from './watched.ts';

/** A VM that is there from now on, has changed, or is no more among those that are watched. */
export interface VmUpdate {
  kind: 'enter' | 'modify' | 'leave';
  vmId: string;
  /** By path; undefined: not set any more. */
  changed: Readonly<Record<string, unknown>>;
}

export interface UpdateBatch {
  /** The collector's own, opaque: shown to operators only, as it means nothing in another session. */
  version: string;
  updates: VmUpdate[];
  /** With it, everything has been reported that was there in the beginning. */
  completes: boolean;
}

/** Below the time that an answer may take (http.ts), and short enough for a lost session to be noticed. */
const maxWaitSeconds = 6;

/**
 * Everything that the filter selects, and then each change of it: one call after the other, each answered when there is
 * an update, or after some seconds with none. The collector ends with the session: then the generator fails, and the
 * caller begins again.
 */
export async function* watchUpdates(
  vim: Vim,
  spec: PropertyFilterSpec,
  signal: AbortSignal,
): AsyncGenerator<UpdateBatch, never> {
  const sameSession = await vim.content(signal);
  const { propertyCollector } = sameSession;
  // A collector of its own: that of the session is shared.
  const collector = await vim.call('CreatePropertyCollector', propertyCollector, {}, signal);
  await vim.call('CreateFilter', collector, { spec, partialUpdates: false }, signal, { sameSession });
  let version = '';
  let isComplete = false;
  for (;;) {
    const set: UpdateSet | undefined = await ask(vim, () =>
      vim.call('WaitForUpdatesEx', collector, { version, options: { maxWaitSeconds } }, signal, { sameSession }),
    );
    const completes: boolean = !isComplete && set?.truncated !== true;
    isComplete ||= completes;
    version = set?.version ?? version;
    yield { version, updates: set === undefined ? [] : updatesIn(set), completes };
  }
}

/** A collector that is not there any more has ended with its session. */
async function ask(vim: Vim, question: () => Promise<UpdateSet | undefined>): Promise<UpdateSet | undefined> {
  try {
    return await question();
  } catch (error) {
    if (failureCode(error) === 'VsphereObjectNotFound')
      throw droverFailure('VsphereUnavailable', `vCenter ${vim.name} does not know the property collector any more`, {
        cause: error,
      });
    throw error;
  }
}

const updatesIn = ({ filterSet = [] }: UpdateSet): VmUpdate[] =>
  filterSet.flatMap(({ objectSet = [] }) =>
    objectSet.flatMap(({ kind, obj, changeSet = [] }) =>
      isKind(kind)
        ? [{ kind, vmId: obj.value, changed: Object.fromEntries(changeSet.map(({ name, val }) => [name, val])) }]
        : [],
    ),
  );

const isKind = (kind: string): kind is VmUpdate['kind'] => kind === 'enter' || kind === 'modify' || kind === 'leave';

/**
 * The folders that hold the VMs of all namespaces: where a path names the namespace, what is above it. None lies in
 * another. Pure.
 */
export function rootsOf({ zones }: Pick<VcenterPlaces, 'zones'>): string[] {
  const folders = Object.values(zones).map(({ folder }) => {
    const parts = folder.split('/');
    const ofNamespace = parts.findIndex((part) => part.includes('{namespace}'));
    return (ofNamespace === -1 ? parts : parts.slice(0, ofNamespace)).join('/');
  });
  const all = [...new Set(folders)].toSorted();
  return all.filter((folder) => !all.some((other) => folder.startsWith(`${other}/`)));
}

/** Every VM below these folders; with those that come and those that go. Pure. */
export const filterOf = (folders: readonly ManagedObjectReference[]): PropertyFilterSpec => ({
  propSet: [{ type: 'VirtualMachine', pathSet: [...watchedPaths, ...ownerPaths] }],
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
