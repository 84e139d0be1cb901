import { z } from 'zod';

import type { ObservationRequest } from '../../../contracts/virtual-machine/activities.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { failureCode } from '../../../runtime/failure.ts';
import type { Tools } from '../dependencies.ts';
import { datastoreRef } from '../references.ts';
import type { VcenterRest } from '../rest/client.ts';
import { findIso, pathInDatastore } from '../rest/item-storage.ts';

/** An item's file stays where it is until somebody replaces the item. */
const rememberedMs = 5 * 60_000;

/** Paths of ISOs as vim25 has them, `[datastore] folder/file.iso`. */
export interface Isos {
  /** Null: it has no ISO, or is not there. */
  pathOf(tools: Pick<Tools, 'gateway' | 'scope'>, item: string): Promise<string | null>;
}

const seen = z.object({ name: z.string(), 'summary.url': z.string() });

export function openIsos(rest: VcenterRest, clock: Pick<Clock, 'monotonicMs'>): Isos {
  const known = new Map<string, { path: string; untilMs: number }>();
  return {
    pathOf: async ({ gateway, scope: { signal } }, item) => {
      // It may be a path already.
      if (item.startsWith('[')) return item;
      const before = known.get(item);
      if (before !== undefined && clock.monotonicMs() < before.untilMs) return before.path;
      known.delete(item);
      const file = await findIso(rest, item, signal).catch((error: unknown) =>
        failureCode(error) === 'VsphereObjectNotFound' ? null : Promise.reject(error),
      );
      if (file === null) return null;
      const [datastore] = await gateway.retrieve(
        {
          propSet: [{ type: 'Datastore', pathSet: ['name', 'summary.url'] }],
          objectSet: [{ obj: datastoreRef(file.datastoreId) }],
        },
        signal,
      );
      const read = seen.safeParse(datastore?.properties).data;
      const inside = read === undefined ? null : pathInDatastore(file.uri, read['summary.url']);
      if (read === undefined || inside === null) return null;
      const path = `[${read.name}] ${inside}`;
      known.set(item, { path, untilMs: clock.monotonicMs() + rememberedMs });
      return path;
    },
  };
}

export const isoPaths = async (
  tools: Pick<Tools, 'gateway' | 'scope'>,
  isos: Isos,
  asked: ObservationRequest['isos'],
): Promise<Record<string, string | null>> =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(asked).map(
        async ([name, item]) => [name, item === null ? null : await isos.pathOf(tools, item)] as const,
      ),
    ),
  );
