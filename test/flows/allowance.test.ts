import { WorkflowFailedError } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import type { AllowanceTestWorld } from './allowance/world.ts';
import { openAllowanceWorld, totalOf } from './allowance/world.ts';
import { until } from './until.ts';

let world: AllowanceTestWorld;

beforeAll(async () => {
  world = await openAllowanceWorld();
}, 120_000);

afterAll(async () => {
  await world?.close();
}, 60_000);

/** Events of a run by type, after a replay that agrees with it. */
async function eventsOf(handle: WorkflowHandle, from = world) {
  const events = (await from.historyOf(handle)).events ?? [];
  const observations = events.filter(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'observeAllowance',
  ).length;
  return {
    total: events.length,
    signals: events.filter((event) => event.workflowExecutionSignaledEventAttributes).length,
    answers: events.filter((event) => event.signalExternalWorkflowExecutionInitiatedEventAttributes).length,
    observations,
    timers: events.filter((event) => event.timerStartedEventAttributes).length,
  };
}

/**
 * Each signal and each answer may need a task of its own; an observation one for its timer and one for each of the two
 * things it reads. One that is brought forward, as something is tried, has a second timer.
 */
function expectSmall({ total, signals, answers, observations, timers }: Awaited<ReturnType<typeof eventsOf>>): void {
  expect(total).toBeLessThanOrEqual(10 + 4 * signals + 5 * answers + 17 * observations);
  expect(timers).toBeLessThanOrEqual(observations + 6);
}

test('two consumers: fair shares, never over the limit, and it ends when unused', async () => {
  const { region, begin, ended, progress, ledger } = await world.openRegion('two');
  const consumers = await Promise.all(['a', 'b'].map((host) => begin(host, { pieces: 12, parallelism: 8 })));
  await until('both to use half', 30_000, () =>
    region.inProgress['a'] === 2 && region.inProgress['b'] === 2 ? true : JSON.stringify(region.inProgress),
  );
  expect(await progress()).toMatchObject({
    phase: 'Allocating',
    limit: 4,
    inUse: 4,
    consumers: [{ allowance: 2 }, { allowance: 2 }],
    elsewhere: {},
  });
  expect(await Promise.all(consumers.map((consumer) => consumer.result()))).toEqual([12, 12]);
  expect(region.most).toBe(4);

  const [run] = await ended();
  expect(run!.status.name).toBe('COMPLETED');
  const attributes = run!.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]);
  expect(attributes).toEqual(
    expect.arrayContaining([
      ['DroverKind', 'Allowance'],
      ['DroverObject', region.name],
      ['DroverPhase', 'Allocating'],
    ]),
  );
  expectSmall(await eventsOf(ledger));
});

test('twenty consumers for four slots: every consumer is served, none waits for another to end, never over', async () => {
  const { region, begin, ended, ledger } = await world.openRegion('twenty', { limit: 4, checkMs: 1_000 });
  const hosts = Array.from({ length: 20 }, (_, index) => `host-${index}`);
  const consumers = await Promise.all(
    hosts.map((host) => begin(host, { pieces: 10, parallelism: 3, pieceMs: 600, renewMs: 10_000 })),
  );
  const first = await Promise.race(consumers.map((consumer) => consumer.result().then(() => ({ ...region.begun }))));
  expect(Object.keys(first).toSorted()).toEqual(hosts.toSorted());
  await Promise.all(consumers.map((consumer) => consumer.result()));
  expect(region.most).toBe(4);
  expect(Object.values(region.done)).toEqual(hosts.map(() => 10));
  await ended();
  expectSmall(await eventsOf(ledger));
}, 240_000);

test('a nearer deadline goes first', async () => {
  const { region, begin, ended, progress } = await world.openRegion('deadline', { limit: 1, checkMs: 60_000 });
  const first = await begin('first', { pieces: 1, parallelism: 1, pieceMs: 2_000 });
  await until('the first to work', 30_000, () => region.inProgress['first'] === 1 || 'not yet');
  const later = await begin('later', { pieces: 1, parallelism: 1, deadline: '2027-01-02T00:00:00Z' });
  const sooner = await begin('sooner', { pieces: 1, parallelism: 1, deadline: '2027-01-01T00:00:00Z' });
  await until('both to wait', 30_000, async () => (await progress()).consumers.length === 3 || 'not yet');
  await first.result();
  await Promise.race([sooner.result(), later.result()]);
  expect(region.done).toMatchObject({ sooner: 1 });
  expect(region.done['later']).toBeUndefined();
  await later.result();
  await ended();
});

