import type { Cloud } from './cloud.ts';
import type { SimulatedVolume } from './model.ts';
import { Refused, type WireAnswer } from './wire.ts';

/** Volumes of the one project: listed, read and deleted. None that a server has is deleted. */
export function answerCinder({ model: { volumes } }: Cloud, method: string, path: string): WireAnswer {
  if (method === 'GET' && path === '/volumes/detail')
    return { status: 200, body: { volumes: [...(volumes?.values() ?? [])].map(view) } };
  const [, id = ''] = /^\/volumes\/([^/]+)$/u.exec(path) ?? [];
  if (id === '' || !['GET', 'DELETE'].includes(method))
    throw new Error(`the simulated Cinder does not know ${method} ${path}`);
  const volume = volumes?.get(id);
  if (volume === undefined) throw refusal(404, 'itemNotFound', `Volume ${id} could not be found.`);
  if (method === 'GET') return { status: 200, body: { volume: view(volume) } };
  if (volume.serverId !== null)
    throw refusal(400, 'badRequest', 'Invalid volume: Volume status must be available or error or error_restoring.');
  volumes?.delete(id);
  return { status: 202 };
}

const refusal = (code: number, name: string, message: string): Refused =>
  new Refused({ status: code, body: { [name]: { code, message } } });

const view = ({ id, name, metadata, serverId, createdMs }: SimulatedVolume): object => ({
  id,
  name,
  metadata,
  status: serverId === null ? 'available' : 'in-use',
  attachments: serverId === null ? [] : [{ server_id: serverId }],
  // Cinder means UTC, and does not say it.
  created_at: new Date(createdMs).toISOString().replace('Z', '000'),
});
