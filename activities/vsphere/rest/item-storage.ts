import { z } from 'zod';

import type { VcenterRest } from './client.ts';

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
