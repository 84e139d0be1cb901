import { evictionId, hypervisorId, migrationId } from '../../contracts/ids.ts';
import { changeService, findService } from '../../lab/openstack/hosts.ts';
import type { HostProfile } from '../../lab/openstack/host-profile.ts';
import type { InstanceSpec } from '../../lab/openstack/seed.ts';
import { createInstances, deleteInstances, getServer, listServers, requestInstance } from '../../lab/openstack/seed.ts';
import { isFailure } from '../../runtime/kubernetes-faults.ts';
import { resourcePath } from '../../runtime/kubernetes.ts';
import { endRuns, releaseAllocations, removeEviction, unlessAbsent } from '../flows/clear-leftovers.ts';
import { until } from '../flows/until.ts';
import type { Expected, OwnChange } from '../flows/world.ts';
import type { Lane } from './lane.ts';
import { removeHypervisor } from './hypervisor-objects.ts';
import type { AnyObject, Subject, SubjectKind } from './subjects.ts';
import { subjects } from './subjects.ts';

/** Which host of a scenario: the first, the second. */
export type HostAlias = 'A' | 'B';
const aliases: readonly HostAlias[] = ['A', 'B'];
const buildMs = 30_000;

/** A guest of the default size, short in everything, so that a cell costs little. */
export type GuestSpec = Pick<InstanceSpec, 'migrate' | 'seconds'>;

/** What a scenario does to its hosts, in names that are the same in every run. */
export type Stage = ReturnType<typeof openStage>;

/** The lane's hosts, empty and enabled, for one run of a scenario. */
export function openStage(lane: Lane, kind: SubjectKind, steps: () => readonly string[]) {
  const subject: Subject = subjects[kind];
  const { client, hosts } = lane;
  const { api, session, fleet, evictions } = lane.ground;
  const sinceMs = Date.now();
  const roles = new Map<string, string>();
  const expected = new Map<string, Expected>();
  const ownChanges: OwnChange[] = [];
  const hostOf = (alias: HostAlias): string => hosts[aliases.indexOf(alias)] ?? raise(`lane ${lane.name} has no host ${alias}`);
  for (const [index, host] of hosts.entries()) {
    roles.set(evictionId(host), aliases[index] ?? host);
    roles.set(hypervisorId(host), `${aliases[index] ?? host}-hypervisor`);
  }
  const nameServer = (alias: HostAlias, id: string, status = 'ACTIVE'): void => {
    const name = `${alias}${[...expected.values()].filter(({ host }) => host === hostOf(alias)).length + 1}`;
    roles.set(migrationId(id), name);
    expected.set(id, { id, name, host: hostOf(alias), status });
  };
  const patience = (): AbortSignal => AbortSignal.timeout(20_000);
  const read = async (alias: HostAlias): Promise<AnyObject | null> => {
    try {
      return (await api.request({ method: 'GET', path: subject.path(hostOf(alias)) }, patience())) as AnyObject;
    } catch (error) {
      if (isFailure(error, 'ObjectNotFound')) return null;
      throw error;
    }
  };
  const tell = async (alias: HostAlias, cause: string): Promise<void> => {
    const { uid = '', generation = 0, resourceVersion = '' } = (await read(alias))?.metadata ?? {};
    await subject.tell(client, hostOf(alias), { uid, generation, resourceVersion, cause });
  };

  const change = async (alias: HostAlias, spec: object): Promise<void> => {
    await api.request({ method: 'PATCH', patchType: 'merge', path: subject.path(hostOf(alias)), body: { spec } }, patience());
    await tell(alias, 'spec');
  };

  return {
    lane,
    /** The calls that have begun so far. */
    steps,
    sinceMs,
    roles,
    expected,
    ownChanges,
    hostOf,
    /** Servers `A1`, `A2`, … on the host. */
    async seed(alias: HostAlias, guests: readonly GuestSpec[]): Promise<void> {
      const made = await createInstances(session, guests.map((guest, index) => ({ name: `${hostOf(alias)}-${index + 1}`, host: hostOf(alias), seconds: 0.3, ...guest })));
      for (const { id } of made) nameServer(alias, id);
    },
    /** A server that arrives later: Nova has it, and does not wait. */
    async seedLate(alias: HostAlias): Promise<void> {
      nameServer(alias, await requestInstance(session, { name: `${hostOf(alias)}-late`, host: hostOf(alias), seconds: 0.3 }));
    },
    /** Whatever becomes of the eviction, Nova finishes what it was asked to build. */
    untilBuilt: async (): Promise<void> => {
      for (const id of expected.keys()) await until(`server ${id} to be built`, buildMs, async () => (await getServer(session, id)).status !== 'BUILD' || 'BUILD');
    },
    changeHost: (alias: HostAlias, profile: Partial<HostProfile>) => fleet.change(hostOf(alias), profile),
    /** As kubectl would make it, and as the bridge would tell of it. */
    async evict(alias: HostAlias, annotations: Readonly<Record<string, string>> = {}): Promise<void> {
      const host = hostOf(alias);
      const body = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction', metadata: { name: host, annotations }, spec: { hypervisor: host, reason: 'fault matrix' } };
      await api.request({ method: 'POST', path: resourcePath('kvm.cloud.sap/v1', 'evictions'), body }, patience());
      await tell(alias, 'spec');
    },
    /** Tells the run that its Eviction changed, as the bridge does; starts it if none is open. */
    tell,
    changeSpec: (alias: HostAlias): Promise<void> => change(alias, subject.change),
    /** A change of the object's spec, told as the bridge does. */
    change,
    run: (alias: HostAlias) => client.workflow.getHandle(subject.workflowId(hostOf(alias))),
    /** The object of the host that the scenario is about, as kube-apiserver has it now; null: there is none. */
    read,
    /** Its Eviction, as the log has it: so that asking costs little. */
    latestEviction: (alias: HostAlias) => evictions.latest(hostOf(alias)),
    subject,
    serversOn: (alias: HostAlias) => listServers(session, hostOf(alias)),
    aliases: aliases.slice(0, hosts.length),
    async clear(): Promise<void> {
      for (const host of hosts) {
        if (kind === 'Hypervisor') await removeHypervisor(lane.ground, host);
        await endRuns(client, `DroverHost="${host}"`);
        await removeEviction(api, host);
      }
      if (expected.size > 0) await deleteInstances(session, [...expected.keys()]);
      for (const name of expected.keys()) await unlessAbsent(() => api.request({ method: 'DELETE', path: resourcePath('kvm.cloud.sap/v1alpha1', 'migrations', { namespace: 'monsoon3', name }) }, patience()));
      for (const host of hosts) {
        const left = (await listServers(session, host)).map(({ id }) => id);
        if (left.length > 0) await deleteInstances(session, left);
        await releaseAllocations(session, host);
        await fleet.change(host, { migrate: 'ok', seconds: 0.3, buildDelaySeconds: 0, maxConcurrentLiveMigrations: 8 });
        if ((await findService(session, host)).status === 'disabled') {
          ownChanges.push({ host, atMs: Date.now(), enabled: true, reason: null });
          await changeService(session, host, { status: 'enabled' });
        }
      }
    },
  };
}

const raise = (message: string): never => {
  throw new Error(message);
};
