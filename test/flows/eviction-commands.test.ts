import type { EvictionProgress } from '../../contracts/eviction/eviction.ts';
import { labClock } from '../../lab/clock.ts';
import { act } from '../../lab/openstack/seed.ts';
import type { Server } from '../../lab/openstack/seed.ts';
import { checkInvariants } from '../invariants.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs, quickSettings } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * Commands to an eviction that runs, by `drover`: what they answer, and what bad ones leave untouched. By `temporal`
 * and `tctl`: eviction-start.
 */

let world: World;

beforeAll(async () => {
  const { eviction } = quickSettings;
  // What hangs here is held by the test, and must not be taken for stuck.
  world = await openWorld({
    settings: {
      ...quickSettings,
      eviction: {
        ...eviction,
        stuck: { msPerGiB: 600_000, floorMs: 600_000, noProgressMs: 600_000, startMs: 600_000 },
      },
    },
  });
}, limitMs);
afterAll(() => world.close(), limitMs);

/** An eviction one at a time, of servers that are on their way until they are released. */
async function begin(host: string, count: number): Promise<Server[]> {
  const servers = await world.seedMany(host, count);
  for (const { id } of servers) await world.fleet.script(id, ['hang']);
  await world.createEviction(host, { annotations: { 'drover.dev/parallelism': '1' } });
  await world.untilMoving(host);
  return servers;
}

const release = (server: Server): Promise<unknown> => world.fleet.script(server.id, [{ migrate: 'ok', seconds: 0.2 }]);

const states = ({ instances }: EvictionProgress): Record<string, string> =>
  Object.fromEntries(instances.map(({ name, state }) => [name, state]));

const untilStates = (host: string, wanted: Record<string, string>): Promise<EvictionProgress> =>
  until(`${host} to be ${JSON.stringify(wanted)}`, 120_000, async () => {
    const progress = await world.progress(host);
    const observed = states(progress);
    return Object.entries(wanted).every(([name, state]) => observed[name] === state)
      ? progress
      : JSON.stringify(observed);
  });

test.concurrent(
  'pause, skip, parallelism, resume, retry by drover',
  () =>
    world.onFreshHost(async (host) => {
      const servers = await begin(host, 4);
      const [first, second, third, fourth] = servers as [Server, Server, Server, Server];
      expect(states(await world.progress(host))).toEqual({
        [first.name]: 'moving',
        [second.name]: 'pending',
        [third.name]: 'pending',
        [fourth.name]: 'pending',
      });

      expect(await world.command('pause', host, '--reason', 'network work')).toMatchObject({
        code: 0,
        stdout: 'Paused. 1 in flight will end; nothing more starts.\n',
      });
      await release(first);
      await untilStates(host, { [first.name]: 'moved' });
      await world.untilReason(host, 'Running', { says: /Paused by flow-test/u });
      expect(await world.command('skip', host, fourth.name, '--reason', 'its owner moves it')).toMatchObject({
        code: 0,
        stdout: `${fourth.name} stays on the host, so the host will not count as empty.\n`,
      });
      expect(await world.command('parallelism', host, '2')).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Up to 2 servers move at once\./u),
      });
      expect(states(await world.progress(host))).toEqual({
        [first.name]: 'moved',
        [second.name]: 'pending',
        [third.name]: 'pending',
        [fourth.name]: 'skipped',
      });

      expect(await world.command('resume', host)).toMatchObject({ code: 0, stdout: 'Resumed. 2 to go.\n' });
      await untilStates(host, { [second.name]: 'moving', [third.name]: 'moving', [fourth.name]: 'skipped' });

      // Refused, and nothing is changed by it.
      expect(await world.command('skip', host, second.name)).toMatchObject({
        code: 5,
        stderr: expect.stringContaining(`${second.name} is moving now.`),
      });
      expect(await world.command('retry', host, first.name)).toMatchObject({
        code: 5,
        stderr: expect.stringContaining(`${first.name} has left the host already.`),
      });
      expect(await world.command('retry', host, 'unknown')).toMatchObject({
        code: 5,
        stderr: expect.stringContaining('No server unknown belongs to this eviction.'),
      });
      expect(await world.command('accept', host, 'NoTargets')).toMatchObject({
        code: 5,
        stderr: expect.stringContaining('There is no obstacle NoTargets. There are: none.'),
      });
      expect(await world.command('parallelism', host, '0')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('A whole number from 1 to 64.'),
      });
      expect(await world.command('resume', host)).toMatchObject({ code: 0, stdout: 'It was not paused.\n' });
      const untouched = await world.progress(host);
      expect(states(untouched)).toEqual({
        [first.name]: 'moved',
        [second.name]: 'moving',
        [third.name]: 'moving',
        [fourth.name]: 'skipped',
      });
      expect(untouched.window.parallelism).toBe(2);

      expect(await world.command('retry', host, fourth.name)).toMatchObject({
        code: 0,
        stdout: `${fourth.name} is tried again.\n`,
      });
      for (const server of servers) await release(server);
      await world.untilReason(host, 'Succeeded');
      await world.untilClosed(host);
      expect(await world.eventsOf(host)).toEqual(
        expect.arrayContaining([
          'Paused: Paused by flow-test: network work',
          `InstanceSkipped: ${fourth.name} skipped by flow-test: its owner moves it`,
          'ParallelismSet: 2 at a time, by flow-test',
          'Resumed: Resumed by flow-test',
          `InstanceRetried: ${fourth.name} is tried again, by flow-test`,
        ]),
      );
      await checkInvariants(world, [host]);
    }),
  limitMs,
);

