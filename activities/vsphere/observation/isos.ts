import { z } from 'zod';

import type { ObservationRequest, VcenterObservation } from '../../../contracts/virtual-machine/activities.ts';
import type { Lacking } from '../../../contracts/virtual-machine/observation.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { failureCode } from '../../../runtime/failure.ts';
import type { Tools } from '../dependencies.ts';
import type { VcenterRest } from '../rest/client.ts';
import { datastoreRef } from '../wire/values.ts';
import { readPart } from './read-part.ts';

/** An item's file stays where it is until the item is replaced. */
const rememberedMs = 5 * 60_000;

/** Paths of ISOs as vim25 has them, `[datastore] folder/file.iso`. */
export interface Isos {
  /** Why there is none, where it has no ISO, or is not there. */
  pathOf(tools: Pick<Tools, 'gateway' | 'scope'>, item: string): Promise<string | Lacking>;
}

const datastoreSchema = z.object({ name: z.string(), 'summary.url': z.string() });

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
        failureCode(error) === 'VsphereObjectNotFound' ? 'gone' : Promise.reject(error),
      );
      if (file === 'gone')
        return {
          reason: 'NotFound',
          message: `there is no item ${item} in the content libraries. Name another image, or publish it again`,
        };
      if (file === null)
        return {
          reason: 'NotReady',
          message: `item ${item} of the content library has no ISO in a datastore. Name the image of an ISO, and see that its content is downloaded`,
        };
      const [datastore] = await gateway.retrieve(
        {
          propSet: [{ type: 'Datastore', pathSet: ['name', 'summary.url'] }],
          objectSet: [{ obj: datastoreRef(file.datastoreId) }],
        },
        signal,
      );
      const read = datastoreSchema.safeParse(datastore?.properties).data;
      const inside = read === undefined ? null : pathInDatastore(file.uri, read['summary.url']);
      if (read === undefined || inside === null)
        return {
          reason: 'NotReady',
          message: `the ISO of item ${item} is at ${file.uri}, which is no path in a datastore. Move its content library to another datastore`,
        };
      const path = `[${read.name}] ${inside}`;
      known.set(item, { path, untilMs: clock.monotonicMs() + rememberedMs });
      return path;
    },
  };
}

/** One that cannot be read keeps nothing else from being observed. */
export async function isoPaths(
  tools: Pick<Tools, 'gateway' | 'scope' | 'clock'>,
  isos: Isos,
  asked: ObservationRequest['isos'],
): Promise<Pick<VcenterObservation, 'isos' | 'lackingIsos'>> {
  const rows = await Promise.all(
    Object.entries(asked).map(
      async ([name, item]) => [name, item === null ? null : await pathOrLack(tools, isos, item)] as const,
    ),
  );
  const lacking = rows.flatMap(([name, found]) =>
    found === null || typeof found === 'string' ? [] : [[name, found] as const],
  );
  return {
    isos: Object.fromEntries(rows.map(([name, found]) => [name, typeof found === 'string' ? found : null])),
    ...(lacking.length > 0 && { lackingIsos: Object.fromEntries(lacking) }),
  };
}

const pathOrLack = (
  { gateway, scope, clock }: Pick<Tools, 'gateway' | 'scope' | 'clock'>,
  isos: Isos,
  item: string,
): Promise<string | Lacking> =>
  readPart(
    clock,
    scope.signal,
    (signal) => isos.pathOf({ gateway, scope: { ...scope, signal } }, item),
    (lacking) => lacking,
  );

const storage = z.array(
  z.looseObject({
    name: z.string().default(''),
    storage_backing: z.looseObject({ datastore_id: z.string().default('') }).default({ datastore_id: '' }),
    storage_uris: z.array(z.string()).default([]),
  }),
);

/** Where the ISO of a library item lies. */
export interface ItemFile {
  datastoreId: string;
  /** `ds:///vmfs/volumes/<id>/contentlib-…/….iso?serverId=…`. */
  uri: string;
}

/** The first ISO of an item; null: it has none that lies in a datastore. @throws VsphereObjectNotFound */
export async function findIso(rest: VcenterRest, itemId: string, signal: AbortSignal): Promise<ItemFile | null> {
  const files = await rest.call(
    { method: 'GET', path: '/com/vmware/content/library/item/storage', query: { library_item_id: itemId } },
    storage,
    signal,
  );
  const iso = files.find(({ name }) => name.toLowerCase().endsWith('.iso'));
  const [uri] = iso?.storage_uris ?? [];
  return iso === undefined || uri === undefined || iso.storage_backing.datastore_id === ''
    ? null
    : { datastoreId: iso.storage_backing.datastore_id, uri };
}

/**
 * What comes after the datastore in the URI of a file. Pure.
 *
 * @param url `summary.url` of the datastore: `ds:///vmfs/volumes/<id>/`
 * @returns `contentlib-…/….iso`; null: it lies elsewhere
 */
export function pathInDatastore(uri: string, url: string): string | null {
  const [path = ''] = uri.split('?');
  const base = url.endsWith('/') ? url : `${url}/`;
  if (!path.startsWith(base)) return null;
  try {
    return decodeURIComponent(path.slice(base.length)) || null;
  } catch {
    // A percent sign of its own.
    return path.slice(base.length);
  }
}
