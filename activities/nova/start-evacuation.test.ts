import { changeService } from '../../lab/openstack/hosts.ts';
import { act, createInstance } from '../../lab/openstack/seed.ts';
import {
  type ActivitiesOnFake,
  type ActivitiesOnFakeOptions,
  openActivitiesOnFake,
} from '../../test/fakes/openstack/activities.ts';
import type { Server } from '../../test/fakes/openstack/model.ts';
import { instanceDetail, migrationRecord } from '../../test/fixtures/activities/nova.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { NetworkCall } from '../../test/simulator/network.ts';
import { decideEvacuation } from './start-evacuation.ts';
import type { InstanceDetail } from './types.ts';

const claim = 'PUT /allocations/{id}';
const evacuate = 'POST /servers/{id}/action evacuate';
const host = 'node-2';

interface Fixture extends ActivitiesOnFake {
  server: Server;
  request: { instanceId: string; sourceHost: string; targetHost: string | null; incident: string };
  /** What drover asked for, without ids. */
  asked: () => string[];
  beats: unknown[];
}

interface Given extends Omit<ActivitiesOnFakeOptions, 'onCall' | 'scope'> {
  isForcedDown?: boolean;
  details?: unknown;
  onCall?: (call: NetworkCall, fixture: Fixture) => ReturnType<NonNullable<ActivitiesOnFakeOptions['onCall']>>;
}

/** A server on a host whose nova-compute is dead, and which is forced down. */
async function open({ isForcedDown = true, details, onCall, ...options }: Given = {}): Promise<Fixture> {
  const beats: unknown[] = [];
  const calls: string[] = [];
  const opened = openActivitiesOnFake({
    ...options,
    scope: { heartbeat: (beat) => void beats.push(beat), heartbeatDetails: details },
    onCall: (call) => {
      if (!call.verb.startsWith('GET') && call.system !== 'keystone') calls.push(call.verb);
      return onCall?.(call, fixture);
    },
  });
  const { fake, run } = opened;
  const { id } = await run(() => createInstance(fake.admin, { name: 's', host }));
  await fake.fleet.crash(host);
  if (isForcedDown) await changeService(fake.admin, host, { forced_down: true });
  const server = fake.model.servers.get(id);
  if (server === undefined) throw new Error('there is no server');
  const request = { instanceId: id, sourceHost: host, targetHost: null, incident: 'i-1' };
  const fixture: Fixture = { ...opened, server, request, asked: () => calls, beats };
  return fixture;
}

/** What another client does at the moment at which drover sends its first such request. */
const meanwhile = (verb: string, action: (fixture: Fixture) => unknown): Pick<Given, 'onCall'> => {
  let isDone = false;
  return {
    onCall: (call, fixture) => {
      if (call.verb !== verb || isDone) return 'works';
      isDone = true;
      void action(fixture);
      return 'works';
    },
  };
};

/** An evacuation that finds no host. */
async function failedEvacuation({ fake: { admin, model }, run, clock, server }: Fixture): Promise<number> {
  const hosts = model.services.filter(({ binary, isDisabled }) => binary === 'nova-compute' && !isDisabled);
  for (const service of hosts) service.isDisabled = true;
  await run(async () => {
    await act(admin, server.id, { evacuate: {} });
    while (model.migrations.at(-1)?.status !== 'error') await clock.sleep(10);
  });
  for (const service of hosts) service.isDisabled = false;
  return model.migrations.at(-1)?.id ?? 0;
}

test('asks once, remembers what was there before, and gives the record', async () => {
  const fixture = await open();
  const { activities, audited, beats, changes, request, run } = fixture;
  const earlier = await failedEvacuation(fixture);
  expect(await run(() => activities.startEvacuation(request))).toMatchObject({
    outcome: 'started',
    migration: { id: earlier + 1, type: 'evacuation' },
  });
  expect(changes('nova')).toEqual([`POST /servers/${request.instanceId}/action evacuate`]);
  expect(beats).toEqual([{ known: [earlier] }]);
  expect(audited).toMatchObject([
    {
      action: 'claimEvacuation',
      cause: 'incident i-1',
      object: `allocations/${request.instanceId}`,
      before: { generation: expect.any(Number) },
    },
    {
      action: 'startEvacuation',
      cause: 'incident i-1',
      object: `server/${request.instanceId}`,
      requestId: expect.stringMatching(/^req-/u),
    },
  ]);
});

