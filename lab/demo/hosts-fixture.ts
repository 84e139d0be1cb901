import { withKubernetes } from '../kubernetes-objects.ts';
import { applyHypervisors, reportInstances, testAggregate } from '../hypervisors.ts';
import { kubectl } from '../kubectl.ts';
import type { Lab } from '../lab.ts';
import { connectFleet } from '../openstack/fleet.ts';
import { createAggregate } from '../openstack/hosts.ts';
import { resetOpenStack } from '../openstack/reset.ts';
import type { InstanceSpec, Server } from '../openstack/seed.ts';
import { createInstances } from '../openstack/seed.ts';
import { openSession } from '../openstack/session.ts';
import { endRuns } from './end-runs.ts';

export type DemoLab = Lab;

export const host = 'node-1';
/** It is brought into service first (node.yaml). */
export const newHost = 'node-7';
const hosts = [1, 2, 3, 4, 5, 6].map((number) => `node-${number}`);
const zone = 'zone-a';

/** The two that make it interesting: one hangs and goes well the second time, one never goes. */
export const troubled = { hangs: 'db-7', staysBehind: 'legacy-24' } as const;

const names = Array.from({ length: 24 }, (_, index) =>
  index < 12 ? `db-${index + 1}` : index < 23 ? `web-${index + 1}` : troubled.staysBehind,
);

const specs: InstanceSpec[] = names.map((name, index) => ({
  name,
  host,
  flavor: index % 5 === 0 ? 'lab.small' : 'lab.tiny',
  seconds: 2 + (index % 3),
  ...(name === troubled.hangs ? { migrate: ['hang', 'ok'] as const } : {}),
  ...(name === troubled.staysBehind ? { migrate: 'fail' as const, seconds: 1 } : {}),
  // Not every server runs: a stopped one is moved cold, a paused one live.
  ...(name === 'web-20' ? { state: 'SHUTOFF' as const } : {}),
  ...(name === 'web-21' ? { state: 'PAUSED' as const } : {}),
}));

/**
 * Clears what an earlier demo left, and sets up six hosts; puts 24 servers on one of them, where the story needs them.
 */
export async function setUpHosts(
  { handles: { openstack, kubernetes }, exports }: DemoLab,
  { withServers }: { withServers: boolean },
): Promise<Server[]> {
  await endRuns(exports);
  await resetOpenStack(openstack);
  await clearObjects(kubernetes);
  const session = await openSession(openstack);
  await createAggregate(session, { name: zone, availabilityZone: zone, hosts });
  await createAggregate(session, testAggregate);
  // Nova's own default is one at a time; the rest would wait in its queue.
  await connectFleet(openstack).change(host, { maxConcurrentLiveMigrations: 4 });
  await withKubernetes(kubernetes, (api) =>
    applyHypervisors(api, Object.fromEntries(hosts.map((name) => [name, { inService: [zone] }]))),
  );
  const servers = withServers ? await createInstances(session, specs) : [];
  await countInstances(kubernetes, servers);
  return servers;
}

/** As node agents count them: their hosts are where Nova has them. */
export async function countInstances(
  kubernetes: DemoLab['handles']['kubernetes'],
  servers: readonly Server[],
): Promise<void> {
  for (const [name, those] of Map.groupBy(servers, (server) => server['OS-EXT-SRV-ATTR:host'])) {
    if (name !== null) await withKubernetes(kubernetes, (api) => reportInstances(api, name, those.length));
  }
}

/** No worker serves what an earlier demo left, so its finalizers are removed by hand. */
async function clearObjects(kubernetes: Lab<'kubernetes'>['handles']['kubernetes']): Promise<void> {
  const left = (await kubectl(kubernetes, ['get', 'evictions', '-o', 'name']))
    .split('\n')
    .filter((name) => name !== '');
  for (const name of left) {
    await kubectl(kubernetes, ['patch', name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
    await kubectl(kubernetes, ['delete', name, '--ignore-not-found']);
  }
  await kubectl(
    kubernetes,
    ['apply', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } }),
  );
  await kubectl(kubernetes, ['delete', 'migrations', '--all', '--namespace', 'monsoon3']);
  for (const kind of ['node', 'hypervisor']) await kubectl(kubernetes, ['delete', kind, newHost, '--ignore-not-found']);
}
