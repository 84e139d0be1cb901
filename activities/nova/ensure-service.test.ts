import type { ForcedDownProof } from '../../contracts/node-failure/fencing.ts';
import { changeService } from '../../lab/openstack/hosts.ts';
import { act, createInstance } from '../../lab/openstack/seed.ts';
import { droverFailure } from '../../runtime/failure.ts';
import {
  type ActivitiesOnFake,
  type ActivitiesOnFakeOptions,
  openActivitiesOnFake,
} from '../../test/fakes/openstack/activities.ts';
import { judgeProof } from './ensure-service.ts';

const host = 'node-1';
const reason = 'drover: eviction';

interface Fixture extends ActivitiesOnFake {
  serviceId: string;
}

/** With the service of node-1 as given. */
async function open(before: object = {}, options: ActivitiesOnFakeOptions = {}): Promise<Fixture> {
  const opened = openActivitiesOnFake(options);
  const serviceId = opened.fake.model.services.find((service) => service.host === host)?.id ?? '';
  if (Object.keys(before).length > 0) await changeService(opened.fake.admin, host, before);
  return { ...opened, serviceId };
}

/** Disabled, and forced down. */
const down = { status: 'disabled', forced_down: true };

const conflict = async (): Promise<never> => {
  throw droverFailure('ServiceConflict', 'conflict');
};

test('two that disable at once: where Nova refuses the second, that one finds it done', async () => {
  const { activities, audited, run } = await open(
    {},
    {
      instead: (client) => ({
        updateService: async (...given) => {
          await client.updateService(...given);
          return await conflict();
        },
      }),
    },
  );
  expect(await run(() => activities.ensureServiceDisabled({ host, reason }))).toMatchObject({
    status: 'disabled',
    disabledReason: reason,
  });
  expect(audited).toEqual([]);
});

test('a conflict that leaves it as it was is tried again later', async () => {
  const { activities, run } = await open({}, { instead: () => ({ updateService: conflict }) });
  await run(() =>
    expect(activities.ensureServiceDisabled({ host, reason })).rejects.toMatchObject({
      type: 'ServiceConflict',
      nonRetryable: false,
    }),
  );
});

const ours = { status: 'disabled', disabled_reason: reason };
type Enable = [what: string, before: object, request: { carrying?: string | null }, enabled: boolean, changes: number];
const enables: Enable[] = [
  ['one that is enabled is left', {}, {}, true, 0],
  ['drover’s own reason is lifted', ours, {}, true, 1],
  ['another user’s is not', { status: 'disabled', disabled_reason: 'CHG-1' }, {}, false, 0],
  ['none is not drover’s', { status: 'disabled' }, {}, false, 0],
  [
    'exactly the reason that the caller proved is lifted, whatever it is',
    { status: 'disabled', disabled_reason: 'CHG-1' },
    { carrying: 'CHG-1' },
    true,
    1,
  ],
  ['none, where the caller proved that none is its own', { status: 'disabled' }, { carrying: null }, true, 1],
  ['another one than the caller proved is not, even drover’s', ours, { carrying: 'drover: maintenance' }, false, 0],
];
test.each(enables)('enabling: %s', async (_, before, request, enabled, changes) => {
  const opened = await open(before);
  expect(await opened.run(() => opened.activities.ensureServiceEnabled({ host, ...request }))).toBe(enabled);
  expect(opened.changes('nova')).toHaveLength(changes);
  expect(opened.audited).toHaveLength(changes);
});

const proof = { incident: 'i-1', by: 'power-off' as const, witness: 'bmc-1', at: '2026-01-01T00:00:00Z' };
const forceDown = { host, forcedDown: true, proof };

test('forcing down sends it once, and writes down by which proof', async () => {
  const { activities, audited, changes, fake, run, serviceId } = await open();
  await fake.fleet.crash(host);
  expect(await run(() => activities.ensureForcedDown(forceDown))).toMatchObject({
    forcedDown: true,
    state: 'down',
    status: 'enabled',
  });
  await run(() => activities.ensureForcedDown(forceDown));
  expect(changes('nova')).toEqual([`PUT /os-services/${serviceId}`]);
  const entry = {
    action: 'ensureForcedDown',
    cause: 'incident i-1: power-off, bmc-1 at 2026-01-01T00:00:00Z',
    object: `compute-service/${host}`,
  };
  expect(audited).toMatchObject([
    {
      ...entry,
      before: { forcedDown: false },
      after: { forcedDown: true },
      requestId: expect.stringMatching(/^req-/u),
    },
  ]);
});

