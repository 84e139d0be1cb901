import type { WorkflowHandle } from '@temporalio/client';
import type { SlotsWorld } from './slots/world.ts';
import { openSlotsWorld } from './slots/world.ts';
import { until } from './until.ts';

/** The creates of a vCenter, allocated to runs that want one each. */

let world: SlotsWorld;

beforeAll(async () => {
  world = await openSlotsWorld();
}, 120_000);

afterAll(async () => {
  await world?.close();
}, 60_000);

/** How many events of its history have that name, by a part of it, after a replay that agrees. */
async function eventsOf(handle: WorkflowHandle): Promise<{ total: number; of: (attributes: string) => number }> {
  const events = (await world.historyOf(handle)).events ?? [];
  return {
    total: events.length,
    of: (attributes) =>
      events.filter((event) => Boolean((event as unknown as Record<string, unknown>)[attributes])).length,
  };
}

test('alone, it has its slot with the answer to its request: no signal, no timer', async () => {
  const { vcenter, begin, run, ended } = await world.openVcenter('alone');
  await (await begin('a')).result();
  expect(vcenter.begun).toEqual(['a']);
  const { total, of } = await eventsOf(run('a'));
  expect({
    signals: of('workflowExecutionSignaledEventAttributes'),
    timers: of('timerStartedEventAttributes'),
    given: of('signalExternalWorkflowExecutionInitiatedEventAttributes'),
  }).toEqual({ signals: 0, timers: 0, given: 1 });
  // Its start, its task and its end have 11; to ask has six, and to give back five.
  expect(total).toBe(22);
  expect(await ended()).toEqual({ status: 'COMPLETED' });
});

test('forty for three: never more, in the order of arrival, without polling', async () => {
  const { vcenter, begin, run, waitingFor, queueOf, progress, ended, ledger } = await world.openVcenter('forty', {
    limit: 3,
    checkMs: 60_000,
  });
  vcenter.gate = Promise.withResolvers<void>();
  const first = await Promise.all(['a', 'b', 'c'].map((name) => begin(name)));
  await until('the first three to be made', 30_000, () => vcenter.tasks.size === 3 || [...vcenter.tasks.keys()].join());
  const names = Array.from({ length: 37 }, (_, index) => `vm-${index}`);
  const others = await Promise.all(names.map((name) => begin(name, { taskMs: 50 })));
  const message = `Waiting for a slot: 3 of 3 creates of vCenter ${vcenter.name} are in progress`;
  await until('all to be in the queue', 60_000, async () => (await progress()).consumers.length === 40 || 'not yet');
  await until('the last one to say so', 60_000, async () =>
    (await queueOf('vm-36'))?.says === message ? true : 'not yet',
  );
  expect(await waitingFor('vm-36')).toBe(`a slot of the creates of vCenter ${vcenter.name}`);
  expect(vcenter.begun).toHaveLength(3);
  vcenter.gate.resolve();
  await Promise.all([...first, ...others].map((one) => one.result()));
  expect(vcenter.begun.slice(0, 3).toSorted()).toEqual(['a', 'b', 'c']);
  expect(vcenter.begun).toHaveLength(40);
  expect(vcenter.most).toBe(3);
  const { total, of } = await eventsOf(run('vm-36'));
  // The grant completes the activity that asks: to be queued costs no event.
  expect({
    total,
    signals: of('workflowExecutionSignaledEventAttributes'),
    timers: of('timerStartedEventAttributes'),
  }).toEqual({ total: 22, signals: 0, timers: 0 });
  await ended();
  await eventsOf(ledger);
}, 240_000);

test('one after the other, in the order in which they came', async () => {
  const { vcenter, begin, progress } = await world.openVcenter('order', { limit: 1, checkMs: 60_000 });
  const runs = [await begin('first', { taskMs: 3_000 })];
  await until('the first to be made', 30_000, () => vcenter.tasks.size === 1 || 'not yet');
  for (const [index, name] of ['b', 'a', 'd', 'c'].entries()) {
    runs.push(await begin(name, { taskMs: 50 }));
    await until(`${name} to wait`, 30_000, async () => (await progress()).consumers.length === index + 2 || 'not yet');
  }
  await Promise.all(runs.map((one) => one.result()));
  expect(vcenter.begun).toEqual(['first', 'b', 'a', 'd', 'c']);
  expect(vcenter.most).toBe(1);
});

test('a run that is terminated keeps its slot as long as its task may go on, and no longer', async () => {
  const { vcenter, begin, run, ended, progress } = await world.openVcenter('killed', { limit: 1 });
  await begin('victim', { taskMs: 4_000 });
  await until('the victim to be made', 30_000, () => vcenter.tasks.size === 1 || 'not yet');
  await run('victim').terminate('test');
  const heir = await begin('heir', { taskMs: 100 });
  await until(
    'the run to be closed',
    30_000,
    async () => (await progress()).consumers.some(({ closed }) => closed) || 'not yet',
  );
  expect(vcenter.begun).toEqual(['victim']);
  await heir.result();
  expect(vcenter.most).toBe(1);
  await ended();
});

