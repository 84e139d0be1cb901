import type { Cloud } from '../cloud.ts';
import type { ComputeHost, Migration, Server } from '../model.ts';
import { novaRefusal, type WireAnswer, type WireRequest } from '../wire.ts';

/** A request of Nova, with the cloud that it is about. */
export interface NovaCall {
  readonly cloud: Cloud;
  readonly request: WireRequest;
  /** Whether an answer may take time. A request of the test is answered at once. */
  readonly takesTime: boolean;
}

export const ok = (body: unknown): WireAnswer => ({ status: 200, body });
export const accepted: WireAnswer = { status: 202 };

export function needAdmin({ request }: NovaCall, policy: string): void {
  if (!request.user.roles.includes('admin')) throw novaRefusal(403, `Policy doesn't allow ${policy} to be performed.`);
}

export function findServer({ cloud }: NovaCall, id: string, includingDeleted = false): Server {
  const server = cloud.model.servers.get(id);
  if (server === undefined || (server.isDeleted && !includingDeleted))
    throw novaRefusal(404, `Instance ${id} could not be found.`);
  return server;
}

export function findMigration({ cloud }: NovaCall, server: Server, id: string, status: number): Migration {
  const migration = cloud.model.migrations.find((one) => String(one.id) === id && one.instanceId === server.id);
  if (migration === undefined) throw novaRefusal(status, `Migration ${id} not found for instance ${server.id}`);
  return migration;
}

/** Between Nova's check of a record and its write, in which another request may do the same. */
const mostCheckToWriteMs = 15;

export async function checkToWrite({ cloud, takesTime }: NovaCall): Promise<void> {
  if (takesTime) await cloud.clock.sleep(cloud.random() * mostCheckToWriteMs);
}

/**
 * How long Nova's parts wait for an answer of another: its rpc_response_timeout, and its long_rpc_timeout for what
 * takes time.
 */
export const rpcTimeoutMs = { short: 120_000, long: 300_000 } as const;

/**
 * Sends a message to a nova-compute and waits for its answer. A dead one's successor gets the message.
 *
 * @returns false: no answer came in time
 */
export async function askCompute(
  { cloud, takesTime }: NovaCall,
  host: ComputeHost,
  timeout: keyof typeof rpcTimeoutMs,
  action: (answer: () => void) => void,
): Promise<boolean> {
  const answered = Promise.withResolvers<boolean>();
  cloud.cast(host, () => action(() => answered.resolve(true)));
  if (!takesTime) return true;
  cloud.after(rpcTimeoutMs[timeout], () => answered.resolve(false));
  return await answered.promise;
}

/** One page of a listing, and where the next one begins. */
export function pageOf<Item>(
  items: readonly Item[],
  { query }: WireRequest,
  id: (item: Item) => string,
  path: string,
): { page: Item[]; links: object[] | undefined } {
  const marker = query.get('marker');
  const most = Math.min(Number(query.get('limit') ?? 1_000), 1_000);
  const start = marker === null ? 0 : items.findIndex((item) => id(item) === marker) + 1;
  if (marker !== null && start === 0) throw novaRefusal(400, `marker [${marker}] not found`);
  const page = items.slice(start, start + most);
  const last = page.at(-1);
  const isFull = page.length === most && last !== undefined;
  if (!isFull) return { page, links: undefined };
  const rest = new URLSearchParams([...query].filter(([name]) => name !== 'marker'));
  rest.set('marker', id(last));
  return { page, links: [{ rel: 'next', href: `http://nova.fake/v2.1${path}?${rest.toString()}` }] };
}
