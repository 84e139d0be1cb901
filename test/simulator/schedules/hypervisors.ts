import { annotations, hypervisorId, nodeFailureId, nodeMetadata } from '../../../contracts/ids.ts';
import { asSignal, progressQuery, messages } from '../../../contracts/messages.ts';
import type { NodeFailureProgress } from '../../../contracts/node-failure/run.ts';
import { labClock } from '../../../lab/clock.ts';
import { reportAgentStatus } from '../../../lab/hypervisors.ts';
import { changeService } from '../../../lab/openstack/hosts.ts';
import { act, createServerGroup, listServers, requestInstance } from '../../../lab/openstack/seed.ts';
import type { Session } from '../../../lab/openstack/session.ts';
import { applyNode, ensureRegistered, leaveAggregates, shared } from '../../faults/hypervisor-objects.ts';
import type { Actions, Cast } from './cast.ts';
import { cancel, choose, fleetOf, isEven, kvmPath, nodePath, patch, run, sessionOf, terminate } from './cast.ts';
import { NothingToDo } from './cast.ts';
import { hostOf } from './evictions.ts';
import type { EventKind, ScheduledEvent } from './schedule.ts';

/** What users, Gardener and machines do to hypervisors, and what strangers do to their services and servers in Nova. */

const by = 'schedule';
const buildMs = 10_000;
const agentMs = 2_000;
const confirmMs = 30_000;

const machineOf = ({ machines }: Cast, event: ScheduledEvent): string => choose(machines, event);
const idOf = (cast: Cast, event: ScheduledEvent): string => hypervisorId(hostOf(cast, event));
const region = (cast: Cast) => ({ session: sessionOf(cast), fleet: fleetOf(cast) });

const change = (cast: Cast, host: string, spec: object): Promise<unknown> =>
  patch(cast, kvmPath('hypervisors', host), { spec });

interface NodeReport {
  ready: 'True' | 'False' | 'Unknown';
  bootId?: string;
  isTerminating?: boolean;
}

/** As its kubelet reports it, or Kubernetes and Gardener do. */
export function reportNode(cast: Cast, host: string, { ready, bootId, isTerminating }: NodeReport): Promise<unknown> {
  const lastTransitionTime = new Date(labClock().now()).toISOString();
  const condition = (type: string, status: string): object => {
    return { type, status, reason: 'Schedule', message: 'schedule', lastTransitionTime };
  };
  const conditions = [condition('Ready', ready), ...(isTerminating === true ? [condition('Terminating', 'True')] : [])];
  const nodeInfo = bootId === undefined ? {} : { nodeInfo: { bootID: bootId } };
  return patch(cast, nodePath(host, 'status'), { status: { conditions, ...nodeInfo } });
}

/** The machine, its nova-compute and its kubelet work: whatever was wrong with them. */
export async function recoverHost(cast: Cast, host: string): Promise<void> {
  const machine = cast.deployment.hosts.host(host);
  const wasOff = machine.power === 'Off';
  if (wasOff) machine.restorePower();
  await ensureRegistered(region(cast), host);
  const bootId = wasOff ? { bootId: `boot-${labClock().now()}` } : {};
  await reportNode(cast, host, { ready: 'True', ...bootId }).catch(ignoreAbsence);
}

/** A machine that was not onboarded has no Node. */
const ignoreAbsence = (error: unknown): void => {
  if (!/not found/iu.test((error as Error).message)) throw error;
};

/** The only way out of `termination` that the CRD's rule allows leads through `ha`. */
export async function activate(cast: Cast, host: string): Promise<void> {
  const object = cast.deployment.kubernetes.object('hypervisors', { name: host });
  const { maintenance } = (object?.['spec'] ?? {}) as { maintenance?: string };
  if (maintenance === 'termination') await change(cast, host, { maintenance: 'ha' });
  await change(cast, host, { maintenance: '' });
}

export async function setService(cast: Cast, host: string, enabled: boolean): Promise<void> {
  const reason = enabled ? null : 'a person';
  const asked = enabled ? { status: 'enabled' } : { status: 'disabled', disabled_reason: reason };
  await changeService(sessionOf(cast), host, asked);
  cast.ownChanges.push({ host, atMs: labClock().now(), enabled, reason });
}

/** nova-compute of the host dies, if it runs. */
export async function stopCompute(cast: Cast, host: string): Promise<void> {
  if ((await fleetOf(cast).hosts())[host]?.running === true) await fleetOf(cast).crash(host);
}

/** Of which no two are to be moved at once. */
async function ensureGroup(session: Session): Promise<string> {
  const { server_groups: groups } = await session.compute<{ server_groups: { id: string }[] }>(
    'GET',
    '/os-server-groups',
  );
  return groups[0]?.id ?? (await createServerGroup(session, 'web', 'soft-anti-affinity'));
}

/**
 * Who has moved the server cold looks at it, and is content. Where it failed, or was reverted, there is
 * nothing to confirm.
 */
async function confirmResize(cast: Cast, id: string): Promise<void> {
  const server = (await listServers(sessionOf(cast))).find((one) => one.id === id);
  if (server?.status === 'VERIFY_RESIZE') await act(sessionOf(cast), id, { confirmResize: null });
}

