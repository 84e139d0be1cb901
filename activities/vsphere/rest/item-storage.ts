import { z } from 'zod';

import type { VcenterRest } from './client.ts';

const storage = z.array(z.looseObject({ name: z.string().default(''), storage_backing: z.looseObject({ datastore_id: z.string().default('') }).default({ datastore_id: '' }), storage_uris: z.array(z.string()).default([]) }));

/** Where the ISO of a library item lies. */
export interface ItemFile {
  datastoreId: string;
  /** Below the datastore: `contentlib-…/….iso`. */
  path: string;
}

/** The first ISO of an item; null: it has none that lies in a datastore. @throws VsphereObjectNotFound */
export async function findIso(rest: VcenterRest, itemId: string, signal: AbortSignal): Promise<ItemFile | null> {
  const files = await rest.call({ method: 'GET', path: '/com/vmware/content/library/item/storage', query: { library_item_id: itemId } }, storage, signal);
  const iso = files.find(({ name }) => name.toLowerCase().endsWith('.iso'));
  const [uri] = iso?.storage_uris ?? [];
  const path = uri === undefined ? null : pathInDatastore(uri);
  return iso === undefined || path === null ? null : { datastoreId: iso.storage_backing.datastore_id, path };
}

/** Of `ds:///vmfs/volumes/<id>/contentlib-…/a.iso?serverId=…`; pure. Null: it is something else. */
export const pathInDatastore = (uri: string): string | null => /\/(?<path>contentlib-[^?]+)(\?|$)/u.exec(uri)?.groups?.['path'] ?? null;
