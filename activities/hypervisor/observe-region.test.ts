import { changeService } from '../../lab/openstack/hosts.ts';
import { createInstance } from '../../lab/openstack/seed.ts';
import { countFirstLooks, countLooks, openLooks, trustedMs } from '../../test/simulator/region-at-size.ts';

test('a look each minute at each of 200 disabled hosts costs three requests, and the region is not listed for each', async () => {
  const each = await countLooks(200);
  process.stderr.write(`${each.toFixed(2)} requests for each look\n`);
  expect(each).toBeLessThanOrEqual(3);
}, 1_800_000);

test('all hosts of a region at once, as after a restart', async () => {
  const each = await countFirstLooks(500);
  process.stderr.write(`${each.toFixed(2)} requests for each first look\n`);
  expect(each).toBeLessThanOrEqual(3.5);
}, 1_800_000);

test('what it shows is what is there now, but for the lists that are trusted', async () => {
  const { clock, fake, look, run } = openLooks(3);
  await run(async () => {
    expect(await look('node-1', trustedMs)).toMatchObject({
      nova: { host: 'node-1', service: { status: 'enabled' }, servers: 0 },
      provider: { consumers: 0 },
      testServers: [],
    });
    await createInstance(fake.admin, { name: 'a', host: 'node-1' });
    await changeService(fake.admin, 'node-1', { status: 'disabled', disabled_reason: 'test' });
    expect(await look('node-1', trustedMs)).toMatchObject({
      nova: { service: { status: 'enabled' }, servers: 1 },
      provider: { consumers: 1 },
    });
    expect(await look('node-1', 0)).toMatchObject({
      nova: { service: { status: 'disabled' }, servers: 1, allocations: 1, migrations: 0 },
    });
    // That there is none is only said of what Nova has now.
    await fake.fleet.change('node-9', {});
    expect(await look('node-9', trustedMs)).toMatchObject({ nova: { host: 'node-9' } });
    expect(await look('node-10', trustedMs)).toMatchObject({ nova: null, provider: null });
    await clock.sleep(trustedMs + 1);
    expect(await look('node-1', trustedMs)).toMatchObject({ nova: { service: { status: 'disabled' } } });
  });
});

test('200 hosts that are judged at the same moment ask once each for services, aggregates, schedulers and Placement', async () => {
  const { network, names, nova, placement, run } = openLooks(200);
  const never = new AbortController().signal;
  await run(async () => {
    await Promise.all(
      names.map(() =>
        Promise.all([
          nova.computeServices(never),
          nova.aggregates(never),
          nova.schedulersUp(never),
          placement.existingTraits(['COMPUTE_NODE'], never),
        ]),
      ),
    );
    expect(network.calls.filter(({ system }) => system !== 'keystone')).toHaveLength(4);
  });
});

test('a compute service without a hypervisor is no host of Nova’s, is there all the same, and is said of what Nova has now', async () => {
  const { fake, look, run } = openLooks(2);
  await run(async () => {
    await createInstance(fake.admin, { name: 'a', host: 'node-1' });
    expect(await look('node-1', trustedMs)).toMatchObject({ nova: { servers: 1 }, loneService: null });
    const { hypervisors } = fake.model;
    const own = hypervisors.get('node-1');
    if (own === undefined) throw new Error('node-1 has no hypervisor');
    hypervisors.delete('node-1');
    expect(await look('node-1', trustedMs)).toMatchObject({
      nova: null,
      loneService: { host: 'node-1', service: { status: 'enabled', state: 'up' }, servers: 1 },
    });
    // One of a hostname that has nothing in common with the host's is found in a list that may be seconds old.
    hypervisors.set('node-1', { ...own, hostname: 'another.example' });
    expect(await look('node-1', trustedMs)).toMatchObject({ nova: { servers: 1 }, loneService: null });
    expect(await look('node-9', trustedMs)).toMatchObject({ nova: null, loneService: null });
  });
});