type OfHypervisors = Extract<
  EventKind,
  | `${string}Hypervisor`
  | `${string}Node`
  | `${string}Service`
  | 'deleteServer'
  | 'createServer'
  | 'migrateServer'
  | 'lockServer'
  | 'onboard'
  | 'maintain'
  | 'decommission'
  | 'activate'
  | 'leaveAggregate'
  | 'crashCompute'
  | 'cutPower'
  | 'recoverHost'
  | 'confirmOff'
>;

export const hypervisorActions: Actions<OfHypervisors> = {
  async onboard(cast, event) {
    const host = machineOf(cast, event);
    await applyNode({ api: cast.deployment.kubernetes.admin }, host, isEven(event));
    await reportNode(cast, host, { ready: 'True', bootId: 'boot-1' });
    const { clock } = cast.deployment.simulation;
    clock.after(agentMs, () => reportAgentStatus(cast.deployment.kubernetes.admin, host).catch(ignoreAbsence));
  },
  maintain: (cast, event) => change(cast, hostOf(cast, event), { maintenance: 'manual', maintenanceReason: by }),
  decommission: (cast, event) =>
    change(cast, machineOf(cast, event), { maintenance: 'termination', maintenanceReason: by }),
  activate: (cast, event) => activate(cast, hostOf(cast, event)),
  retryHypervisor: (cast, event) =>
    patch(cast, kvmPath('hypervisors', hostOf(cast, event)), {
      metadata: { annotations: { [annotations.retry]: String(event.atMs) } },
    }),
  cancelHypervisor: cancel(idOf),
  terminateHypervisor: terminate(idOf),
  releaseNode: (cast, event) =>
    patch(cast, nodePath(machineOf(cast, event)), {
      metadata: { labels: { [nodeMetadata.lifecycle]: isEven(event) ? null : 'skip-tests' } },
    }),
  terminateNode: (cast, event) =>
    reportNode(cast, machineOf(cast, event), { ready: 'True', isTerminating: isEven(event) }),
  leaveAggregate: (cast, event) => leaveAggregates({ session: sessionOf(cast) }, machineOf(cast, event), shared),

  enableService: (cast, event) => setService(cast, hostOf(cast, event), true),
  disableService: (cast, event) => setService(cast, hostOf(cast, event), false),
  async deleteServer(cast, event) {
    const server = choose(
      [...cast.expected.values()].filter(({ status }) => status !== null),
      event,
    );
    cast.expected.set(server.id, { ...server, status: null });
    await sessionOf(cast).compute('DELETE', `/servers/${server.id}`);
  },
  async createServer(cast, event) {
    const host = hostOf(cast, event);
    const session = sessionOf(cast);
    const { services } = await session.compute<{ services: { host: string; status: string }[] }>('GET', '/os-services');
    if (services.find((service) => service.host === host)?.status !== 'enabled') throw new NothingToDo();
    const name = `${host}-later-${event.atMs}`;
    const group = isEven(event) ? { serverGroup: await ensureGroup(session) } : {};
    const id = await requestInstance(session, { name, host, seconds: 0.5, ...group });
    // Until it is built it is on no host.
    cast.deployment.simulation.clock.after(buildMs, async () => {
      const built = (await listServers(session)).find((server) => server.id === id);
      if (built?.status === 'ACTIVE') cast.expected.set(id, { id, name, host, status: 'ACTIVE' });
    });
  },
  /** As an administrator does, of one that is where it was made: wherever the scheduler likes, live or cold. */
  async migrateServer(cast, event) {
    const session = sessionOf(cast);
    const servers = await listServers(session);
    const settled = servers.filter(
      (server) => cast.expected.get(server.id)?.host === server['OS-EXT-SRV-ATTR:host'] && server.status === 'ACTIVE',
    );
    const { id } = choose(settled, event);
    if (!isEven(event)) return await act(session, id, { 'os-migrateLive': { host: null, block_migration: 'auto' } });
    await act(session, id, { migrate: null });
    cast.deployment.simulation.clock.after(confirmMs + event.forMs, () => confirmResize(cast, id));
  },
  async lockServer(cast, event) {
    const servers = await listServers(sessionOf(cast), hostOf(cast, event));
    const { id } = choose(servers, { which: event.forMs });
    await act(sessionOf(cast), id, { [isEven(event) ? 'lock' : 'unlock']: null });
  },

  crashCompute: (cast, event) => stopCompute(cast, machineOf(cast, event)),
  failNode: (cast, event) => reportNode(cast, machineOf(cast, event), { ready: isEven(event) ? 'False' : 'Unknown' }),
  async cutPower(cast, event) {
    const host = machineOf(cast, event);
    cast.deployment.hosts.host(host).cutPower();
    await reportNode(cast, host, { ready: 'Unknown' }).catch(ignoreAbsence);
  },
  recoverHost: (cast, event) => recoverHost(cast, machineOf(cast, event)),
  /** A user looks at the machine, and says so where it is off. */
  async confirmOff(cast, event) {
    const host = machineOf(cast, event);
    if (cast.deployment.hosts.host(host).power === 'On') throw new NothingToDo();
    const handling = run(cast, nodeFailureId(host));
    const { incident, bootId } = await handling.query(progressQuery<NodeFailureProgress>());
    await handling.signal(asSignal(messages.confirmOff), { incident, bootId, person: by });
  },
};