test('one that is cancelled, or terminated, while it waits leaves the queue', async () => {
  const { vcenter, begin, run, progress, ended } = await world.openVcenter('leaving', { limit: 1, checkMs: 500 });
  const first = await begin('first', { taskMs: 3_000 });
  await until('the first to be made', 30_000, () => vcenter.tasks.size === 1 || 'not yet');
  const [cancelled, , last] = [
    await begin('cancelled'),
    await begin('terminated'),
    await begin('last', { taskMs: 50 }),
  ];
  await until('three to wait', 30_000, async () => (await progress()).consumers.length === 4 || 'not yet');
  await run('cancelled').cancel();
  await run('terminated').terminate('test');
  await expect(cancelled.result()).rejects.toThrow('Workflow execution cancelled');
  await Promise.all([first.result(), last.result()]);
  expect(vcenter.begun).toEqual(['first', 'last']);
  await ended();
});

test('one that continues as new goes to the end of the queue, and leaves nothing behind', async () => {
  const { vcenter, begin, progress, ended } = await world.openVcenter('continued', { limit: 1, checkMs: 60_000 });
  vcenter.gate = Promise.withResolvers<void>();
  const twice = await begin('twice', { taskMs: 50, times: 2 });
  await until('the first to be made', 30_000, () => vcenter.tasks.size === 1 || 'not yet');
  const other = await begin('other', { taskMs: 50 });
  await until('the other to wait', 30_000, async () => (await progress()).consumers.length === 2 || 'not yet');
  vcenter.gate.resolve();
  await Promise.all([twice.result(), other.result()]);
  expect(vcenter.begun).toEqual(['twice', 'other', 'twice']);
  expect(vcenter.most).toBe(1);
  expect(await ended()).toEqual({ status: 'COMPLETED' });
});

test('the run that allocates the slots is terminated: those that are queued start it again, and no more than may be are in progress', async () => {
  const { vcenter, begin, ledger, progress, ended } = await world.openVcenter('terminated', { limit: 2 });
  const runs = await Promise.all(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => begin(name, { taskMs: 5_000, slotRenewMs: 1_500 })),
  );
  await until('two to be made', 30_000, () => vcenter.tasks.size === 2 || 'not yet');
  await ledger.terminate('test');
  await until(
    'a run to ask again',
    30_000,
    async () => (await ledger.describe()).status.name === 'RUNNING' || 'not yet',
  );
  expect(await progress()).toMatchObject({ phase: 'Observing' });
  await Promise.all(runs.map((one) => one.result()));
  expect(vcenter.begun).toHaveLength(6);
  expect(vcenter.most).toBe(2);
  await ended();
}, 120_000);

test('while vCenter does not answer no run has a slot, and then all have', async () => {
  const { vcenter, begin, run, queueOf, ended } = await world.openVcenter('silent');
  vcenter.silent = true;
  const slotRenewMs = 2_000;
  const one = await begin('a', { slotRenewMs });
  await until('it to wait', 30_000, async () => (await queueOf('a')) !== null || 'not yet');
  expect((await queueOf('a'))?.says).toBe(`Waiting for a slot of the creates of vCenter ${vcenter.name}`);
  expect(vcenter.begun).toEqual([]);
  await until('it to ask again', 30_000, async () => ((await queueOf('a'))?.attempt ?? 0) >= 3 || 'not yet');
  vcenter.silent = false;
  await one.result();
  // However often it has asked.
  expect((await eventsOf(run('a'))).total).toBe(22);
  await ended();
}, 90_000);

test('what is requested while an update waits for its answer goes with the next one', async () => {
  const { vcenter, begin, ended, ledger, progress } = await world.openVcenter('together', { limit: 50 });
  vcenter.silent = true;
  const first = await begin('first');
  await until('its request', 30_000, async () => (await progress().catch(() => null))?.consumers.length === 1);
  const names = Array.from({ length: 30 }, (_, index) => `vm-${index}`);
  const others = await Promise.all(names.map((name) => begin(name)));
  // That update is answered, without a slot, before vCenter is.
  await until('all requests', 30_000, async () => (await progress()).consumers.length === 31 || 'not yet');
  vcenter.silent = false;
  await Promise.all([first, ...others].map((one) => one.result()));
  expect(vcenter.begun).toHaveLength(31);
  await ended();
  // Each asks again once, after 15 s.
  expect((await eventsOf(ledger)).of('workflowExecutionUpdateAcceptedEventAttributes')).toBeLessThanOrEqual(8);
}, 120_000);

test('others’ tasks count', async () => {
  const { vcenter, begin, queueOf, ended } = await world.openVcenter('others', { limit: 2 });
  vcenter.tasks.set('x', 'task-x').set('y', 'task-y');
  const one = await begin('a');
  await until('it to wait', 30_000, async () => (await queueOf('a')) !== null || 'not yet');
  expect((await queueOf('a'))?.says).toBe(
    `Waiting for a slot: 2 of 2 creates of vCenter ${vcenter.name} are in progress`,
  );
  vcenter.tasks.delete('x');
  await one.result();
  expect(vcenter.begun).toEqual(['a']);
  await ended();
});
