import { createInstanceActivities } from '../../../activities/nova/activities.ts';
import { createNovaClient } from '../../../activities/nova/client.ts';
import { withClock } from '../../../lab/clock.ts';
import { createInstance, waitForServer } from '../../../lab/openstack/seed.ts';
import { createVirtualClock, type VirtualClock } from '../../simulator/clock.ts';
import { createNetwork, type CallFate, type NetworkCall } from '../../simulator/network.ts';
import { runIn, startProcess } from '../../simulator/process.ts';
import { randomOf } from '../../faults/random.ts';
import { drive } from '../drive.ts';
import { createFakeOpenStack, type FakeOpenStack } from './fake-openstack.ts';

const never = new AbortController().signal;
const startMs = Date.UTC(2026, 0, 31, 12);

function open(onCall?: (call: NetworkCall) => CallFate, seed = 1) {
  const random = randomOf(seed);
  const clock = createVirtualClock(startMs, random);
  const network = createNetwork({ clock, random, ...(onCall === undefined ? {} : { onCall }) });
  return { clock, network, fake: createFakeOpenStack({ clock, random, network }) };
}

const inTime = <Result>(clock: VirtualClock, body: () => Promise<Result>): Promise<Result> =>
  drive(clock, withClock(clock, body));

const migrateVerb = 'POST /servers/{id}/action os-migrateLive';
const faultAt =
  (verb: string, fate: CallFate) =>
  (call: NetworkCall): CallFate =>
    call.verb === verb ? fate : 'works';

const boot = (fake: FakeOpenStack, seconds = 1) => createInstance(fake.admin, { name: 'vm', host: 'node-1', seconds });

test('a request that never arrives changes nothing, one whose answer is lost has its effect', async () => {
  for (const [fate, statuses] of [
    ['failBefore', []],
    ['failAfter', ['accepted', 'queued', 'preparing', 'running', 'completed']],
  ] as const) {
    const { clock, fake, network } = open(faultAt(migrateVerb, fate));
    await inTime(clock, async () => {
      const { id } = await boot(fake);
      const lost = createNovaClient(fake.openSession()).liveMigrate(id, { host: null }, never);
      await expect(lost).rejects.toMatchObject({
        type: 'NovaUnavailable',
        message: expect.stringMatching(/the connection was cut .*POST/u),
      });
      await clock.sleep(10_000);
      expect(fake.journal.migrationEvents().map(({ status }) => status)).toEqual(statuses);
    });
    expect(network.calls.map(({ system, verb }) => `${system} ${verb}`)).toEqual([
      'keystone POST /auth/tokens',
      `nova ${migrateVerb}`,
    ]);
  }
});

test('a request that hangs fails after the time-out of the real client', async () => {
  const { clock, fake } = open(faultAt('GET /os-services', 'hang'));
  await inTime(clock, async () => {
    const sinceMs = clock.now();
    await expect(createNovaClient(fake.openSession()).computeServices(never)).rejects.toMatchObject({
      type: 'NovaUnavailable',
      message: expect.stringMatching(/no answer within 12 s/u),
    });
    expect(clock.now() - sinceMs).toBeGreaterThanOrEqual(12_000);
  });
});

test('a login whose answer is lost is Keystone’s failure, and the next one works', async () => {
  let logins = 0;
  const { clock, fake } = open(({ system }) => (system === 'keystone' && (logins += 1) === 1 ? 'failAfter' : 'works'));
  await inTime(clock, async () => {
    const nova = createNovaClient(fake.openSession());
    await expect(nova.aggregates(never)).rejects.toMatchObject({ type: 'KeystoneUnavailable' });
    expect(await nova.aggregates(never)).toEqual([]);
  });
});

test('what a killed process has asked for goes on without it', async () => {
  const { clock, fake } = open();
  await inTime(clock, async () => {
    const { id } = await boot(fake);
    const worker = startProcess('worker');
    const answers: string[] = [];
    void runIn(worker, async () => {
      await createNovaClient(fake.openSession()).liveMigrate(id, { host: 'node-2' }, never);
      answers.push('accepted');
    });
    while (fake.model.servers.get(id)?.taskState !== 'migrating') await clock.sleep(1);
    worker.isAlive = false;
    await clock.sleep(10_000);
    expect(answers).toEqual([]);
    expect(await waitForServer(fake.admin, id, 'ACTIVE')).toMatchObject({ 'OS-EXT-SRV-ATTR:host': 'node-2' });
  });
});

test('the end of a migration is seen with the next poll', async () => {
  const { clock, fake } = open();
  await inTime(clock, async () => {
    const { id } = await boot(fake, 30);
    const scope = () => ({
      signal: never,
      deadlineMs: clock.now() + 600_000,
      heartbeatDetails: undefined,
      run: null,
      heartbeat: () => {},
      scheduledMs: 0,
      waitedMs: 0,
      warn: () => undefined,
    });
    const nova = createNovaClient(fake.openSession());
    const activities = createInstanceActivities({
      nova,
      clock,
      scope,
      stopGate: async () => {},
      audit: { record: async () => {} },
      report: async () => {},
    });
    const subject = { instanceId: id, sourceHost: 'node-1', eviction: { name: 'node-1', uid: 'uid' }, attempt: 1 };
    const start = await activities.startLiveMigration({ ...subject, perTarget: 1 });
    if (start.outcome !== 'started') throw new Error(start.outcome);
    const poll = { minMs: 100, maxMs: 1_000 };
    const stuck = { msPerGiB: 60_000, floorMs: 60_000, noProgressMs: 60_000, startMs: 60_000 };
    await activities.awaitMigration({ ...subject, migrationId: start.migration.id, poll, stuck, gibibytes: 0.5 });
    const endedMs = fake.journal.migrationEvents().find(({ status }) => status === 'completed')?.timeMs ?? 0;
    expect(clock.now() - endedMs).toBeLessThanOrEqual(poll.maxMs + 100);
  });
});

test('one seed gives one history, another seed another', async () => {
  const run = async (seed: number): Promise<string> => {
    const { clock, fake, network } = open(undefined, seed);
    await inTime(clock, async () => {
      const nova = createNovaClient(fake.openSession());
      const { id } = await boot(fake);
      await nova.liveMigrate(id, { host: null }, never);
      await clock.sleep(20_000);
    });
    return JSON.stringify([fake.journal.migrationEvents(), fake.journal.apiCalls('nova'), network.calls]);
  };
  expect(await run(7)).toBe(await run(7));
  expect(await run(8)).not.toBe(await run(7));
});