test('a terminated holder keeps its slots until the world shows none of its work, and then gives them all back', async () => {
  const { region, begin, consumer, ended, progress } = await world.openRegion('killed');
  await begin('victim', { pieces: 3, parallelism: 3, pieceMs: 4_000 });
  await until(
    'the victim to work',
    30_000,
    () => region.inProgress['victim'] === 3 || JSON.stringify(region.inProgress),
  );
  await consumer('victim').terminate('test');
  const heir = await begin('heir', { pieces: 30, parallelism: 8, pieceMs: 500 });
  await until(
    'the run to be closed',
    30_000,
    async () => (await progress()).consumers.some(({ closed }) => closed) || 'not yet',
  );
  expect(region.inProgress['victim']).toBe(3);
  expect(region.inProgress['heir'] ?? 0).toBeLessThanOrEqual(1);
  await until(
    'the heir to have all',
    30_000,
    () => region.inProgress['heir'] === 4 || JSON.stringify(region.inProgress),
  );
  expect(await heir.result()).toBe(30);
  expect(region.most).toBe(4);
  await ended();
});

test('a consumer’s newer run takes the place of the old one', async () => {
  const { region, begin, consumer, ended, progress } = await world.openRegion('newer', { limit: 2, checkMs: 60_000 });
  await begin('same', { pieces: 100, parallelism: 2, pieceMs: 1_000 });
  await until('the first run to work', 30_000, () => region.inProgress['same'] === 2 || 'not yet');
  region.checkMs = 500;
  await consumer('same').terminate('test');
  const second = await begin('same', { pieces: 4, parallelism: 2, pieceMs: 300 });
  expect(await second.result()).toBe(4);
  expect(region.most).toBe(2);
  // The old one counts until an observation shows nothing of the host.
  expect((await progress()).consumers.filter(({ closed }) => !closed)).toEqual([]);
  await ended();
});

test('a ledger terminated in the middle is made again, and nothing goes over the limit meanwhile', async () => {
  const { region, begin, ended, ledger, runs } = await world.openRegion('terminated', { silentMs: 5_000 });
  const consumers = await Promise.all(
    ['a', 'b', 'c'].map((host) => begin(host, { pieces: 40, parallelism: 3, pieceMs: 300 })),
  );
  await until('all to work', 30_000, () => totalOf(region.inProgress) === 4 || JSON.stringify(region.inProgress));
  await ledger.terminate('test');
  await until(
    'a consumer to make it again',
    30_000,
    async () => (await ledger.describe()).status.name === 'RUNNING' || 'not yet',
  );
  expect(await Promise.all(consumers.map((consumer) => consumer.result()))).toEqual([40, 40, 40]);
  expect(region.most).toBe(4);
  await ended();
  expect((await runs()).map(({ status }) => status.name)).toEqual(['TERMINATED', 'COMPLETED']);
  await eventsOf(ledger);
}, 120_000);

test('an allocator without memory counts all migrations that the cloud shows', async () => {
  const { region, begin, ended, progress } = await world.openRegion('wiped');
  region.inProgress['stranger'] = 3;
  const consumer = await begin('ours', { pieces: 8, parallelism: 4, pieceMs: 300 });
  await until('the ledger to share', 30_000, async () => (await progress()).phase === 'Allocating' || 'not yet');
  expect(await progress()).toMatchObject({ elsewhere: { stranger: 3 }, consumers: [{ allowance: 1 }] });
  expect(region.inProgress['ours'] ?? 0).toBeLessThanOrEqual(1);
  region.inProgress['stranger'] = 0;
  expect(await consumer.result()).toBe(8);
  await ended();
});

test('nothing is granted before the world is read, nor is the run lost while it cannot be', async () => {
  const { region, begin, ended, progress } = await world.openRegion('unreadable');
  region.silent = true;
  const consumer = await begin('a', { pieces: 2, parallelism: 2, pieceMs: 100 });
  await until('the consumer to be known', 30_000, async () => (await progress()).consumers.length === 1 || 'not yet');
  expect(await progress()).toMatchObject({ phase: 'Observing', limit: null, consumers: [{ allowance: 0 }] });
  region.silent = false;
  expect(await consumer.result()).toBe(2);
  await ended();
});

