import { z } from 'zod';

import type { VcenterRest } from './client.ts';

/** Tags on VMs, by the ids of the tags: `urn:vmomi:InventoryServiceTag:…:GLOBAL`. */

const associations = '/com/vmware/cis/tagging/tag-association';
const objectOf = (vmId: string) => ({ object_id: { id: vmId, type: 'VirtualMachine' } });

/** Ids of the tags that are attached. */
export const listAttachedTags = async (rest: VcenterRest, vmId: string, signal: AbortSignal): Promise<string[]> =>
  (await rest.call(
    { method: 'POST', path: associations, query: { '~action': 'list-attached-tags' }, body: objectOf(vmId) },
    z.array(z.string()).nullish(),
    signal,
  )) ?? [];

/** Well where it is attached already. @throws VsphereObjectNotFound: there is no such tag, or no such VM */
export async function attachTag(rest: VcenterRest, tag: string, vmId: string, signal: AbortSignal): Promise<void> {
  await rest.call(
    {
      method: 'POST',
      path: `${associations}/id:${encodeURIComponent(tag)}`,
      query: { '~action': 'attach' },
      body: objectOf(vmId),
    },
    z.unknown(),
    signal,
  );
}