test('a lost answer converges: the next attempt finds it forced down', async () => {
  const { activities, audited, changes, run } = await open(
    {},
    { onCall: ({ verb }) => (verb === 'PUT /os-services/{id}' ? 'failAfter' : 'works') },
  );
  await run(() =>
    expect(activities.ensureForcedDown(forceDown)).rejects.toMatchObject({
      type: 'NovaUnavailable',
      nonRetryable: false,
    }),
  );
  expect(await run(() => activities.ensureForcedDown(forceDown))).toMatchObject({ forcedDown: true });
  expect(changes('nova')).toHaveLength(1);
  const after = { asked: { forcedDown: true }, failed: expect.stringMatching(/^Nova at .*PUT \/v2.1\/os-services/u) };
  expect(audited).toMatchObject([
    {
      action: 'ensureForcedDown',
      cause: expect.stringMatching(/^incident i-1: power-off/u),
      before: { forcedDown: false },
      after,
      requestId: null,
    },
  ]);
});

test('a run that ends in the middle of the request has its line: the service may be forced down', async () => {
  const ended = new AbortController();
  const { activities, audited, run } = await open(
    {},
    {
      scope: { signal: ended.signal },
      instead: (client) => ({
        updateService: (...given) => {
          const answer = client.updateService(...given);
          ended.abort(new Error('TERMINATED'));
          return answer;
        },
      }),
    },
  );
  await run(() => expect(activities.ensureForcedDown(forceDown)).rejects.toThrow('TERMINATED'));
  expect(audited).toMatchObject([
    { action: 'ensureForcedDown', after: { asked: { forcedDown: true }, failed: 'TERMINATED' } },
  ]);
});

test('a host whose nova-compute has not dropped its evacuated guests is not forced up', async () => {
  const { activities, clock, fake, run } = await open();
  await run(async () => {
    const { id } = await createInstance(fake.admin, { name: 'evacuated', host });
    await fake.fleet.crash(host);
    await changeService(fake.admin, host, { forced_down: true });
    await act(fake.admin, id, { evacuate: {} });
    while (fake.model.migrations[0]?.status !== 'done') await clock.sleep(10);
    await expect(
      activities.ensureForcedDown({ ...forceDown, forcedDown: false, proof: { ...proof, by: 'restart' } }),
    ).rejects.toMatchObject({ type: 'EvacuatedGuestsRemain', nonRetryable: true });
  });
});

test('nothing is changed while drover is stopped', async () => {
  const { activities, changes, run } = await open(
    {},
    {
      stopped: () => {
        throw new Error('stopped');
      },
    },
  );
  await run(() => expect(activities.ensureForcedDown(forceDown)).rejects.toThrow('stopped'));
  expect(changes('nova')).toEqual([]);
});

test('a proof that proves nothing changes nothing', async () => {
  const { activities, changes, run } = await open();
  await run(() =>
    expect(activities.ensureForcedDown({ ...forceDown, proof: { ...proof, by: 'person' } })).rejects.toMatchObject({
      type: 'HostUp',
    }),
  );
  expect(changes('nova')).toEqual([]);
});

test('a service is deleted once, and a second request finds it gone', async () => {
  const { activities, audited, changes, run, serviceId } = await open(down);
  for (const attempt of [1, 2])
    await run(() => activities.ensureServiceDeleted({ host, serviceId }).then(() => attempt));
  expect(changes('nova')).toEqual([`DELETE /os-services/${serviceId}`]);
  expect(audited).toMatchObject([
    {
      action: 'ensureServiceDeleted',
      object: `compute-service/${host}`,
      before: { serviceId, status: 'disabled' },
      after: null,
    },
  ]);
});

test('two that delete at once: the one that Nova refuses finds it gone', async () => {
  const { activities, audited, changes, fake, run, serviceId } = await open(down);
  // Of a host in an aggregate, Nova answers 500 to one of two.
  await fake.admin.compute('POST', '/os-aggregates', { body: { aggregate: { name: 'fast' } } });
  await fake.admin.compute('POST', '/os-aggregates/1/action', { body: { add_host: { host } } });
  await run(() => Promise.all([1, 2].map(() => activities.ensureServiceDeleted({ host, serviceId }))));
  expect(changes('nova')).toHaveLength(2);
  expect(audited).toMatchObject([
    { after: null },
    { after: { asked: null, failed: expect.stringMatching(/^Nova answered 500/u) } },
  ]);
});

test('two that delete at once: one finds it gone while it reads the servers', async () => {
  const { activities, changes, run, serviceId } = await open(down, {
    onCall: ({ verb }, fake) => {
      if (verb === 'GET /servers/detail') void fake.admin.compute('DELETE', `/os-services/${serviceId}`);
      return 'works';
    },
  });
  await run(() => activities.ensureServiceDeleted({ host, serviceId }));
  expect(changes('nova')).toEqual([]);
});

test('a deletion that Nova could not do is a failure to be tried again', async () => {
  const { activities, run, serviceId } = await open(down, {
    onCall: ({ verb }) => (verb === 'DELETE /os-services/{id}' ? 'failBefore' : 'works'),
  });
  await run(() =>
    expect(activities.ensureServiceDeleted({ host, serviceId })).rejects.toMatchObject({
      type: 'NovaUnavailable',
      nonRetryable: false,
    }),
  );
});

