import { withKubernetes } from '../kubernetes-objects.ts';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findCondition } from '../../contracts/conditions.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { hypervisorSchema } from '../../contracts/crds/hypervisor.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { reportAgentStatus } from '../hypervisors.ts';
import type { CheckedParts } from '../host-check-settings.ts';
import { kubectl } from '../kubectl.ts';
import { connectFleet } from '../openstack/fleet.ts';
import { findService } from '../openstack/hosts.ts';
import { listServers } from '../openstack/seed.ts';
import type { Session } from '../openstack/session.ts';
import type { DemoLab } from './hosts-fixture.ts';
import { newHost } from './hosts-fixture.ts';

/** Where the address of a host is its own: libvirt's daemon listens there. */
const localhost = '127.0.0.1';

/** Racks the new host: its Node is there, and its nova-compute starts. @returns what kubectl says */
export async function addHost(
  { handles: { kubernetes, openstack } }: DemoLab,
  { libvirt }: CheckedParts,
): Promise<string> {
  const manifest = fileURLToPath(new URL('node.yaml', import.meta.url));
  const output = await kubectl(kubernetes, ['create', '-f', '-'], readFileSync(manifest, 'utf8'));
  // Its kubelet.
  const addresses = [{ type: 'InternalIP', address: libvirt?.addresses[newHost] ?? localhost }];
  await kubectl(kubernetes, [
    'patch',
    'node',
    newHost,
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status: { addresses } }),
  ]);
  await connectFleet(openstack).change(newHost, {});
  return output.trim();
}

const isCheck = (type: string): boolean => /^(?:Libvirt|Ovs|Ceph|Smoke)/u.test(type);

/** What the checks of the host saw, a line each. */
export function describeChecks({ status }: Hypervisor): string[] {
  const checks = (status?.conditions ?? []).filter(({ type }) => isCheck(type));
  const width = Math.max(...checks.map(({ type }) => type.length));
  return checks.map(
    ({ type, reason, message }) =>
      `  ${reason === 'Passed' ? '✓' : '✗'} ${type.padEnd(width)}  ${message.replace(/, attempt 1\)$/u, ')')}`,
  );
}

export const readNewHost = async ({ handles: { kubernetes } }: DemoLab): Promise<Hypervisor> =>
  hypervisorSchema.parse(JSON.parse(await kubectl(kubernetes, ['get', 'hypervisor', newHost, '-o', 'json'])));

/** From now on servers may come: its node agent reports what it runs. */
export const reportNewHost = ({ handles: { kubernetes } }: DemoLab, { status }: Hypervisor): Promise<void> =>
  withKubernetes(kubernetes, (api) =>
    reportAgentStatus(
      api,
      newHost,
      status?.libVirtVersion === undefined || status.libVirtVersion === ''
        ? {}
        : { libVirtVersion: status.libVirtVersion },
    ),
  );

/** What is wrong with the host, a sentence each: it should be in service, through every check that was to be made. */
export async function judgeNewHost(
  hypervisor: Hypervisor,
  session: Session,
  { libvirt, ovs, ceph }: CheckedParts,
): Promise<string[]> {
  const conditions = hypervisor.status?.conditions ?? [];
  const lifecycle = findCondition(conditions, hypervisorConditions.lifecycle);
  const service = await findService(session, newHost);
  const left = await listServers(session, newHost);
  const wanted = [
    ...(libvirt === undefined ? [] : ['LibvirtReachable', 'LibvirtVersion', 'LibvirtStartsVm']),
    ...(ovs === undefined ? [] : ['OvsReachable']),
    ...(ceph === undefined ? [] : ['CephHealthy']),
    'SmokeServer',
    'SmokeConsole',
  ];
  const notPassed = [
    ...conditions.filter(({ type, status }) => isCheck(type) && status !== 'True').map(({ type }) => type),
    ...wanted.filter((type) => findCondition(conditions, type) === undefined),
  ];
  return [
    ...(lifecycle?.reason === 'Active' && lifecycle.status === 'True'
      ? []
      : [`${newHost} is ${lifecycle?.reason}: ${lifecycle?.message}`]),
    ...(service.status === 'enabled' ? [] : [`Nova has ${newHost} disabled: ${service.disabled_reason}`]),
    ...(left.length === 0 ? [] : [`on ${newHost} the checks have left ${left.map(({ name }) => name).join(', ')}`]),
    ...notPassed.map((type) => `check ${type} did not pass`),
  ];
}