test('the server is claimed first, by what it has in Placement', async () => {
  const { activities, asked, fake, request, run } = await open();
  const before = fake.model.placement.consumers.get(request.instanceId);
  expect(await run(() => activities.startEvacuation(request))).toMatchObject({ outcome: 'started' });
  expect(asked()).toEqual([claim, evacuate]);
  expect(fake.model.placement.consumers.get(request.instanceId)).toMatchObject({
    projectId: before?.projectId,
    allocations: before?.allocations,
  });
});

test('of two at once one asks Nova, which would take both, and the other finds its record', async () => {
  const { activities, asked, fake, request, run } = await open();
  const starts = await run(() => Promise.all([1, 2].map(() => activities.startEvacuation(request))));
  expect(starts).toMatchObject(
    [1, 2].map(() => ({ outcome: 'started', migration: { id: fake.model.migrations[0]?.id } })),
  );
  expect(fake.model.migrations).toHaveLength(1);
  expect(asked().filter((verb) => verb === evacuate)).toHaveLength(1);
});

test('allocations that Placement lets no client write keep no server on a dead host', async () => {
  const { activities, asked, request, run } = await open(
    meanwhile(claim, ({ fake: { model } }) => {
      for (const provider of model.placement.providers.values())
        for (const inventory of Object.values(provider.inventories))
          if (provider.name.startsWith(host)) inventory.total = 0;
    }),
  );
  expect(await run(() => activities.startEvacuation(request))).toMatchObject({ outcome: 'started' });
  expect(asked()).toEqual([claim, evacuate]);
});

test('without an answer to the claim nothing is asked', async () => {
  const { activities, asked, audited, request, run } = await open({
    onCall: ({ verb }) => (verb === claim ? 'failAfter' : 'works'),
  });
  await run(() => expect(activities.startEvacuation(request)).rejects.toMatchObject({ type: 'PlacementUnavailable' }));
  expect(asked()).toEqual([claim]);
  expect(audited).toMatchObject([{ action: 'claimEvacuation', after: { unanswered: true } }]);
});

test('a second request finds the first one’s record', async () => {
  const { activities, asked, request, run } = await open();
  const [first, second] = await run(async () => [
    await activities.startEvacuation(request),
    await activities.startEvacuation(request),
  ]);
  expect(second).toMatchObject({
    outcome: 'started',
    migration: { id: first?.outcome === 'started' ? first.migration.id : 0 },
  });
  expect(asked()).toEqual([claim, evacuate]);
});

test('a host that is only down is not fenced', async () => {
  const { activities, asked, request, run } = await open({ isForcedDown: false });
  await run(() =>
    expect(activities.startEvacuation(request)).rejects.toMatchObject({ type: 'HostNotFenced', nonRetryable: true }),
  );
  expect(asked()).toEqual([]);
});

test('an answer that is lost: the record that it led to is the answer', async () => {
  const { activities, fake, request, run } = await open({
    onCall: ({ verb }) => (verb === evacuate ? 'failAfter' : 'works'),
  });
  expect(await run(() => activities.startEvacuation(request))).toMatchObject({
    outcome: 'started',
    migration: { id: fake.model.migrations[0]?.id ?? 1 },
  });
});

test('a request that is lost is not sent again: it may still be on its way', async () => {
  const { activities, asked, fake, request, run } = await open({
    onCall: ({ verb }) => (verb === evacuate ? 'failBefore' : 'works'),
  });
  expect(await run(() => activities.startEvacuation(request))).toMatchObject({
    outcome: 'changed',
    observation: { instance: { host }, migration: null },
  });
  expect(asked()).toEqual([claim, evacuate]);
  expect(fake.model.migrations).toEqual([]);
});

