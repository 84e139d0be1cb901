import { findCondition } from '../../contracts/conditions.ts';
import { evictionConditions } from '../../contracts/eviction/conditions.ts';
import { withClock } from '../../lab/clock.ts';
import { applyHypervisors } from '../../lab/hypervisors.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { listMigrations } from '../../lab/openstack/migrations.ts';
import { createInstance, getServer } from '../../lab/openstack/seed.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { agreed } from '../flows/eviction-observations.ts';
import { hosts, quickSettings } from '../flows/world-base.ts';
import { loadWorkflows } from './bundle.ts';
import { deploy } from './deployment.ts';

const never = new AbortController().signal;
/** Virtual time costs real time on a busy machine. */
const patienceMs = 180_000;
const hostKey = 'OS-EXT-SRV-ATTR:host';

/** The resize of another user goes from node-1 to another host, and one of the two is emptied. */
const rows: [what: string, emptied: 'source' | 'target', accepted: boolean, reason: string, records: string[]][] = [
  ['off the host is confirmed where a user accepts that', 'source', true, 'Succeeded', ['confirmed']],
  ['to the host is confirmed where a user accepts that', 'target', true, 'Succeeded', ['completed', 'confirmed']],
  ['off the host refuses the eviction else', 'source', false, 'PreflightFailed', ['finished']],
  ['to the host refuses the eviction else', 'target', false, 'PreflightFailed', ['finished']],
];

test.each(rows)(
  'a resize of another user %s',
  async (_what, emptied, isAccepted, reason, records) => {
    const deployment = deploy({
      bundle: await loadWorkflows(),
      seed: 1,
      parts: ['openstack'],
      settings: quickSettings,
      bridge: true,
    });
    const { simulation, kubernetes, openstack } = deployment;
    if (openstack === null) throw new Error('there is no OpenStack');
    const { admin } = kubernetes;
    const evict = async (): Promise<void> => {
      await applyObject(admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } });
      await applyHypervisors(admin, Object.fromEntries(hosts.map((name) => [name, {}])));
      const { id } = await createInstance(openstack.admin, { name: 'resized', host: 'node-1', state: 'VERIFY_RESIZE' });
      const target = (await getServer(openstack.admin, id))[hostKey] ?? '';
      expect(target).not.toBe('node-1');
      const name = emptied === 'source' ? 'node-1' : target;
      const annotations = isAccepted ? agreed({ acceptObstacles: `UnconfirmedResize/${id}` }) : {};
      const spec = { hypervisor: name, reason: 'test' };
      const begunMs = simulation.clock.now();
      await applyObject(admin, {
        apiVersion: 'kvm.cloud.sap/v1',
        kind: 'Eviction',
        metadata: { name, annotations },
        spec,
      });
      let ended: string | undefined;
      while (ended === undefined && simulation.clock.now() - begunMs < 300_000) {
        await simulation.clock.sleep(1_000);
        const eviction = await openObjects(admin).get(resources.Eviction, { name }, never);
        const evicting = findCondition(eviction?.status?.conditions, evictionConditions.evicting);
        if (evicting?.status === 'False') ended = evicting.reason;
      }
      expect(ended).toBe(reason);
      // Nothing is waited for that does not come.
      expect(simulation.clock.now() - begunMs).toBeLessThan(45_000);
      expect((await listMigrations(openstack.admin, id)).map(({ status }) => status)).toEqual(records);
      const server = await getServer(openstack.admin, id);
      if (isAccepted) expect(server).toMatchObject({ status: 'ACTIVE', [hostKey]: expect.not.stringMatching(name) });
      else expect(server).toMatchObject({ status: 'VERIFY_RESIZE', [hostKey]: target });
    };
    await simulation.run(withClock(simulation.clock, evict), 600_000);
    deployment.close();
  },
  patienceMs,
);
