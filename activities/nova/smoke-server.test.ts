import { createInstance } from '../../lab/openstack/seed.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { openActivitiesOnFake, type ActivitiesOnFake } from '../../test/fakes/openstack/activities.ts';
import { smokeMetadata, smokeServerName } from './smoke-server.ts';

const host = 'node-1';
const owner = { host, hypervisor: host, uid: 'u-1' };
const name = smokeServerName(host);
const makeVerb = 'POST /servers';
const consoleVerb = 'POST /servers/{id}/action os-getConsoleOutput';
const mark = {
  'drover:purpose': 'smoke-test',
  'drover:host': host,
  'drover:hypervisor': host,
  'drover:hypervisor-uid': 'u-1',
};

const requestFor = ({ fake }: ActivitiesOnFake) => ({
  owner,
  flavorId: 'lab.tiny',
  imageId: fake.model.imageId,
  console: 'hostname' as const,
  deadlineMs: 60_000,
  cleanUpMs: 60_000,
});

/** Names, with drover's mark or without. */
const serversOf = ({ fake }: ActivitiesOnFake) =>
  [...fake.model.servers.values()].filter(({ isDeleted }) => !isDeleted);

/** Servers that drover, or another user, has made before. */
const make = (
  { fake, run }: ActivitiesOnFake,
  metadata: Record<string, string> = smokeMetadata(owner),
  change: object = {},
) => run(() => createInstance(fake.admin, { name, host, metadata, ...change }));

test('a server is made on exactly that host, marked as drover’s, observed to boot, and deleted', async () => {
  const opened = openActivitiesOnFake();
  const { activities, audited, changes, fake, run } = opened;
  expect(await run(() => activities.runSmokeCheck(requestFor(opened)))).toMatchObject([
    { name: 'server', observed: 'ACTIVE on node-1', code: null },
    { name: 'console', code: null },
  ]);
  const [server] = fake.model.servers.values();
  expect(changes('nova')).toEqual([
    makeVerb,
    `POST /servers/${server?.id}/action os-getConsoleOutput`,
    `DELETE /servers/${server?.id}`,
  ]);
  expect(server).toMatchObject({ name: 'drover-smoke-node-1', metadata: mark, isDeleted: true, host });
  expect(audited.map(({ action }) => action)).toEqual(['ensureSmokeServer', 'deleteSmokeServer']);
});

test('the server of an attempt whose answer was lost is found again', async () => {
  let requests = 0;
  const opened = openActivitiesOnFake({
    onCall: ({ verb }) => (verb === makeVerb && (requests += 1) === 1 ? 'failAfter' : 'works'),
  });
  const { activities, fake, run } = opened;
  await run(() =>
    expect(activities.runSmokeCheck(requestFor(opened))).rejects.toMatchObject({
      type: 'NovaUnavailable',
      nonRetryable: false,
    }),
  );
  expect(await run(() => activities.runSmokeCheck(requestFor(opened)))).toMatchObject([{ code: null }, { code: null }]);
  expect(fake.model.servers.size).toBe(1);
  expect(serversOf(opened)).toEqual([]);
});

test('of two that were made at once the oldest stays; a broken one and one of an earlier Hypervisor go', async () => {
  const opened = openActivitiesOnFake();
  const { activities, changes, clock, run } = opened;
  const broken = await make(opened, smokeMetadata(owner), { state: 'ERROR' });
  const earlier = await make(opened, smokeMetadata({ ...owner, uid: 'u-0' }));
  // Nova tells the time of making to the second.
  await run(() => clock.sleep(1_000));
  const older = await make(opened);
  await run(() => clock.sleep(1_000));
  const younger = await make(opened);
  const foreign = await make(opened, {});
  await run(() => activities.runSmokeCheck(requestFor(opened)));
  const asked = changes('nova');
  expect(new Set(asked.slice(0, 3))).toEqual(
    new Set([broken, earlier, younger].map(({ id }) => `DELETE /servers/${id}`)),
  );
  expect(asked.slice(3)).toEqual([
    `POST /servers/${older.id}/action os-getConsoleOutput`,
    `DELETE /servers/${older.id}`,
  ]);
  expect(serversOf(opened).map(({ id }) => id)).toEqual([foreign.id]);
});

test('what Nova refuses is a finding, with its reason', async () => {
  const opened = openActivitiesOnFake();
  const { activities, changes, run } = opened;
  const findings = await run(() => activities.runSmokeCheck({ ...requestFor(opened), flavorId: 'f' }));
  expect(findings).toMatchObject([
    { name: 'server', observed: 'Flavor f could not be found.', code: 'SmokeServerRefused' },
  ]);
  expect(changes('nova')).toEqual([makeVerb]);
});

