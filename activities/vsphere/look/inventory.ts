import type { VcenterGateway } from '../types.ts';
import type { ManagedObjectReference } from '../wire/values.ts';

/** How long it is taken for granted that a path leads where it led. What is not there is looked for each time. */
const rememberedMs = 60_000;

/** Paths of the inventory, each asked for once in a while: those of settings lead to the same objects for months. */
export interface Inventory {
  find(path: string, signal: AbortSignal): Promise<ManagedObjectReference | null>;
  /** It leads there no more. */
  forget(path: string): void;
}

export function openInventory(gateway: Pick<VcenterGateway, 'findByPath'>, nowMs: () => number = () => performance.now()): Inventory {
  const known = new Map<string, { ref: ManagedObjectReference; untilMs: number }>();
  return {
    find: async (path, signal) => {
      const before = known.get(path);
      if (before !== undefined && nowMs() < before.untilMs) return before.ref;
      known.delete(path);
      const ref = await gateway.findByPath(path, signal);
      if (ref !== null) known.set(path, { ref, untilMs: nowMs() + rememberedMs });
      return ref;
    },
    forget: (path) => void known.delete(path),
  };
}
