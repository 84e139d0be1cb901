import { ScheduleOverlapPolicy } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { limited } from '../../runtime/temporal/temporal.ts';
import { describeTemporalClient } from '../contracts/temporal-client.ts';
import { runIn, startProcess } from './process.ts';
import { createSampleActivities } from './samples/activities.ts';
import { bundleSamples } from './samples/bundle.ts';
import type { Simulation, SimulationOptions } from './simulation.ts';
import { createSimulation } from './simulation.ts';
import type { WorkflowBundle } from './temporal/sdk.ts';
import { loadBundle } from './temporal/sdk.ts';

/** What users and drover's own code see of the simulated server. */

let bundle: WorkflowBundle;
beforeAll(async () => {
  bundle = await loadBundle(await bundleSamples());
}, 1_800_000);

const taskQueue = 'samples';
const make = (options: Partial<SimulationOptions> = {}): Simulation =>
  createSimulation({
    bundle,
    seed: 1,
    serve: () => [{ taskQueue, activities: createSampleActivities([]) }],
    ...options,
  });
const start = ({ client }: Simulation, type: string, workflowId = type, args: unknown[] = []) =>
  client.workflow.start(type, { workflowId, taskQueue, args });
const idsOf = async (client: Client, query: string): Promise<string[]> => {
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
  return ids;
};

describe('as a real server', () => {
  let there: Simulation;
  beforeEach(() => {
    there = make();
  });
  describeTemporalClient(() => ({
    client: there.client,
    taskQueue,
    sleep: (ms) => there.clock.sleep(ms),
    during: async (work) => (await there.run(work(), 3_600_000)) as Awaited<ReturnType<typeof work>>,
  }));
});

test('a query that the simulator does not understand is refused', async () => {
  await expect(idsOf(make().client, 'WorkflowType ~ "timers"')).rejects.toMatchObject({
    cause: { details: expect.stringContaining('the simulator does not understand') as string },
  });
});

test('a run is described with what it waits for', async () => {
  const simulation = make();
  const { client, clock } = simulation;
  await client.workflow.start('resumes', {
    workflowId: 'resumes',
    taskQueue,
    memo: { startedBy: 'user' },
    staticSummary: 'summary',
  });
  await simulation.run(clock.sleep(500));
  const described = await client.workflow.getHandle('resumes').describe();
  expect(described).toMatchObject({
    type: 'resumes',
    status: { name: 'RUNNING' },
    memo: { startedBy: 'user' },
    taskQueue,
  });
  expect(await described.staticSummary()).toBe('summary');
  const [activity] = described.raw.pendingActivities ?? [];
  expect(activity).toMatchObject({ activityType: { name: 'fallSilent' }, attempt: 1 });
  expect(Buffer.from(activity?.heartbeatDetails?.payloads?.[0]?.data ?? []).toString()).toBe(
    '{"attempt":1,"before":null}',
  );
  await simulation.run(clock.sleep(1_000));
  const [again] = (await client.workflow.getHandle('resumes').describe()).raw.pendingActivities ?? [];
  expect(again).toMatchObject({ attempt: 2, lastFailure: { message: 'activity Heartbeat timeout' } });
});

describe('schedules', () => {
  const scheduleId = 'drift';
  const schedule = (
    { client }: Simulation,
    everyMs: number,
    overlap: ScheduleOverlapPolicy = ScheduleOverlapPolicy.SKIP,
  ) =>
    client.schedule.create({
      scheduleId,
      spec: { intervals: [{ every: everyMs }] },
      policies: { overlap },
      action: { type: 'startWorkflow', workflowType: 'timers', workflowId: 'drift', taskQueue, args: [] },
    });

  test('start runs at their interval, in virtual time', async () => {
    const simulation = make();
    await schedule(simulation, 60_000);
    await simulation.run(undefined, 200_000);
    expect(simulation.runs().map(({ workflowId, status }) => [workflowId, status])).toEqual(
      ['12:01', '12:02', '12:03'].map((time) => [`drift-2026-01-31T${time}:00Z`, 'COMPLETED']),
    );
    expect(simulation.runs()[0]?.attributes).toEqual({ TemporalScheduledById: 'drift' });
  });

  test('start none while one is open, but where they are triggered', async () => {
    const simulation = make();
    const handle = await schedule(simulation, 2_000);
    await simulation.run(undefined, 9_000);
    const { info, spec, policies } = await handle.describe();
    expect(spec.intervals).toMatchObject([{ every: 2_000 }]);
    expect(policies.overlap).toBe('SKIP');
    expect(info.numActionsSkippedOverlap).toBeGreaterThan(0);
    const before = simulation.runs().length;
    await handle.trigger();
    expect(simulation.runs()).toHaveLength(before + 1);
  });

  test('are made once, changed, paused and deleted', async () => {
    const simulation = make();
    const handle = await schedule(simulation, 60_000);
    await expect(schedule(simulation, 60_000)).rejects.toMatchObject({ name: 'ScheduleAlreadyRunning' });
    await handle.update((before) => ({ ...before, spec: { intervals: [{ every: 30_000 }] } }));
    await simulation.run(undefined, 65_000);
    expect(simulation.runs()).toHaveLength(2);
    await handle.pause();
    await simulation.run(undefined, 65_000);
    expect(simulation.runs()).toHaveLength(2);
    await handle.delete();
    await expect(handle.describe()).rejects.toMatchObject({ name: 'ScheduleNotFoundError' });
  });

  test('say what the simulator does not support', async () => {
    const simulation = make();
    await expect(schedule(simulation, 60_000, ScheduleOverlapPolicy.BUFFER_ALL)).rejects.toMatchObject({
      cause: { details: expect.stringContaining('the overlap policy') as string },
    });
  });
});

