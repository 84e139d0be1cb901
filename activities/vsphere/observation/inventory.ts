import type { Clock } from '../../../runtime/clock.ts';
import { unlessAborted } from '../../../runtime/unless-aborted.ts';
import { type ReadObject, traversal } from '../properties.ts';
import type { VcenterGateway } from '../types.ts';
import { folderRef, type ManagedObjectReference } from '../wire/values.ts';
import type { PropertyFilterSpec } from '../wire/vim/types.ts';
import { type ListedVm, listPaths, toListedVm } from './read-vm.ts';

/** How long the object of a path is cached. A path without an object is searched each time. */
const rememberedMs = 60_000;

/** How long a list of VMs is cached: there may be thousands, and all but one of them belong to other objects. */
const listedMs = 10_000;

/**
 * What many observations have in common. Paths are cached for a while: those of settings lead to the same
 * objects for months.
 */
export interface Inventory {
  find(path: string, signal: AbortSignal): Promise<ManagedObjectReference | null>;
  /** Removes the path from the cache: it leads there no more. */
  forget(path: string): void;
  /**
   * As the gateway reads it. Observations of many VMs of one namespace share a read that begins after each of
   * them has asked.
   */
  retrieve(spec: PropertyFilterSpec, signal: AbortSignal): Promise<readonly ReadObject[]>;
  /**
   * The VMs in these folders and one level below, as they were a moment ago.
   *
   * @param isAnew as they are now
   */
  vmsIn(folders: readonly string[], isAnew: boolean, signal: AbortSignal): Promise<readonly ListedVm[]>;
}

export function openInventory(
  gateway: Pick<VcenterGateway, 'vcenter' | 'findByPath' | 'retrieve'>,
  clock: Pick<Clock, 'monotonicMs'>,
): Inventory {
  const findByPath = shareReads(
    (path: string, signal) => gateway.findByPath(path, signal),
    (path) => path,
  );
  const listVms = shareReads(
    (folders: readonly string[], signal) => readVmsIn(gateway, folders, signal),
    (folders) => folders.join(),
  );
  const lists = new Map<string, { vms: readonly ListedVm[]; untilMs: number }>();
  const known = new Map<string, { ref: ManagedObjectReference; untilMs: number }>();
  return {
    find: async (path, signal) => {
      const before = known.get(path);
      if (before !== undefined && clock.monotonicMs() < before.untilMs) return before.ref;
      known.delete(path);
      const ref = await findByPath(path, signal);
      if (ref !== null) known.set(path, { ref, untilMs: clock.monotonicMs() + rememberedMs });
      return ref;
    },
    forget: (path) => void known.delete(path),
    vmsIn: async (folders, isAnew, signal) => {
      if (folders.length === 0) return [];
      const key = folders.join();
      const before = lists.get(key);
      if (!isAnew && before !== undefined && clock.monotonicMs() < before.untilMs) return before.vms;
      const vms = await listVms(folders, signal);
      // There may be a thousand namespaces: what has expired is not kept.
      for (const [other, { untilMs }] of lists) if (clock.monotonicMs() >= untilMs) lists.delete(other);
      lists.set(key, { vms, untilMs: clock.monotonicMs() + listedMs });
      return vms;
    },
    retrieve: shareReads(
      (spec: PropertyFilterSpec, signal) => gateway.retrieve(spec, signal),
      (spec) => JSON.stringify(spec),
    ),
  };
}

async function readVmsIn(
  { vcenter, retrieve }: Pick<VcenterGateway, 'vcenter' | 'retrieve'>,
  folders: readonly string[],
  signal: AbortSignal,
): Promise<ListedVm[]> {
  const read = await retrieve(
    {
      propSet: [{ type: 'VirtualMachine', pathSet: [...listPaths] }],
      objectSet: folders.map((id) => ({
        obj: folderRef(id),
        selectSet: [traversal('Folder', 'childEntity', [traversal('Folder', 'childEntity')])],
      })),
    },
    signal,
  );
  return read.filter(({ ref }) => ref.type === 'VirtualMachine').map((object) => toListedVm({ name: vcenter }, object));
}

/**
 * Callers that ask the same share a call. The call begins after each of them has asked, so that none gets an older
 * state: a caller that asks while a call is under way shares the next one. At most one call is under way
 * for each question.
 *
 * @returns the same; a caller that aborts is released, and the call continues for the others, within the time
 * of any call
 */
export function shareReads<Asked, Answer>(
  read: (asked: Asked, signal: AbortSignal) => Promise<Answer>,
  keyOf: (asked: Asked) => string,
): (asked: Asked, signal: AbortSignal) => Promise<Answer> {
  const running = new Map<string, Promise<Answer>>();
  const next = new Map<string, Promise<Answer>>();

  const begin = async (key: string, asked: Asked): Promise<Answer> => {
    await running.get(key)?.catch(() => undefined);
    next.delete(key);
    const answer = read(asked, new AbortController().signal);
    running.set(key, answer);
    try {
      return await answer;
    } finally {
      if (running.get(key) === answer) running.delete(key);
    }
  };
  return async (asked, signal) => {
    signal.throwIfAborted();
    const key = keyOf(asked);
    const shared = next.get(key) ?? begin(key, asked);
    next.set(key, shared);
    // All callers may have aborted.
    shared.catch(() => undefined);
    return await unlessAborted(shared, signal);
  };
}
