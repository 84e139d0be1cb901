import { labClock } from '../clock.ts';
import type { FlavorName } from './handle.ts';
import type { MigrateMode } from './host-profile.ts';
import { OpenStackError, type Session } from './session.ts';

const POLL_MS = 150;
const BUILD_DEADLINE_MS = 120_000;
const LIST_POLL_MS = 500;
/** A list with details costs Nova much more than one of names. */
const ROUNDS_PER_POLL = 3;
/** More make Placement refuse claims for one host that meet, and Nova wait and try again. */
const PARALLEL_REQUESTS = 2;

/** What a seeded instance is like. */
export interface InstanceSpec {
  readonly name: string;
  /** The compute service's host; without it the scheduler chooses. */
  readonly host?: string;
  /** Default: the lab's; `amphora`: one with that tag. */
  readonly image?: 'amphora';
  /** Default `lab.tiny`; `flow.…`: one that a test has made. */
  readonly flavor?: FlavorName | `flow.${string}`;
  /** How its attempts to move go (metadata `lab:migrate`); default: as its host says. */
  readonly migrate?: MigrateMode | readonly MigrateMode[];
  /** How long they take (metadata `lab:seconds`). */
  readonly seconds?: number | readonly number[];
  readonly metadata?: Readonly<Record<string, string>>;
  /** Id of a server group. */
  readonly serverGroup?: string;
  readonly availabilityZone?: string;
  /** Default `ACTIVE`. */
  readonly state?: SeedState;
  readonly locked?: boolean;
}

export type SeedState = 'ACTIVE' | 'SHUTOFF' | 'PAUSED' | 'SUSPENDED' | 'RESCUE' | 'ERROR' | 'VERIFY_RESIZE';

/** The fields of a server that tests read, as Nova's API names them. */
export interface Server {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly locked: boolean;
  readonly fault?: { readonly message: string };
  readonly 'OS-EXT-SRV-ATTR:host': string | null;
  readonly 'OS-EXT-SRV-ATTR:hypervisor_hostname': string | null;
  readonly 'OS-EXT-STS:task_state': string | null;
  readonly 'OS-EXT-STS:vm_state': string;
  readonly 'OS-EXT-STS:power_state': number;
}

/** What brings an ACTIVE server into the state. */
const stateActions: Readonly<Record<Exclude<SeedState, 'ACTIVE'>, object>> = {
  SHUTOFF: { 'os-stop': null },
  PAUSED: { pause: null },
  SUSPENDED: { suspend: null },
  RESCUE: { rescue: {} },
  ERROR: { 'os-resetState': { state: 'error' } },
  VERIFY_RESIZE: { migrate: null },
};

/** Creates the instance and waits until it is as the spec says. @throws when it is not within two minutes. */
export async function createInstance(session: Session, spec: InstanceSpec): Promise<Server> {
  const [server] = await createInstances(session, [spec]);
  return server!;
}

/** Creates instances and waits until all are as their specs say; resolves to them in the specs' order. */
export async function createInstances(session: Session, specs: readonly InstanceSpec[]): Promise<Server[]> {
  const ids = await eachInParallel(specs, (spec) => requestInstance(session, spec));
  const hosts = new Set(specs.map(({ host }) => host));
  await waitForServers(session, ids, () => 'ACTIVE', hosts.size === 1 ? specs[0]?.host : undefined);
  const state = (index: number) => specs[index]!.state ?? 'ACTIVE';
  await eachInParallel(specs, async (spec, index) => {
    const wanted = state(index);
    if (wanted !== 'ACTIVE') await act(session, ids[index]!, stateActions[wanted]);
  });
  const servers = await waitForServers(session, ids, state);
  // Last, since a lock keeps its owner from most other actions.
  await eachInParallel(specs, async (spec, index) => {
    if (spec.locked) await act(session, ids[index]!, { lock: null });
  });
  return servers.map((server, index) => ({ ...server, locked: specs[index]!.locked ?? false }));
}

async function eachInParallel<Item, Result>(
  items: readonly Item[],
  action: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < items.length; index = next++) results[index] = await action(items[index]!, index);
  };
  await Promise.all(Array.from({ length: PARALLEL_REQUESTS }, work));
  return results;
}

/**
 * One list for all of them, of their host where they share one: a request per server and poll would keep Nova busy. One
 * alone is read by its id, as it may have left its host again by then.
 */
async function waitForServers(
  session: Session,
  ids: readonly string[],
  status: (index: number) => string,
  host?: string,
): Promise<Server[]> {
  const deadline = labClock().monotonicMs() + BUILD_DEADLINE_MS;
  for (;;) {
    const [only, ...others] = ids;
    const listed =
      only !== undefined && others.length === 0 ? [await getServer(session, only)] : await listServers(session, host);
    const byId = new Map(listed.map((server) => [server.id, server]));
    const servers = ids.map((id) => byId.get(id));
    const late = servers.filter((server, index) => server === undefined || !isStable(server, status(index)));
    if (late.length === 0) return servers as Server[];
    if (labClock().monotonicMs() > deadline)
      throw new Error(
        `${late.length} of ${ids.length} servers are not as wanted after ${BUILD_DEADLINE_MS / 1000} s: ${late.map((server) => server?.status).join(', ')}`,
      );
    await labClock().sleep(LIST_POLL_MS);
  }
}