type Refusal = [what: string, prepare: (fixture: Fixture) => Promise<unknown>, code: string, reason: RegExp];
const refusals: Refusal[] = [
  [
    'with servers',
    ({ fake: { admin } }) => createInstance(admin, { name: 'a', host }).then(() => changeService(admin, host, down)),
    'HostNotEmpty',
    /1 server is on node-1: [0-9a-f-]{36}\. /u,
  ],
  [
    'that is enabled',
    ({ fake: { admin } }) => changeService(admin, host, { forced_down: true }),
    'HostEnabled',
    /node-1 is enabled/u,
  ],
  [
    'that is up',
    ({ fake: { admin } }) => changeService(admin, host, { status: 'disabled' }),
    'HostUp',
    /nova-compute on node-1 is running/u,
  ],
  [
    'with migrations in progress, as Nova knows them',
    async ({ fake: { admin, model } }) => {
      await createInstance(admin, { name: 'a', host, state: 'VERIFY_RESIZE' });
      await changeService(admin, host, down);
      return model;
    },
    'HostNotEmpty',
    /in-progress migrations/u,
  ],
];
test.each(refusals)('a service %s is not deleted', async (what, prepare, code, words) => {
  const fixture = await open();
  const { activities, audited, run, serviceId } = fixture;
  await run(() => prepare(fixture));
  await run(() =>
    expect(activities.ensureServiceDeleted({ host, serviceId })).rejects.toMatchObject({
      type: code,
      nonRetryable: true,
      message: expect.stringMatching(words),
    }),
  );
  // Nova alone knows of the migrations, so it was asked.
  const lines =
    code === 'HostNotEmpty' && what.includes('migrations')
      ? [{ after: { asked: null, failed: expect.any(String) } }]
      : [];
  expect(audited).toMatchObject(lines);
});

test('a service of another host is not deleted', async () => {
  const { activities, run, serviceId } = await open(down);
  await run(() =>
    expect(activities.ensureServiceDeleted({ host: 'node-2', serviceId })).rejects.toMatchObject({
      type: 'HostNotFound',
      message: expect.stringMatching(/node-1’s, not node-2’s/u),
    }),
  );
});

test('a service whose cell is down is not deleted', async () => {
  const { activities, run, serviceId } = await open(down, {
    instead: (client) => ({
      computeServices: async (signal) =>
        (await client.computeServices(signal)).map((service) =>
          service.host === host ? { ...service, id: '', cellDown: true } : service,
        ),
    }),
  });
  await run(() =>
    expect(activities.ensureServiceDeleted({ host, serviceId })).rejects.toMatchObject({
      type: 'HostAttributeMissing',
      message: expect.stringMatching(/cell of host node-1 is down/u),
    }),
  );
});

test('a service that has registered since under the same name is left alone', async () => {
  const { activities, changes, fake, run, serviceId } = await open();
  await fake.fleet.crash(host);
  await fake.admin.compute('DELETE', `/os-services/${serviceId}`);
  await fake.fleet.reinstall(host);
  await changeService(fake.admin, host, down);
  await run(() => activities.ensureServiceDeleted({ host, serviceId }));
  expect(changes('nova')).toEqual([]);
});

describe('ensure forced down', () => {
  const proof: ForcedDownProof = { incident: 'i-1', by: 'power-off', witness: 'bmc-1', at: '2026-01-01T00:00:00Z' };

  type Row = [
    what: string,
    forcedDown: boolean,
    change: Partial<ForcedDownProof>,
    state: 'up' | 'down',
    code: 'HostNotFenced' | 'HostUp' | null,
  ];
  const rows: Row[] = [
    ['power is off: down, whatever Nova still shows', true, {}, 'up', null],
    ['a person’s word: down', true, { by: 'person' }, 'down', null],
    ['a person’s word against what Nova hears: not down', true, { by: 'person' }, 'up', 'HostUp'],
    ['a restart is no reason to force down', true, { by: 'restart' }, 'down', 'HostNotFenced'],
    ['a restart: up', false, { by: 'restart' }, 'down', null],
    ['a person’s word: up', false, { by: 'person' }, 'down', null],
    ['power that is off is no reason to force up', false, {}, 'down', 'HostNotFenced'],
    ['no incident', true, { incident: ' ' }, 'down', 'HostNotFenced'],
    ['no witness', true, { witness: '' }, 'down', 'HostNotFenced'],
    ['no time', true, { at: 'yesterday' }, 'down', 'HostNotFenced'],
  ];
  test.each(rows)('%s', (_, forcedDown, change, state, code) => {
    const judge = () => judgeProof({ host: 'node-1', state }, { forcedDown, proof: { ...proof, ...change } });
    if (code === null) expect(judge).not.toThrow();
    else expect(judge).toThrow(expect.objectContaining({ type: code, nonRetryable: true }));
  });
});
