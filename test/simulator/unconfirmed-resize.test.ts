import { evictionConditions } from '../../contracts/eviction/conditions.ts';
import { listMigrations } from '../../lab/openstack/migrations.ts';
import { createInstance, getServer } from '../../lab/openstack/seed.ts';
import { agreed } from '../flows/eviction-observations.ts';
import { openEvictionStory } from './eviction-story.ts';

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
    const { simulation, openstack, evict, conditionOf, run } = await openEvictionStory();
    await run(async () => {
      const { id } = await createInstance(openstack.admin, { name: 'resized', host: 'node-1', state: 'VERIFY_RESIZE' });
      const target = (await getServer(openstack.admin, id))[hostKey] ?? '';
      expect(target).not.toBe('node-1');
      const name = emptied === 'source' ? 'node-1' : target;
      const annotations = isAccepted ? agreed({ acceptObstacles: `UnconfirmedResize/${id}` }) : {};
      const begunMs = simulation.clock.now();
      await evict({ hypervisor: name, annotations });
      let ended: string | undefined;
      while (ended === undefined && simulation.clock.now() - begunMs < 300_000) {
        await simulation.clock.sleep(1_000);
        const evicting = await conditionOf(evictionConditions.evicting, name);
        if (evicting?.status === 'False') ended = evicting.reason;
      }
      expect(ended).toBe(reason);
      // Nothing is waited for that does not come.
      expect(simulation.clock.now() - begunMs).toBeLessThan(45_000);
      expect((await listMigrations(openstack.admin, id)).map(({ status }) => status)).toEqual(records);
      const server = await getServer(openstack.admin, id);
      if (isAccepted) expect(server).toMatchObject({ status: 'ACTIVE', [hostKey]: expect.not.stringMatching(name) });
      else expect(server).toMatchObject({ status: 'VERIFY_RESIZE', [hostKey]: target });
    }, 600_000);
  },
  patienceMs,
);