/** @throws when the server is in ERROR and should not be. */
function isStable(server: Server, status: string): boolean {
  if (server.status === 'ERROR' && status !== 'ERROR')
    throw new Error(`server ${server.name} is in ERROR and not ${status}: ${server.fault?.message ?? 'no fault'}`);
  return server.status === status && server['OS-EXT-STS:task_state'] === null;
}

/** Asks Nova for the instance and does not wait; resolves to its id. */
export async function requestInstance(session: Session, spec: InstanceSpec): Promise<string> {
  const metadata = {
    ...spec.metadata,
    ...(spec.migrate === undefined ? {} : { 'lab:migrate': [spec.migrate].flat().join(',') }),
    ...(spec.seconds === undefined ? {} : { 'lab:seconds': [spec.seconds].flat().join(',') }),
  };
  const body = {
    server: {
      name: spec.name,
      imageRef: spec.image === 'amphora' ? session.handle.amphoraImageId : session.handle.imageId,
      flavorRef: spec.flavor ?? 'lab.tiny',
      networks: 'none',
      metadata,
      ...(spec.host === undefined ? {} : { host: spec.host }),
      ...(spec.availabilityZone === undefined ? {} : { availability_zone: spec.availabilityZone }),
    },
    ...(spec.serverGroup === undefined ? {} : { 'os:scheduler_hints': { group: spec.serverGroup } }),
  };
  return (await session.compute<{ server: { id: string } }>('POST', '/servers', { body })).server.id;
}

export function act(session: Session, id: string, action: object, microversion?: string): Promise<void> {
  return session.compute('POST', `/servers/${id}/action`, {
    body: action,
    ...(microversion === undefined ? {} : { microversion }),
  });
}

export async function getServer(session: Session, id: string): Promise<Server> {
  return (await session.compute<{ server: Server }>('GET', `/servers/${id}`)).server;
}

/** Waits until the server has the status and no task. @throws when it is in ERROR instead, or at the deadline. */
export async function waitForServer(
  session: Session,
  id: string,
  status: string,
  deadlineMs = BUILD_DEADLINE_MS,
): Promise<Server> {
  const deadline = labClock().monotonicMs() + deadlineMs;
  for (;;) {
    const server = await getServer(session, id);
    if (isStable(server, status)) return server;
    if (labClock().monotonicMs() > deadline)
      throw new Error(
        `server ${server.name} is ${server.status} (task ${server['OS-EXT-STS:task_state']}) and not ${status}`,
      );
    await labClock().sleep(POLL_MS);
  }
}

/** Servers of all projects, on one host or everywhere. */
export async function listServers(session: Session, host?: string): Promise<Server[]> {
  const query = host === undefined ? '' : `&host=${encodeURIComponent(host)}`;
  return (await session.compute<{ servers: Server[] }>('GET', `/servers/detail?all_tenants=1${query}`)).servers;
}

/**
 * Deletes the servers whatever state they are in, and waits until they are gone. One whose deletion fails
 * is deleted again.
 */
export async function deleteInstances(
  session: Session,
  ids: readonly string[],
  deadlineMs = BUILD_DEADLINE_MS,
): Promise<void> {
  if (ids.length === 0) return;
  const deadline = labClock().monotonicMs() + deadlineMs;
  await eachInParallel(ids, (id) => requestDeletion(session, id));
  for (let round = 1; ; round += 1) {
    await labClock().sleep(LIST_POLL_MS);
    const { servers } = await session.compute<{ servers: Pick<Server, 'id' | 'name'>[] }>(
      'GET',
      '/servers?all_tenants=1',
    );
    const left = servers.filter(({ id }) => ids.includes(id));
    if (left.length === 0) return;
    if (labClock().monotonicMs() > deadline)
      throw new Error(
        `${left.length} servers are not deleted after ${deadlineMs / 1000} s: ${left.map(({ name }) => name).join(', ')}`,
      );
    if (round % ROUNDS_PER_POLL === 0)
      await deleteAgain(
        session,
        left.map(({ id }) => id),
      );
  }
}

/** Those that Nova is not deleting: their deletion failed, or met something else. */
async function deleteAgain(session: Session, ids: readonly string[]): Promise<void> {
  const idle = (await listServers(session)).filter(
    (server) => ids.includes(server.id) && server['OS-EXT-STS:task_state'] !== 'deleting',
  );
  await eachInParallel(idle, ({ id }) => requestDeletion(session, id));
}

async function requestDeletion(session: Session, id: string): Promise<void> {
  try {
    await session.compute('DELETE', `/servers/${id}`);
  } catch (error) {
    // 404: gone meanwhile. 409: in the middle of something; the next round asks again.
    if (!(error instanceof OpenStackError && (error.status === 404 || error.status === 409))) throw error;
  }
}

export async function createServerGroup(
  session: Session,
  name: string,
  policy: 'affinity' | 'anti-affinity' | 'soft-affinity' | 'soft-anti-affinity',
): Promise<string> {
  const { server_group } = await session.compute<{ server_group: { id: string } }>('POST', '/os-server-groups', {
    body: { server_group: { name, policy } },
  });
  return server_group.id;
}
