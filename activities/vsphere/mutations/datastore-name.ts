import { z } from 'zod';
import { droverFailure } from '../../../runtime/failure.ts';
import { datastoreRef } from '../references.ts';
import type { VcenterGateway } from '../types.ts';

const paths = { name: 'name', hasFolders: 'capability.topLevelDirectoryCreateSupported' } as const;

type Reading = Pick<VcenterGateway, 'vcenter' | 'retrieve'>;

async function read(gateway: Reading, id: string, signal: AbortSignal): Promise<{ name: string; hasFolders: boolean }> {
  const [object] = await gateway.retrieve(
    { propSet: [{ type: 'Datastore', pathSet: Object.values(paths) }], objectSet: [{ obj: datastoreRef(id) }] },
    signal,
  );
  const name = z.string().safeParse(object?.properties[paths.name]);
  if (!name.success) throw droverFailure('VsphereObjectNotFound', `vCenter ${gateway.vcenter} has no datastore ${id}`);
  return { name: name.data, hasFolders: object?.properties[paths.hasFolders] !== false };
}

/** What paths of files begin with. @throws VsphereObjectNotFound */
export const readDatastoreName = async (gateway: Reading, id: string, signal: AbortSignal): Promise<string> =>
  (await read(gateway, id, signal)).name;

/**
 * Path of a folder at the top of a datastore, such as `[fast] web`.
 *
 * @throws VsphereObjectNotFound; VsphereNotSupported where the datastore (vSAN) makes no folders there
 */
export async function topFolderPath(
  gateway: Reading,
  id: string,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  const { name, hasFolders } = await read(gateway, id, signal);
  if (!hasFolders)
    throw droverFailure(
      'VsphereNotSupported',
      `Datastore ${name} of vCenter ${gateway.vcenter} has no folders of files, as vSAN: a VM there cannot be made from cached files`,
    );
  return `[${name}] ${folder}`;
}