describe('calls of a simulated process', () => {
  const within = <Result>(simulation: Simulation, call: () => Promise<Result>): Promise<Result | undefined> =>
    simulation.run(runIn(startProcess('bridge'), call));

  test('go through the network, and take their time', async () => {
    const simulation = make();
    await within(simulation, () => start(simulation, 'sleeper'));
    expect(simulation.network.calls).toMatchObject([
      { system: 'temporal', verb: 'StartWorkflowExecution', process: 'bridge', fate: 'works' },
    ]);
    expect(simulation.clock.nowMs).toBeGreaterThan(Date.UTC(2026, 0, 31, 12));
  });

  test('fail while Temporal is away, and when their answer is lost', async () => {
    const simulation = make({ onCall: ({ number }) => (number === 2 ? 'failAfter' : 'works') });
    simulation.network.setAway('temporal', true);
    const failed = { name: 'ServiceError', cause: { code: 14 } };
    await expect(within(simulation, () => start(simulation, 'sleeper'))).rejects.toMatchObject(failed);
    simulation.network.setAway('temporal', false);
    await expect(within(simulation, () => start(simulation, 'sleeper'))).rejects.toMatchObject(failed);
    await expect(within(simulation, () => start(simulation, 'sleeper'))).rejects.toMatchObject({
      name: 'WorkflowExecutionAlreadyStartedError',
    });
  });

  test('end at their deadline, by the clock of the simulation, and when they are given up', async () => {
    const simulation = make({ onCall: () => 'hang' });
    const { client, clock } = simulation;
    const beganMs = clock.nowMs;
    await expect(
      within(simulation, () => limited(client, { timeoutMs: 5_000, clock }, () => start(simulation, 'sleeper'))),
    ).rejects.toMatchObject({ cause: { code: 4 } });
    expect(clock.nowMs - beganMs).toBe(5_000);
    const controller = new AbortController();
    clock.after(1_000, () => controller.abort());
    await expect(
      within(simulation, () =>
        limited(client, { timeoutMs: 5_000, clock, abort: controller.signal }, () => start(simulation, 'sleeper')),
      ),
    ).rejects.toMatchObject({ cause: { code: 1 } });
    expect(clock.nowMs - beganMs).toBe(6_000);
  });
});

test('while Temporal is away the worker gets no work, and goes on when it is back', async () => {
  const simulation = make();
  const { clock, network } = simulation;
  const run = await start(simulation, 'failures');
  clock.after(1_500, () => network.setAway('temporal', true));
  clock.after(60_000, () => network.setAway('temporal', false));
  await simulation.run(clock.sleep(59_000));
  const during = simulation.runs()[0]?.events;
  await simulation.run(run.result());
  expect(simulation.runs()[0]).toMatchObject({ status: 'COMPLETED' });
  expect(simulation.runs()[0]?.events).toBeGreaterThan(during ?? 0);
});

test('a query waits for the worker', async () => {
  const simulation = make();
  const run = await start(simulation, 'account');
  simulation.killWorker(5_000);
  const beganMs = simulation.clock.nowMs;
  expect(await simulation.run(run.query('balance'))).toBe(0);
  expect(simulation.clock.nowMs - beganMs).toBeGreaterThan(5_000);
});