test('a request that Nova takes up after the time-out: its record is awaited', async () => {
  const { activities, asked, fake, request, run } = await open({
    onCall: ({ verb }, { fake: { admin }, clock, server }) => {
      if (verb !== evacuate) return 'works';
      void clock.sleep(5_000).then(() => act(admin, server.id, { evacuate: {} }));
      return 'failBefore';
    },
  });
  const start = await run(() => activities.startEvacuation(request));
  expect(start).toMatchObject({ outcome: 'started', migration: { id: fake.model.migrations[0]?.id ?? 0 } });
  expect(asked().filter((verb) => verb === evacuate)).toHaveLength(1);
});

test('after a crash that followed the request nothing is asked again', async () => {
  const { activities, asked, request, run } = await open({ details: { known: [] } });
  expect(await run(() => activities.startEvacuation(request))).toMatchObject({
    outcome: 'changed',
    observation: { instance: { host }, migration: null },
  });
  expect(asked()).toEqual([]);
});

test('stopped before the request, it leaves no sign of one', async () => {
  let gates = 0;
  const { activities, asked, beats, request, run } = await open({
    stopped: () => {
      gates += 1;
      if (gates === 2) throw droverFailure('Stopped', 'drover is stopped');
    },
  });
  await run(() => expect(activities.startEvacuation(request)).rejects.toMatchObject({ type: 'Stopped' }));
  expect(asked()).toEqual([claim]);
  expect(beats).toEqual([]);
});

test('after a crash, the record that was not there before is its own, though it is over', async () => {
  const fixture = await open({ details: { known: [] } });
  const id = await failedEvacuation(fixture);
  const { activities, asked, request, run } = fixture;
  expect(await run(() => activities.startEvacuation(request))).toMatchObject({
    outcome: 'started',
    migration: { id, status: 'error' },
  });
  expect(asked()).toEqual([]);
});

type Meanwhile = [what: string, given: Given, change: Partial<Fixture['request']>, outcome: object];
const answers: Meanwhile[] = [
  [
    'the host counts as up again',
    meanwhile(evacuate, ({ fake: { admin, fleet } }) =>
      Promise.all([fleet.start(host), changeService(admin, host, { forced_down: false })]),
    ),
    {},
    { outcome: 'refused', message: `Compute service of ${host} is still in use.` },
  ],
  [
    'the server’s state',
    meanwhile(evacuate, ({ server }) => (server.vmState = 'paused')),
    {},
    { outcome: 'refused', message: expect.stringMatching(/vm_state paused/u) },
  ],
  [
    'a target that is not there',
    {},
    { targetHost: 'node-99' },
    { outcome: 'refused', message: 'Compute host node-99 not found.' },
  ],
  [
    'the server is gone',
    meanwhile(evacuate, ({ fake: { admin }, server }) => admin.compute('DELETE', `/servers/${server.id}`)),
    {},
    { outcome: 'changed', observation: { instance: null, migration: null } },
  ],
  [
    'another request came first',
    meanwhile(evacuate, ({ fake: { admin }, server }) => act(admin, server.id, { evacuate: {} })),
    {},
    { outcome: 'started', migration: expect.objectContaining({ type: 'evacuation' }) },
  ],
  [
    'it is elsewhere by now',
    meanwhile(claim, ({ server }) => (server.host = 'node-3')),
    {},
    { outcome: 'refused', message: 'Compute service of node-3 is still in use.' },
  ],
];
test.each(answers)('%s', async (_, given, change, outcome) => {
  const { activities, request, run } = await open(given);
  expect(await run(() => activities.startEvacuation({ ...request, ...change }))).toEqual(outcome);
});

test('a server that is elsewhere already is not asked for', async () => {
  const { activities, asked, request, run, server } = await open();
  server.host = 'node-3';
  expect(await run(() => activities.startEvacuation(request))).toMatchObject({
    outcome: 'changed',
    observation: { instance: { host: 'node-3' }, migration: null },
  });
  expect(asked()).toEqual([]);
});

const poll = { minMs: 10, maxMs: 100 };

test('waiting ends with the record, and with where the server is then', async () => {
  const { activities, request, run } = await open();
  const end = await run(async () => {
    const start = await activities.startEvacuation({ ...request, targetHost: 'node-4' });
    const migrationId = start.outcome === 'started' ? start.migration.id : 0;
    return await activities.awaitEvacuation({
      instanceId: request.instanceId,
      sourceHost: host,
      migrationId,
      deadlineMs: 60_000,
      poll,
    });
  });
  expect(end).toMatchObject({
    status: 'done',
    stuck: null,
    message: null,
    observation: { instance: { host: 'node-4' } },
  });
});

