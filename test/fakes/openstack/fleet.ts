import type { Fleet, GuestScript } from '../../../lab/openstack/fleet.ts';
import type { HostProfile, HostState } from '../../../lab/openstack/host-profile.ts';
import type { Cloud } from './cloud.ts';
import type { ComputeHost } from './model.ts';
import { addHost, crashCompute, defaultProfile, reportResources, startCompute } from './nova/compute-hosts.ts';
import { startQueued } from './nova/live-migration.ts';
import { nodeName } from './nova/records.ts';
import { modes } from './nova/transfer.ts';

/** The lab's levers, on the model. All are in effect when the promise resolves. */
export function createFakeFleet(cloud: Cloud, plan: Readonly<Record<string, Partial<HostProfile>>>): Fleet {
  const { hosts, scripts, servers } = cloud.model;

  const stateOf = (host: ComputeHost): HostState => ({
    ...host.profile,
    hypervisorHostname: nodeName(host.name),
    running: host.isRunning,
    guests: host.guests.size,
  });
  const known = (name: string): ComputeHost => {
    const host = hosts.get(name);
    if (host === undefined) throw new Error(`there is no host ${name}`);
    return host;
  };
  const reconsider = (): void => {
    for (const host of hosts.values()) {
      for (const { transfer } of host.leaving) transfer?.reconsider();
      for (const transfer of host.copying) transfer.reconsider();
      startQueued(cloud, host);
    }
  };
  const start = (host: ComputeHost): void => {
    if (host.isRunning) throw new Error(`${host.name} is running already`);
    startCompute(cloud, host);
  };
  const guestOf = (id: string): GuestScript => scripts.get(id) ?? { attempts: [], started: 0 };

  return {
    hosts: async () => Object.fromEntries([...hosts].map(([name, host]) => [name, stateOf(host)])),
    change: async (name, patch) => {
      check(patch);
      const host = hosts.get(name);
      if (host === undefined) {
        const added = addHost(cloud, name, patch);
        start(added);
        return stateOf(added);
      }
      host.profile = { ...host.profile, ...patch };
      if (host.isRunning) reportResources(cloud, host);
      reconsider();
      return stateOf(host);
    },
    crash: async (name) => {
      const host = known(name);
      if (!host.isRunning) throw new Error(`${name} is not running`);
      crashCompute(cloud, host);
      return stateOf(host);
    },
    start: async (name) => {
      start(known(name));
      return stateOf(known(name));
    },
    reinstall: async (name) => {
      const host = known(name);
      if (host.isRunning) throw new Error(`${name} is running already`);
      host.guests.clear();
      start(host);
      return stateOf(host);
    },
    guest: async (id) => guestOf(id),
    script: async (id, attempts) => {
      const full = attempts.map((attempt) => (typeof attempt === 'string' ? { migrate: attempt } : attempt));
      for (const attempt of full) check(attempt);
      scripts.set(id, { attempts: full, started: 0 });
      reconsider();
      return guestOf(id);
    },
    reset: async () => {
      scripts.clear();
      for (const host of hosts.values()) {
        host.profile = { ...defaultProfile, ...plan[host.name] };
        if (host.isRunning) reportResources(cloud, host);
        else start(host);
      }
      reconsider();
    },
    archive: async () => {
      const deleted = [...servers.values()].filter(({ isDeleted }) => isDeleted);
      for (const { id } of deleted) servers.delete(id);
      return { rows: deleted.length };
    },
  };
}

/** Refuses what the lab's control port refuses. */
function check(patch: Partial<HostProfile>): void {
  for (const field of Object.keys(patch)) {
    if (!(field in defaultProfile))
      throw new Error(`unknown field '${field}': a host has ${Object.keys(defaultProfile).join(', ')}`);
  }
  if (patch.migrate !== undefined && !modes.includes(patch.migrate))
    throw new Error(`unknown mode '${patch.migrate}': there are ${modes.join(', ')}`);
}
