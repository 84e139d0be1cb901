import { labClock } from '../../lab/clock.ts';
import { evictionId, hypervisorId, migrationId, nodeFailureId } from '../../contracts/ids.ts';
import { changeService, findService } from '../../lab/openstack/hosts.ts';
import type { HostProfile } from '../../lab/openstack/host-profile.ts';
import type { InstanceSpec } from '../../lab/openstack/seed.ts';
import { createInstances, deleteInstances, getServer, listServers, requestInstance } from '../../lab/openstack/seed.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { endRuns, releaseAllocations, removeEviction, unlessAbsent } from '../flows/clear-leftovers.ts';
import { until } from '../flows/until.ts';
import { removeHypervisor, removeObjectsOf } from './hypervisor-objects.ts';
import { regionOf } from './environment.ts';
import type { HostAlias, ContextBase } from './context-base.ts';
import { isInVcenter } from './subjects.ts';

const buildMs = 30_000;

/** A guest of the default size, short in everything, so that a cell costs little. */
export type GuestSpec = Pick<InstanceSpec, 'migrate' | 'seconds' | 'state'>;

/** What scenarios do to compute hosts and their servers. */
export function hostActions({ fixture, kind, roles, expected, ownChanges, aliases, hostOf, tell }: ContextBase) {
  const { client, hosts, environment } = fixture;
  const { api } = environment;
  const region = () => regionOf(environment);
  const patience = (): AbortSignal => AbortSignal.timeout(20_000);
  if (!isInVcenter(kind)) {
    for (const alias of aliases)
      roles
        .set(evictionId(hostOf(alias)), alias)
        .set(hypervisorId(hostOf(alias)), `${alias}-hypervisor`)
        .set(nodeFailureId(hostOf(alias)), `${alias}-failure`);
  }
  const nameServer = (alias: HostAlias, id: string, status = 'ACTIVE'): void => {
    const name = `${alias}${[...expected.values()].filter(({ host }) => host === hostOf(alias)).length + 1}`;
    roles.set(migrationId(id), name);
    expected.set(id, { id, name, host: hostOf(alias), status });
  };

  return {
    /** Servers `A1`, `A2`, … on the host. */
    async seed(alias: HostAlias, guests: readonly GuestSpec[]): Promise<void> {
      const made = await createInstances(
        region().session,
        guests.map((guest, index) => ({
          name: `${hostOf(alias)}-${index + 1}`,
          host: hostOf(alias),
          seconds: 0.3,
          ...guest,
        })),
      );
      for (const { id, status } of made) nameServer(alias, id, status);
    },
    /** A user deletes its servers, and Nova is about to. */
    async deleteServers(): Promise<void> {
      for (const [id, server] of expected) {
        expected.set(id, { ...server, status: null });
        await region().session.compute('DELETE', `/servers/${id}`);
      }
    },
    /** A server that arrives later: Nova has it, and does not wait. */
    async seedLate(alias: HostAlias): Promise<void> {
      nameServer(
        alias,
        await requestInstance(region().session, { name: `${hostOf(alias)}-late`, host: hostOf(alias), seconds: 0.3 }),
      );
    },
    /** Whatever becomes of the eviction, Nova finishes what it was asked to build. */
    untilBuilt: async (): Promise<void> => {
      for (const id of expected.keys())
        await until(
          `server ${id} to be built`,
          buildMs,
          async () => (await getServer(region().session, id)).status !== 'BUILD' || 'BUILD',
        );
    },
    changeHost: (alias: HostAlias, profile: Partial<HostProfile>) => region().fleet.change(hostOf(alias), profile),
    /** As kubectl would make it, and as the bridge would tell of it. */
    async evict(alias: HostAlias, annotations: Readonly<Record<string, string>> = {}): Promise<void> {
      const host = hostOf(alias);
      const body = {
        apiVersion: 'kvm.cloud.sap/v1',
        kind: 'Eviction',
        metadata: { name: host, annotations },
        spec: { hypervisor: host, reason: 'fault matrix' },
      };
      await api.request({ method: 'POST', path: resourcePath('kvm.cloud.sap/v1', 'evictions'), body }, patience());
      await tell(alias, 'spec');
    },
    /** Its Eviction, as the log has it: so that asking costs little. */
    latestEviction: (alias: HostAlias) => region().evictions.latest(hostOf(alias)),
    async clearHosts(): Promise<void> {
      const { session, fleet } = region();
      for (const host of hosts) {
        if (kind === 'Hypervisor') await removeObjectsOf({ api }, host);
        await endRuns(client, `DroverHost="${host}"`);
        await removeEviction(api, host);
      }
      if (expected.size > 0) await deleteInstances(session, [...expected.keys()]);
      for (const name of expected.keys())
        await unlessAbsent(() =>
          api.request(
            {
              method: 'DELETE',
              path: resourcePath('kvm.cloud.sap/v1alpha1', 'migrations', { namespace: 'monsoon3', name }),
            },
            patience(),
          ),
        );
      for (const host of hosts) {
        const left = (await listServers(session, host)).map(({ id }) => id);
        if (left.length > 0) await deleteInstances(session, left);
        await releaseAllocations(session, host);
        if (kind === 'Hypervisor') await removeHypervisor({ api, session, fleet }, host);
        await fleet.change(host, {
          migrate: 'ok',
          seconds: 0.3,
          buildDelaySeconds: 0,
          destroySeconds: 0,
          maxConcurrentLiveMigrations: 8,
        });
        if ((await findService(session, host)).status === 'disabled') {
          ownChanges.push({ host, atMs: labClock().now(), enabled: true, reason: null });
          await changeService(session, host, { status: 'enabled' });
        }
      }
    },
  };
}
