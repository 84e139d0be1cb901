import { droverFailure, failureCode } from '../../runtime/failure.ts';
import { mutate } from '../lib/mutate.ts';
import { growingDelayMs, waitFor } from '../lib/wait.ts';
import type { Tools } from './dependencies.ts';
import { smokeServerPrefix } from './region-reads.ts';
import type { InstanceDetail } from './types.ts';

export interface SmokeServerRequest {
  owner: SmokeOwner;
  /** Ids. */
  flavorId: string;
  imageId: string;
}

/** The test servers that drover has made on a host, oldest first, those on their way out included. */
export const findSmokeServers = async (
  { nova, scope }: Pick<Tools, 'nova' | 'scope'>,
  host: string,
): Promise<InstanceDetail[]> =>
  (await nova.serversNamed(smokeServerName(host), scope.signal)).filter((server) => isSmokeServer(server, host));

/**
 * Makes a test server on exactly that host, without a network, unless drover has one there. What is left of an earlier
 * test goes. Safe to repeat and to run twice at once: Nova takes two servers of one name, and of two that were made at
 * once all keep the oldest.
 *
 * @throws SmokeServerRefused Nova's words say why; Stopped
 * @see Compute API, "Create Server", microversion 2.74 for the host
 */
export async function ensureSmokeServer(tools: Tools, request: SmokeServerRequest): Promise<InstanceDetail> {
  const { owner } = request;
  const kept = await keepOldest(tools, owner);
  if (kept !== null) return kept;
  const id = await create(tools, request);
  const own = await keepOldest(tools, owner, id);
  if (own === null)
    throw droverFailure('SmokeServerFailed', `Test server ${id} on ${owner.host} was deleted as soon as it was made`);
  return own;
}

/**
 * The oldest one of this Hypervisor that can still become ACTIVE; all others that drover has made on the
 * host are deleted.
 *
 * @param mine one that was just made: where it is in ERROR already, it is kept to be asked why
 */
async function keepOldest(tools: Tools, owner: SmokeOwner, mine?: string): Promise<InstanceDetail | null> {
  const servers = await findSmokeServers(tools, owner.host);
  const usable = servers.find(
    (server) => isOwnedBy(server, owner) && server.status !== 'ERROR' && server.taskState !== 'deleting',
  );
  const kept = usable ?? servers.find(({ id }) => id === mine) ?? null;
  for (const server of servers)
    if (server.id !== kept?.id && server.taskState !== 'deleting')
      await deleteOne(tools, server, 'left of an earlier test');
  return kept;
}

async function create(tools: Tools, { owner, flavorId, imageId }: SmokeServerRequest): Promise<string> {
  const { nova, scope } = tools;
  const { host } = owner;
  const name = smokeServerName(host);
  const mutation = {
    action: 'ensureSmokeServer',
    cause: `test of Hypervisor ${owner.hypervisor}`,
    object: `server/${name}`,
    before: null,
    after: { name, host },
  };
  const create = () =>
    nova.createServer({ name, flavorId, imageId, host, metadata: smokeMetadata(owner) }, scope.signal);
  const { id } = await mutate(tools, mutation, create, ({ id, requestId }) => ({ requestId, object: `server/${id}` }));
  return id;
}

export interface SmokeServersGone {
  host: string;
  /** Without: all of them. */
  ids?: readonly string[];
  /** From now. */
  deadlineMs: number;
}

/** A deletion without effect is asked for again. */
const askAgainMs = 10_000;

/**
 * Deletes the test servers that drover has made on a host, all or those with the ids, and waits until they are gone.
 * Safe to repeat and to run twice at once. A server of the same name without drover's metadata belongs to another user.
 *
 * @returns false when some were left at the deadline
 * @throws Stopped
 */
export function ensureSmokeServerGone(tools: Tools, { host, ids, deadlineMs }: SmokeServersGone): Promise<boolean> {
  const { scope, clock } = tools;
  const sinceMs = clock.now();
  const askedAtMs = new Map<string, number>();
  return waitFor<boolean>({
    scope,
    clock,
    async observe() {
      const servers =
        ids?.length === 0 ? [] : (await findSmokeServers(tools, host)).filter(({ id }) => ids?.includes(id) ?? true);
      if (servers.length === 0) return { done: true };
      const waitedMs = clock.now() - sinceMs;
      if (waitedMs >= deadlineMs || clock.now() >= scope.deadlineMs) return { done: false };
      for (const server of servers) {
        if (clock.now() - (askedAtMs.get(server.id) ?? -Infinity) < askAgainMs) continue;
        askedAtMs.set(server.id, clock.now());
        await deleteOne(tools, server, 'its test is over');
      }
      return { againMs: growingDelayMs(waitedMs) };
    },
  });
}

/** One that is gone, or in the middle of something, is left for the next observation. */
async function deleteOne(tools: Tools, { id, name, status }: InstanceDetail, cause: string): Promise<void> {
  const { nova, scope } = tools;
  try {
    await mutate(
      tools,
      { action: 'deleteSmokeServer', cause, object: `server/${id}`, before: { name, status }, after: null },
      () => nova.deleteServer(id, scope.signal),
    );
  } catch (error) {
    const code = failureCode(error);
    if (code !== 'InstanceNotFound' && code !== 'InstanceBusy') throw error;
  }
}

/** For whom a test server is made. */
interface SmokeOwner {
  /** The compute service's `host` that it tests. */
  host: string;
  /** Of the Hypervisor. */
  hypervisor: string;
  uid: string;
}

/** Nova's metadata keys take no slash. */
const metadataKeys = {
  purpose: 'drover:purpose',
  host: 'drover:host',
  hypervisor: 'drover:hypervisor',
  uid: 'drover:hypervisor-uid',
} as const;
const purpose = 'smoke-test';

/** The longest name that Nova also gives the guest as its host name. */
const longestHostname = 63;

/** The server's name, which is the guest's host name too, so that a console that shows a login prompt shows it. */
export const smokeServerName = (host: string): string =>
  `${smokeServerPrefix}${host.toLowerCase().replaceAll(/[^a-z0-9]+/gu, '-')}`
    .slice(0, longestHostname)
    .replace(/-+$/u, '');

/** Written in the call that makes the server: what proves later that it is drover's. */
export const smokeMetadata = ({ host, hypervisor, uid }: SmokeOwner): Record<string, string> => ({
  [metadataKeys.purpose]: purpose,
  [metadataKeys.host]: host,
  [metadataKeys.hypervisor]: hypervisor,
  [metadataKeys.uid]: uid,
});

/**
 * Whether drover made the server to test that host; for whichever Hypervisor, as one that is made anew has another uid.
 */
export const isSmokeServer = ({ metadata }: Pick<InstanceDetail, 'metadata'>, host: string): boolean =>
  metadata[metadataKeys.purpose] === purpose && metadata[metadataKeys.host] === host;

export const isOwnedBy = (
  server: Pick<InstanceDetail, 'metadata'>,
  { host, uid }: Pick<SmokeOwner, 'host' | 'uid'>,
): boolean => isSmokeServer(server, host) && server.metadata[metadataKeys.uid] === uid;