test('a consumer that is open and does not report any more holds nothing in the end, and that is said', async () => {
  const { region, begin, ended, progress, report } = await world.openRegion('mute', { silentMs: 3_000 });
  const mute = await world.client.workflow.start('moveDeadline', {
    workflowId: 'a-mute-run',
    taskQueue: workflowQueue(''),
    args: [600_000, null],
  });
  const said = { want: 4, using: 0, deadline: null, acknowledged: null };
  await report({ ...said, consumer: mute.workflowId, runId: mute.firstExecutionRunId, host: 'mute' });
  await until('it to have all', 30_000, async () => (await progress()).consumers[0]?.allowance === 4 || 'not yet');
  const heir = await begin('heir', { pieces: 12, parallelism: 4, pieceMs: 300 });
  await until(
    'the heir to have all',
    60_000,
    () => region.inProgress['heir'] === 4 || JSON.stringify(region.inProgress),
  );
  const { consumers } = await progress();
  expect(consumers.find(({ host }) => host === 'mute')).toMatchObject({
    allowance: 0,
    closed: false,
    muteSince: expect.stringMatching(/^20/u) as string,
  });
  expect(await heir.result()).toBe(12);
  expect(region.most).toBe(4);
  await mute.terminate('test');
  await ended();
});

test('a lowered limit drains and aborts nothing', async () => {
  const { region, begin, ended, progress } = await world.openRegion('lowered');
  const consumers = await Promise.all(
    ['a', 'b'].map((host) => begin(host, { pieces: 10, parallelism: 4, pieceMs: 1_500 })),
  );
  await until('both to work', 30_000, () => totalOf(region.inProgress) === 4 || JSON.stringify(region.inProgress));
  region.limit = 1;
  await until('the ledger to know', 30_000, async () => (await progress()).limit === 1 || 'not yet');
  // Pieces that end leave less in progress for a moment, while another may still be begun of what was granted.
  await until(
    'no more granted',
    30_000,
    async () => (await progress()).inUse <= 1 || JSON.stringify(region.inProgress),
  );
  region.most = 0;
  await until('some more to be done', 60_000, () => totalOf(region.begun) >= 8 || JSON.stringify(region.begun));
  expect(region.most).toBe(1);
  region.limit = 8;
  expect(await Promise.all(consumers.map((consumer) => consumer.result()))).toEqual([10, 10]);
  await ended();
}, 120_000);

test('a report that is none changes nothing', async () => {
  const { begin, ended, progress, report } = await world.openRegion('garbage');
  const consumer = await begin('a', { pieces: 3, parallelism: 1, pieceMs: 1_000 });
  await until('the consumer to be known', 30_000, async () => (await progress()).consumers.length === 1 || 'not yet');
  for (const nonsense of [
    null,
    7,
    {},
    { consumer: 'x', runId: 'y', host: 'h', want: -1, using: 0 },
    { consumer: '', runId: '', host: '', want: 1e9, using: 0 },
  ])
    await report(nonsense);
  expect((await progress()).consumers).toHaveLength(1);
  expect(await consumer.result()).toBe(3);
  await ended();
});

test('a consumer that does not exist gets nothing for long', async () => {
  const { begin, ended, progress, report } = await world.openRegion('ghost', { limit: 2 });
  await report({
    consumer: 'unknown',
    runId: '00000000-0000-4000-8000-000000000000',
    host: 'nowhere',
    want: 2,
    using: 0,
    deadline: null,
  });
  const consumer = await begin('a', { pieces: 4, parallelism: 2, pieceMs: 200 });
  expect(await consumer.result()).toBe(4);
  await ended();
  // One more observation, which drops it altogether, may have come already.
  expect((await progress()).consumers.filter(({ closed }) => !closed)).toEqual([]);
});

test('under another id, or without a region, it refuses to run', async () => {
  const start = (workflowId: string, input: object) =>
    world.client.workflow.execute(workflowTypes.allocateAllowance, {
      workflowId,
      taskQueue: workflowQueue(''),
      args: [input],
    });
  await expect(start('limits/migrations/elsewhere', { region: 'here' })).rejects.toMatchObject({
    cause: { type: 'InvalidInput', message: expect.stringContaining('limits/migrations/here') },
  });
  await expect(start('limits/migrations/', {})).rejects.toBeInstanceOf(WorkflowFailedError);
  expect(await start('limits/migrations/idle', { region: 'idle' })).toEqual({ region: 'idle', answersGiven: 0 });
});