test.concurrent(
  'an obstacle refuses the eviction, and drover accept goes on',
  () =>
    world.onFreshHost(async (host) => {
      const [server, locked] = (await world.seedMany(host, 2)) as [Server, Server];
      await act(world.session, locked.id, { lock: null });
      const fromMs = labClock().now();
      const obstacle = `InstanceLocked/${locked.id}`;
      const result = await world.command('evict', host, '--reason', 'test of obstacles', '--wait');
      expect(result).toMatchObject({ code: 1 });
      const refused = await world.untilReason(host, 'PreflightFailed');
      expect(refused.status?.conditions?.find(({ type }) => type === 'PreflightChecksSucceeded')).toMatchObject({
        status: 'False',
        message: expect.stringContaining(`[${obstacle}]`),
      });
      expect(await world.mutations(fromMs, { servers: [server, locked], hosts: [host] })).toEqual([]);
      expect(await world.service(host)).toMatchObject({ status: 'enabled' });
      await world.untilClosed(host);

      expect(await world.command('accept', host, 'Nonsense')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('"Nonsense" is not the id of an obstacle'),
      });
      const accepted = await world.command('accept', host, obstacle);
      expect(accepted).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(
          `Accepted ${obstacle}, by flow-test. Eviction ${host} of ${host} is tried again.`,
        ),
      });
      const done = await world.untilReason(host, 'Succeeded');
      expect(done.metadata.annotations).toMatchObject({
        'drover.dev/accept-obstacles': obstacle,
        'drover.dev/consent-by': expect.stringMatching(/^flow-test \d{4}-/u),
      });
      expect(await world.serversOn(host)).toEqual([]);
      await world.untilClosed(host);
      expect(await world.command('accept', host, obstacle)).toMatchObject({
        code: 5,
        stderr: expect.stringContaining(`Eviction ${host} of ${host} has succeeded. Nothing was accepted.`),
      });
      await checkInvariants(world, [host]);
    }),
  limitMs,
);

test.concurrent(
  'a command to an eviction that does not run says so',
  async () => {
    for (const command of [['pause'], ['resume'], ['skip', 'vm'], ['parallelism', '2'], ['cancel']]) {
      const [name = '', ...rest] = command;
      expect(await world.command(name, 'node-6', ...rest)).toMatchObject({
        code: 4,
        stderr: expect.stringContaining('No eviction of node-6 is running.'),
      });
    }
  },
  limitMs,
);
