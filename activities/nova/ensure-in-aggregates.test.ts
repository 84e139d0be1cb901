import { createInstance } from '../../lab/openstack/seed.ts';
import {
  openActivitiesOnFake,
  type ActivitiesOnFake,
  type ActivitiesOnFakeOptions,
} from '../../test/fakes/openstack/activities.ts';
import type { NetworkCall } from '../../test/simulator/network.ts';
import type { ErrorCode } from '../../contracts/errors.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { compareMemberships, ensureInAggregates } from './ensure-in-aggregates.ts';
import { stubClient, testClock, testScope } from '../../test/fixtures/activities/nova.ts';
import type { Aggregate, NovaClient } from './types.ts';

const host = 'node-1';
const names = ['az-a', 'tests', 'fast', 'slow'];
const [adds, removes] = ['add_host', 'remove_host'].map((action) => `POST /os-aggregates/{id}/action ${action}`);

interface Fixture extends ActivitiesOnFake {
  /** Names of the aggregates that the host is in. */
  members: () => string[];
  /** `add_host fast`. */
  changed: () => string[];
  aggregate: (name: string) => { id: number; uuid: string };
}

/** Aggregates 1 to 4 by `names`, each with node-2; the host is in `hosts`. */
async function open(memberships: readonly string[], options: ActivitiesOnFakeOptions = {}): Promise<Fixture> {
  const opened = openActivitiesOnFake(options);
  const { admin, model } = opened.fake;
  for (const name of names) {
    await admin.compute('POST', '/os-aggregates', {
      body: { aggregate: { name, availability_zone: name === 'az-a' ? 'a' : null } },
    });
    const { id = 0 } = model.aggregates.find((one) => one.name === name) ?? {};
    for (const member of ['node-2', ...(memberships.includes(name) ? [host] : [])])
      await admin.compute('POST', `/os-aggregates/${id}/action`, { body: { add_host: { host: member } } });
  }
  const nameOf = (id: string): string => names[Number(id) - 1] ?? id;
  return {
    ...opened,
    members: () => model.aggregates.filter(({ hosts }) => hosts.includes(host)).map(({ name }) => name),
    changed: () =>
      opened
        .changes('nova')
        .map((change) =>
          change.replace(
            /^POST \/os-aggregates\/(\d+)\/action (\w+)$/u,
            (_, id: string, action: string) => `${action} ${nameOf(id)}`,
          ),
        ),
    aggregate: (name) => model.aggregates.find((one) => one.name === name) ?? { id: 0, uuid: '' },
  };
}

/** Another client does what drover is about to do. */
const first = (verb: string | undefined, action: (fake: ActivitiesOnFake['fake']) => void): ActivitiesOnFakeOptions => {
  let isDone = false;
  return {
    onCall: (call: NetworkCall, fake) => {
      if (call.verb === verb && !isDone) {
        isDone = true;
        action(fake);
      }
      return 'works';
    },
  };
};

const changeAs = (
  { admin, model }: ActivitiesOnFake['fake'],
  name: string,
  action: 'add_host' | 'remove_host',
  member = host,
): void =>
  void admin.compute('POST', `/os-aggregates/${model.aggregates.find((one) => one.name === name)?.id}/action`, {
    body: { [action]: { host: member } },
  });

test('a host comes into what it should be in before it leaves the rest', async () => {
  const { activities, aggregate, audited, changed, run } = await open(['az-a', 'tests']);
  expect(await run(() => activities.ensureInAggregates({ host, names: ['az-a', 'fast'] }))).toEqual([
    { name: 'az-a', uuid: aggregate('az-a').uuid, metadata: { availability_zone: 'a' } },
    { name: 'fast', uuid: aggregate('fast').uuid, metadata: {} },
  ]);
  expect(changed()).toEqual(['add_host fast', 'remove_host tests']);
  expect(audited).toMatchObject([
    { action: 'addToAggregate', object: 'aggregate/fast', before: { [host]: false }, after: { [host]: true } },
    { action: 'removeFromAggregate', object: 'aggregate/tests' },
  ]);
});

test('a host that is where it should be costs no change', async () => {
  const { activities, changed, run } = await open(['az-a']);
  await run(() => activities.ensureInAggregates({ host, names: ['az-a'] }));
  expect(changed()).toEqual([]);
});

test('it is in exactly the named ones, and in none where none are named', async () => {
  const { activities, members, run } = await open(['az-a', 'fast', 'slow']);
  for (const wanted of [['az-a', 'tests'], ['tests'], []]) {
    await run(() => activities.ensureInAggregates({ host, names: wanted }));
    expect(members()).toEqual(wanted);
  }
});

test('all names without an aggregate are named, and nothing is done', async () => {
  const { activities, changed, run } = await open(['tests']);
  await run(async () => {
    await expect(activities.ensureInAggregates({ host, names: ['fast', 'gold', 'az-z'] })).rejects.toMatchObject({
      type: 'AggregateNotFound',
      nonRetryable: true,
      message: expect.stringContaining('Nova has no aggregates gold, az-z'),
    });
    await expect(
      activities.addToAggregates({
        host,
        aggregates: [
          { id: 8, name: 'gold' },
          { id: 9, name: 'az-z' },
        ],
      }),
    ).rejects.toMatchObject({ type: 'AggregateNotFound', message: expect.stringContaining('gold, az-z') });
  });
  expect(changed()).toEqual([]);
});