test('a server that is in ERROR at once is asked why', async () => {
  const opened = openActivitiesOnFake();
  const { activities, changes, run } = opened;
  const findings = await run(() => activities.runSmokeCheck({ ...requestFor(opened), flavorId: 'lab.trait' }));
  expect(findings).toMatchObject([
    { name: 'server', observed: 'ERROR on no host: No valid host was found. ', code: 'SmokeServerFailed' },
  ]);
  expect(changes('nova')).toHaveLength(2);
  expect(serversOf(opened)).toEqual([]);
});

test('a console that never shows it is a finding after the deadline, and the server goes all the same', async () => {
  const opened = openActivitiesOnFake({ instead: () => ({ consoleOutput: async () => 'Kernel panic - not syncing' }) });
  const { activities, run } = opened;
  const findings = await run(() => activities.runSmokeCheck(requestFor(opened)));
  expect(findings).toMatchObject([
    { code: null },
    { name: 'console', observed: expect.stringContaining('Kernel panic'), code: 'SmokeServerFailed' },
  ]);
  expect(serversOf(opened)).toEqual([]);
});

test('a server is waited for only until its attempt has just the time left to delete it', async () => {
  const startMs = Date.UTC(2026, 0, 31, 12);
  const opened = openActivitiesOnFake({
    scope: { deadlineMs: startMs + 119_000 },
    instead: () => ({ consoleOutput: async () => 'Booting Linux' }),
  });
  const { activities, clock, run } = opened;
  const findings = await run(() => activities.runSmokeCheck({ ...requestFor(opened), deadlineMs: 300_000 }));
  expect(findings).toMatchObject([{ code: null }, { name: 'console', code: 'SmokeServerFailed' }]);
  expect(findings).toHaveLength(2);
  expect(serversOf(opened)).toEqual([]);
  expect(clock.now() - startMs).toBeLessThan(119_000);
});

test('a console that comes late is waited for', async () => {
  let asked = 0;
  const opened = openActivitiesOnFake({
    instead: () => ({
      consoleOutput: async () => {
        if ((asked += 1) < 3) throw droverFailure('ConsoleUnavailable', 'Instance s is not ready');
        return 'up at last';
      },
    }),
  });
  const { activities, run } = opened;
  expect(
    await run(() => activities.runSmokeCheck({ ...requestFor(opened), console: { text: 'at last' } })),
  ).toMatchObject([{ code: null }, { code: null }]);
  expect(asked).toBe(3);
});

test('where another attempt of the same check takes the server along, there is another one', async () => {
  let asked = 0;
  const opened: ActivitiesOnFake = openActivitiesOnFake({
    onCall: ({ verb }, { admin }) => {
      const [server] = serversOf(opened);
      if (verb === consoleVerb && (asked += 1) === 1) void admin.compute('DELETE', `/servers/${server?.id}`);
      return 'works';
    },
    instead: (client) => ({
      // It never shows what is asked for before it is gone.
      consoleOutput: async (...given) =>
        asked === 0 ? client.consoleOutput(...given).then(() => 'Booting...') : client.consoleOutput(...given),
    }),
  });
  const { activities, fake, run } = opened;
  expect(await run(() => activities.runSmokeCheck(requestFor(opened)))).toMatchObject([{ code: null }, { code: null }]);
  expect(fake.model.servers.size).toBe(2);
});

test('a server that is not deleted in time is a finding too, and so is one that cannot be', async () => {
  const slow = openActivitiesOnFake();
  await slow.fake.fleet.change(host, { destroySeconds: 1_000 });
  const busy = async (): Promise<never> => {
    throw droverFailure('InstanceBusy', 'Instance s is not ready');
  };
  for (const opened of [slow, openActivitiesOnFake({ instead: () => ({ deleteServer: busy }) })]) {
    const findings = await opened.run(() => opened.activities.runSmokeCheck(requestFor(opened)));
    expect(findings).toMatchObject([{ code: null }, { code: null }, { name: 'clean-up', code: 'SmokeServerFailed' }]);
  }
});

test('gone means all of drover’s on that host, and no others', async () => {
  const opened = openActivitiesOnFake();
  const { activities, run } = opened;
  const own = await make(opened);
  const foreign = await make(opened, {});
  const other = await make(opened, smokeMetadata({ ...owner, host: 'node-2' }));
  await run(async () => {
    expect(await activities.findSmokeServers({ host })).toEqual([own.id]);
    for (const attempt of [1, 2])
      expect([attempt, await activities.ensureSmokeServerGone({ host, deadlineMs: 10_000 })]).toEqual([attempt, true]);
  });
  expect(serversOf(opened).map(({ id }) => id)).toEqual([foreign.id, other.id]);
});

test('gone can mean some of them', async () => {
  const opened = openActivitiesOnFake();
  const [kept, dropped] = [await make(opened), await make(opened)];
  expect(
    await opened.run(() =>
      opened.activities.ensureSmokeServerGone({ host, ids: [dropped.id, 'unknown'], deadlineMs: 10_000 }),
    ),
  ).toBe(true);
  expect(serversOf(opened).map(({ id }) => id)).toEqual([kept.id]);
});