test('cancelled, it ends at once, and the next report starts it again', async () => {
  const { region, begin, ended, ledger, runs } = await world.openRegion('cancelled', { silentMs: 4_000 });
  const consumer = await begin('a', { pieces: 20, parallelism: 2, pieceMs: 300 });
  await until('it to work', 30_000, () => totalOf(region.inProgress) === 2 || 'not yet');
  await ledger.cancel();
  expect(await consumer.result()).toBe(20);
  await ended();
  expect((await runs())[0]!.status.name).toBe('CANCELLED');
});

test('it continues as new with what it knows', async () => {
  const other = await openAllowanceWorld({ longHistory: 60 });
  try {
    const { region, begin, ended, ledger } = await other.openRegion('continued', { checkMs: 300 });
    const consumers = await Promise.all(
      ['a', 'b', 'c'].map((host) => begin(host, { pieces: 20, parallelism: 2, pieceMs: 300 })),
    );
    expect(await Promise.all(consumers.map((consumer) => consumer.result()))).toEqual([20, 20, 20]);
    expect(region.most).toBe(4);
    const chain = (await ended()).map(({ status }) => status.name);
    expect(chain.length).toBeGreaterThan(2);
    expect(new Set(chain)).toEqual(new Set(['CONTINUED_AS_NEW', 'COMPLETED']));
    expect(chain.filter((status) => status === 'COMPLETED')).toHaveLength(1);
    await eventsOf(ledger, other);
  } finally {
    await other.close();
  }
}, 120_000);

describe('one timer for a deadline that moves', () => {
  type Row = [
    why: string,
    firstMs: number,
    thenMs: number | null,
    timers: { started: number; cancelled: number; fired: number },
  ];
  const rows: Row[] = [
    ['not at all', 2_000, 2_000, { started: 1, cancelled: 0, fired: 1 }],
    ['later: it rings for nothing once', 2_000, 3_000, { started: 2, cancelled: 0, fired: 2 }],
    ['earlier', 600_000, 2_000, { started: 2, cancelled: 1, fired: 1 }],
    ['into the past', 600_000, 0, { started: 1, cancelled: 0, fired: 0 }],
    ['away', 600_000, null, { started: 1, cancelled: 1, fired: 0 }],
  ];
  test.each(rows)('%s', async (why, firstMs, thenMs, timers) => {
    const handle = await world.client.workflow.start('moveDeadline', {
      workflowId: `timer/${why}`,
      taskQueue: workflowQueue(''),
      args: [firstMs, thenMs],
    });
    await until(
      'the first deadline to be set',
      10_000,
      async () => (await handle.fetchHistory()).events!.some((event) => event.timerStartedEventAttributes) || 'not yet',
    );
    await handle.signal('move');
    const ended = (await handle.result()) as { due: boolean; afterMs: number };
    expect(ended.due).toBe(thenMs !== null);
    expect(ended.afterMs).toBeGreaterThanOrEqual(thenMs ?? 0);
    const { events } = await handle.fetchHistory();
    expect({
      started: events!.filter((event) => event.timerStartedEventAttributes).length,
      cancelled: events!.filter((event) => event.timerCanceledEventAttributes).length,
      fired: events!.filter((event) => event.timerFiredEventAttributes).length,
    }).toEqual(timers);
  });
});

test('a consumer that leaves starts no ledger, and closed runs are found', async () => {
  const call = (name: string, input: unknown) =>
    world.client.workflow.execute('callActivity', {
      workflowId: `call/${(calls += 1)}`,
      taskQueue: workflowQueue(''),
      args: [name, input],
    });
  let calls = 0;
  const { begin, consumer, ledger } = await world.openRegion('activities');
  await call('requestAllowance', {
    region: 'activities',
    request: { consumer: 'x', runId: 'y', host: 'h', want: 0, using: 0, deadline: null },
  });
  await expect(ledger.describe()).rejects.toThrow(/not found/i);

  const open = await begin('open', { pieces: 1, parallelism: 1, pieceMs: 100, region: 'no-worker' });
  const { runId } = await consumer('open').describe();
  const requests = [
    { consumer: open.workflowId, runId },
    { consumer: open.workflowId, runId: 'an-older-run' },
    { consumer: 'never-started', runId: 'no-run' },
  ];
  expect(await call('findClosedConsumers', requests)).toEqual(['an-older-run', 'no-run']);
  await call('cancelRun', { workflowId: open.workflowId, runId });
  await expect(open.result()).rejects.toBeInstanceOf(WorkflowFailedError);
  expect(await call('findClosedConsumers', requests)).toEqual([runId, 'an-older-run', 'no-run']);
  await expect(call('cancelRun', { workflowId: open.workflowId, runId })).resolves.toBeUndefined();
});