test('two that add at once: the one that Nova refuses finds it done', async () => {
  const { activities, audited, members, run } = await open(
    ['tests'],
    first(adds, (fake) => changeAs(fake, 'fast', 'add_host')),
  );
  expect(await run(() => activities.ensureInAggregates({ host, names: ['fast'] }))).toMatchObject([{ name: 'fast' }]);
  expect(members()).toEqual(['fast']);
  expect(audited.map(({ action, after }) => [action, after])).toEqual([
    ['addToAggregate', { asked: { [host]: true }, failed: expect.any(String) as string }],
    ['removeFromAggregate', { [host]: false }],
  ]);
});

test('nothing is removed unless all was added; what can be added is', async () => {
  const { activities, changed, fake, run } = await open(['tests']);
  await fake.admin.compute('POST', '/os-aggregates', { body: { aggregate: { name: 'az-b', availability_zone: 'b' } } });
  changeAs(fake, 'az-b', 'add_host');
  await run(() =>
    expect(activities.ensureInAggregates({ host, names: ['az-a', 'fast'] })).rejects.toMatchObject({
      type: 'AggregateRefused',
      nonRetryable: true,
      message: expect.stringMatching(/already in availability zone/u),
    }),
  );
  expect(changed()).toEqual(['add_host az-a', 'add_host fast']);
});

test('several refusals are one failure', async () => {
  const { activities, fake, run } = await open([]);
  await fake.admin.compute('POST', '/os-aggregates', { body: { aggregate: { name: 'az-b', availability_zone: 'b' } } });
  // A host with servers does not change its zone.
  await run(() => createInstance(fake.admin, { name: 'guest', host }));
  await run(() =>
    expect(activities.ensureInAggregates({ host, names: ['az-a', 'az-b'] })).rejects.toMatchObject({
      type: 'AggregateRefused',
      message: expect.stringMatching(/^az-a: Cannot add .*; az-b: Cannot add /u),
    }),
  );
});

test('of several refusals, the one that cannot mend itself decides whether to try again', async () => {
  const aggregates = ['fast', 'slow'].map((name, index): Aggregate => ({
    id: index,
    uuid: name,
    name,
    hosts: [host],
    metadata: {},
    availabilityZone: null,
  }));
  const refusals: [code: ErrorCode, reason: string][] = [
    ['ProviderConflict', 'A conflict was encountered'],
    ['AggregateRefused', 'no'],
  ];
  const nova = stubClient<NovaClient>({
    aggregates: async () => aggregates,
    removeFromAggregate: async (id) => {
      const [code, words] = refusals[id] ?? ['NovaUnavailable', ''];
      throw droverFailure(code, words, { details: { words } });
    },
  });
  const tools = {
    nova,
    stopGate: async () => {},
    audit: { record: async () => {} },
    clock: testClock(),
    scope: testScope(),
  };
  await expect(ensureInAggregates(tools, { host, names: [] })).rejects.toMatchObject({
    type: 'AggregateRefused',
    nonRetryable: true,
    message: expect.stringMatching(/^fast: A conflict .*; slow: no\. /u),
  });
});

test('leaving an aggregate that has just been deleted is done', async () => {
  const { activities, aggregate, members, run } = await open(
    ['fast'],
    first(removes, (fake) => {
      for (const member of [host, 'node-2']) changeAs(fake, 'fast', 'remove_host', member);
      void fake.admin.compute(
        'DELETE',
        `/os-aggregates/${fake.model.aggregates.find(({ name }) => name === 'fast')?.id}`,
      );
    }),
  );
  await run(() => activities.ensureInAggregates({ host, names: [] }));
  await run(() => activities.removeFromAggregates({ host, aggregates: [{ id: 77, name: 'deleted' }] }));
  expect([members(), aggregate('fast').id]).toEqual([[], 0]);
});

test('an answer that does not come ends it at once', async () => {
  const { activities, changed, run } = await open(['tests'], {
    onCall: ({ verb }) => (verb === adds ? 'failAfter' : 'works'),
  });
  await run(() =>
    expect(activities.ensureInAggregates({ host, names: ['fast', 'slow'] })).rejects.toMatchObject({
      type: 'NovaUnavailable',
    }),
  );
  expect(changed()).toEqual(['add_host fast']);
});

test('a host that has gone ends it at once', async () => {
  const { activities, changed, run } = await open(
    ['tests'],
    first(adds, ({ model }) => void model.hypervisors.delete(host)),
  );
  await run(() =>
    expect(activities.ensureInAggregates({ host, names: ['fast', 'slow'] })).rejects.toMatchObject({
      type: 'HostNotFound',
    }),
  );
  expect(changed()).toEqual(['add_host fast']);
});

const aggregate = (id: number, name: string, hosts: string[]): Aggregate => ({
  id,
  uuid: `u${id}`,
  name,
  hosts,
  metadata: {},
  availabilityZone: null,
});
const known = [aggregate(1, 'a', [host]), aggregate(2, 'b', []), aggregate(3, 'c', ['node-10'])];
type Row = [wanted: string[], missing: string[], add: string[], remove: string[]];
const rows: Row[] = [
  [['a'], [], [], []],
  [['b'], [], ['b'], ['a']],
  [['a', 'c', 'c'], [], ['c'], []],
  [[], [], [], ['a']],
  [['x', 'a', 'x', 'y'], ['x', 'y'], [], []],
];
test.each(rows)('wanted %j', (wanted, missing, add, remove) => {
  const change = compareMemberships(known, host, wanted);
  expect([change.missing, change.add.map(({ name }) => name), change.remove.map(({ name }) => name)]).toEqual([
    missing,
    add,
    remove,
  ]);
});