test('one that does not end is given back at the deadline', async () => {
  const { activities, fake, request, run } = await open();
  await fake.fleet.crash('node-4');
  const end = await run(async () => {
    // Nova does not know yet that the target is dead.
    const start = await activities.startEvacuation({ ...request, targetHost: 'node-4' });
    const migrationId = start.outcome === 'started' ? start.migration.id : 0;
    return await activities.awaitEvacuation({
      instanceId: request.instanceId,
      sourceHost: host,
      migrationId,
      deadlineMs: 5_000,
      poll,
    });
  });
  expect(end).toMatchObject({ status: 'stuck', stuck: 'TooLong' });
});

test('one that failed says why', async () => {
  const fixture = await open();
  const migrationId = await failedEvacuation(fixture);
  const { activities, request, run } = fixture;
  const end = await run(() =>
    activities.awaitEvacuation({
      instanceId: request.instanceId,
      sourceHost: host,
      migrationId,
      deadlineMs: 5_000,
      poll,
    }),
  );
  expect(end).toMatchObject({ status: 'error', message: expect.stringMatching(/^No valid host was found\./u) });
});

describe('decide evacuation', () => {
  const off = (id: number, status: string, change = {}) =>
    migrationRecord({ id, type: 'evacuation', status, ...change });

  type Row = [
    what: string,
    instance: Partial<InstanceDetail> | null,
    migrations: ReturnType<typeof off>[],
    known: number[] | null,
    decision: object,
  ];
  const rows: Row[] = [
    ['a server that is gone', null, [], null, { do: 'giveBack' }],
    ['one that runs on the dead host', {}, [], null, { do: 'request' }],
    ['one that is stopped', { vmState: 'stopped' }, [], null, { do: 'request' }],
    ['one that an earlier evacuation left in ERROR', { vmState: 'error' }, [off(1, 'error')], null, { do: 'request' }],
    ['one that Nova does not evacuate', { vmState: 'paused' }, [], null, { do: 'giveBack' }],
    ['one that its host was stopping', { taskState: 'powering-off' }, [], null, { do: 'request' }],
    ['one that moves, and may run at its target', { taskState: 'migrating' }, [], null, { do: 'giveBack' }],
    ['one that is deleted', { taskState: 'deleting' }, [], null, { do: 'giveBack' }],
    ['one whose request Nova has taken', { taskState: 'rebuilding' }, [], null, { do: 'awaitRecord' }],
    ['one that is elsewhere', { host: 'node-2' }, [off(1, 'done')], null, { do: 'giveBack' }],
    [
      'one that is on its way, whichever client asked for it',
      { taskState: 'rebuilding' },
      [off(1, 'pre-migrating')],
      null,
      { do: 'adopt', migration: expect.objectContaining({ id: 1 }) },
    ],
    [
      'one that drover’s own request has moved',
      { host: 'node-2' },
      [off(2, 'done')],
      [1],
      { do: 'adopt', migration: expect.objectContaining({ id: 2 }) },
    ],
    [
      'one whose own evacuation has failed: its end is the answer',
      { vmState: 'error' },
      [off(2, 'error')],
      [],
      { do: 'adopt', migration: expect.objectContaining({ id: 2 }) },
    ],
    ['one whose request may still arrive', {}, [off(1, 'error')], [1], { do: 'awaitRecord' }],
    [
      'one that is evacuated off another host',
      { host: 'node-1' },
      [off(1, 'done', { sourceHost: 'node-3' })],
      null,
      { do: 'request' },
    ],
    [
      'one whose live migration died with its host',
      {},
      [migrationRecord({ id: 1, status: 'running' })],
      null,
      { do: 'request' },
    ],
  ];
  test.each(rows)('%s', (_, instance, migrations, known, decision) => {
    expect(
      decideEvacuation('node-1', { instance: instance === null ? null : instanceDetail(instance), migrations }, known),
    ).toEqual(decision);
  });
});
