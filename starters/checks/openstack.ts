import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import type { Finding } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

/** What is asked of OpenStack; each method as in activities/. */
export interface OpenStackProbe {
  region: string;
  identity(signal: AbortSignal): Promise<{ user: string; project: string | null; roles: string[] }>;
  computeServices(
    signal: AbortSignal,
  ): Promise<{ host: string; state: 'up' | 'down'; status: 'enabled' | 'disabled'; cellDown: boolean }[]>;
  servers(filter: { host: string }, signal: AbortSignal): Promise<unknown[]>;
  resourceProviders(filter: object, signal: AbortSignal): Promise<unknown[]>;
}

export async function checkCredential(probe: OpenStackProbe, signal: AbortSignal): Promise<Finding> {
  const check = 'OpenStack credential';
  const { user, project, roles } = await probe.identity(signal);
  const who = `${user} in project ${project ?? 'none'}, roles ${roles.join(', ') || 'none'}`;
  if (roles.includes('admin')) return ok(check, who);
  // A deployment may name its roles otherwise; whether they suffice, the next checks show.
  return warn(
    check,
    `${who}: not admin`,
    'Give its user the admin role of the project, or roles that Nova’s policy allows what docs/operations.md lists.',
  );
}

/** Reads as an eviction does: the services, and the servers of one host with their host attribute. */
export async function checkNova(probe: OpenStackProbe, signal: AbortSignal): Promise<Finding[]> {
  const check = `Nova in ${probe.region}`;
  const services = await probe.computeServices(signal);
  if (services.length === 0)
    return [fail(check, 'it has no compute service', 'Check OS_REGION_NAME: there is nothing to evict.')];
  const cells = cellsDown(services.filter(({ cellDown }) => cellDown).length);
  const known = services.find(({ cellDown }) => !cellDown);
  if (known === undefined) return [fail(check, 'no cell answers', 'Mend the databases of its cells.'), ...cells];
  const visible = await checkHostAttribute(probe, known.host, signal);
  const down = services.filter(({ state }) => state === 'down').length;
  const disabled = services.filter(({ status }) => status === 'disabled').length;
  const figures = `${String(services.length)} compute services, ${String(down)} down, ${String(disabled)} disabled`;
  return [ok(check, figures), ...visible, ...cells];
}

async function checkHostAttribute(probe: OpenStackProbe, host: string, signal: AbortSignal): Promise<Finding[]> {
  const check = 'servers of all projects';
  try {
    const servers = await probe.servers({ host }, signal);
    return [ok(check, `${String(servers.length)} on ${host}, with the attributes that need admin`)];
  } catch (error) {
    if (!isFailure(error, 'HostAttributeMissing')) throw error;
    return [
      fail(
        check,
        'Nova hides the hosts of servers from this credential',
        'Use a credential with the admin role: without it drover cannot observe what is left on a host.',
      ),
    ];
  }
}

const cellsDown = (count: number): Finding[] =>
  count === 0
    ? []
    : [
        warn(
          'cells',
          `${String(count)} compute services are in a cell that does not answer`,
          'Evictions of hosts in that cell wait until its database is back.',
        ),
      ];

export async function checkPlacement(probe: OpenStackProbe, signal: AbortSignal): Promise<Finding> {
  const providers = await probe.resourceProviders({}, signal);
  return ok('Placement', `${String(providers.length)} resource providers`);
}
