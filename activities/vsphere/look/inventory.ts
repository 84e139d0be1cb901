import type { ReadObject } from '../properties.ts';
import { shareReads } from '../share-reads.ts';
import type { VcenterGateway } from '../types.ts';
import type { ManagedObjectReference } from '../wire/values.ts';
import type { PropertyFilterSpec } from '../wire/vim/types.ts';

/** How long it is taken for granted that a path leads where it led. What is not there is looked for each time. */
const rememberedMs = 60_000;

/** What many looks have in common. Paths are asked for once in a while: those of settings lead to the same objects for months. */
export interface Inventory {
  find(path: string, signal: AbortSignal): Promise<ManagedObjectReference | null>;
  /** It leads there no more. */
  forget(path: string): void;
  /** As the gateway reads it; looks at many VMs of one namespace share the list of what is around them, each as it is after it has asked. */
  retrieve(spec: PropertyFilterSpec, signal: AbortSignal): Promise<readonly ReadObject[]>;
}

export function openInventory(gateway: Pick<VcenterGateway, 'findByPath' | 'retrieve'>, nowMs: () => number = () => performance.now()): Inventory {
  const findByPath = shareReads((path: string, signal) => gateway.findByPath(path, signal), (path) => path);
  const known = new Map<string, { ref: ManagedObjectReference; untilMs: number }>();
  return {
    find: async (path, signal) => {
      const before = known.get(path);
      if (before !== undefined && nowMs() < before.untilMs) return before.ref;
      known.delete(path);
      const ref = await findByPath(path, signal);
      if (ref !== null) known.set(path, { ref, untilMs: nowMs() + rememberedMs });
      return ref;
    },
    forget: (path) => void known.delete(path),
    retrieve: shareReads((spec: PropertyFilterSpec, signal) => gateway.retrieve(spec, signal), (spec) => JSON.stringify(spec)),
  };
}
