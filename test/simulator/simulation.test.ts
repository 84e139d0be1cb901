import { WithStartWorkflowOperation } from '@temporalio/client';
import { createSampleActivities } from './samples/activities.ts';
import { bundleSamples } from './samples/bundle.ts';
import { NondeterminismError } from './temporal/sandbox.ts';
import type { WorkflowBundle } from './temporal/sdk.ts';
import { loadBundle } from './temporal/sdk.ts';
import type { ActivityFate, Simulation, SimulationOptions } from './simulation.ts';
import { createSimulation } from './simulation.ts';

let code: string;
let bundle: WorkflowBundle;
beforeAll(async () => {
  code = await bundleSamples();
  bundle = await loadBundle(code);
}, 1_800_000);

const modes: Record<string, () => Partial<SimulationOptions>> = {
  'from the cache': () => ({}),
  'each task replayed': () => ({ onWorkflowTask: () => 'evict' }),
  'the worker dies now and then'() {
    let task = 0;
    return { onWorkflowTask: () => ((task += 1) % 7 === 0 ? 'kill' : 'keep') };
  },
};
const seeds = [1, 2, 3, 4, 5];

function make(seed: number, options: Partial<SimulationOptions> = {}): { simulation: Simulation; noted: string[] } {
  const noted: string[] = [];
  const activities = createSampleActivities(noted);
  const simulation = createSimulation({
    bundle,
    seed,
    serve: () => [{ taskQueue: 'samples', activities }],
    ...options,
  });
  return { simulation, noted };
}

const start = (simulation: Simulation, type: string, args: unknown[] = [], workflowId = type) =>
  simulation.client.workflow.start(type, { workflowId, taskQueue: 'samples', args });
async function result(simulation: Simulation, type: string, args: unknown[] = []): Promise<unknown> {
  const handle = await start(simulation, type, args);
  return await simulation.run(handle.result());
}
const about = (actual: unknown, expected: number, within: number): void =>
  expect(Math.abs((actual as number) - expected)).toBeLessThanOrEqual(within);

const anywhere = Object.entries(modes);
const undisturbed = anywhere.slice(0, 2);

describe.each(anywhere)('%s', (_, options) => {
  test.each(seeds)('no signal is lost while a run continues as new (seed %i)', async (seed) => {
    const { simulation } = make(seed, options());
    const handle = await start(simulation, 'collect', [20]);
    for (let item = 0; item < 20; item += 1)
      simulation.clock.after(simulation.random() * 400, () =>
        simulation.client.workflow.getHandle('collect').signal('item', item),
      );
    const items = (await simulation.run(handle.result())) as number[];
    expect(items.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (__, item) => item));
    simulation.close();
  });

  test.each(seeds)(
    'updates are validated, answered and rejected; queries answer, also after the end (seed %i)',
    async (seed) => {
      const { simulation, noted } = make(seed, options());
      const { client } = simulation;
      const handle = client.workflow.getHandle('account');
      const deposit = (amount: number) => simulation.run(handle.executeUpdate('deposit', { args: [amount] }));
      const startWorkflowOperation = new WithStartWorkflowOperation('account', {
        workflowId: 'account',
        taskQueue: 'samples',
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      expect(
        await simulation.run(
          client.workflow.executeUpdateWithStart<() => Promise<unknown>, number, [number]>('deposit', {
            args: [60],
            startWorkflowOperation,
          }),
        ),
      ).toBe(60);
      await expect(deposit(-1)).rejects.toMatchObject({
        message: 'Workflow Update failed',
        cause: { message: 'negative' },
      });
      await expect(deposit(50)).rejects.toMatchObject({ cause: { message: 'too much' } });
      expect(await deposit(30)).toBe(90);
      expect(await simulation.run(handle.query('balance'))).toBe(90);
      await handle.signal('close');
      expect(await simulation.run(handle.result())).toBe(90);
      expect(await simulation.run(handle.query('balance'))).toBe(90);
      await expect(handle.signal('close')).rejects.toMatchObject({ name: 'WorkflowNotFoundError' });
      expect(noted).toEqual(['deposit 60', 'deposit 50', 'deposit 30']);
      simulation.close();
    },
  );

  test.each(seeds)('children end as the parent close policy says (seed %i)', async (seed) => {
    const ends = [
      ['TERMINATE', 'TERMINATED'],
      ['REQUEST_CANCEL', 'CANCELLED'],
      ['ABANDON', 'COMPLETED'],
    ] as const;
    for (const [policy, end] of ends) {
      const { simulation } = make(seed, options());
      const parent = await start(simulation, 'leavesChild', [policy]);
      simulation.clock.after(5_000, () => parent.signal('go'));
      await simulation.run(parent.result());
      await simulation.run();
      expect((await simulation.client.workflow.getHandle('leavesChild/child').describe()).status.name).toBe(end);
      simulation.close();
    }
  });

  test.each(seeds)('a child is not started where one of its id is open (seed %i)', async (seed) => {
    const { simulation } = make(seed, options());
    const parent = await start(simulation, 'startsTwice');
    await parent.signal('go');
    expect(await simulation.run(parent.result())).toBe('WorkflowExecutionAlreadyStartedError');
    simulation.close();
  });

  test.each(seeds)('other runs are signalled and cancelled where there are any (seed %i)', async (seed) => {
    const { simulation } = make(seed, options());
    await start(simulation, 'sleeper', [], 'there');
    expect(await result(simulation, 'reachesOthers', ['there'])).toEqual([
      'delivered',
      'delivered',
      'Unable to signal external workflow because it was not found',
      'Unable to cancel external workflow because not found',
    ]);
    await expect(simulation.run(simulation.client.workflow.getHandle('there').result())).rejects.toMatchObject({
      name: 'WorkflowFailedError',
      cause: { name: 'CancelledFailure' },
    });
    simulation.close();
  });

  test.each(seeds)('memo and search attributes go on with the next run (seed %i)', async (seed) => {
    const { simulation } = make(seed, options());
    // A memo that was changed is not taken along, but that of the start.
    expect(await result(simulation, 'remembers', [2])).toEqual([{}, [['DroverPhase', 'phase1']]]);
    simulation.close();
  });
});

describe.each(undisturbed)('%s', (_, options) => {
  test.each(seeds)('a child is cancelled as its parent wants (seed %i)', async (seed) => {
    // Of WAIT_CANCELLATION_REQUESTED Core makes the same as of …_COMPLETED. What a run sends with its last task does
    // not arrive.
    const rows = [
      ['WAIT_CANCELLATION_COMPLETED', 0, 600, 100, 'CANCELLED'],
      ['WAIT_CANCELLATION_REQUESTED', 0, 600, 100, 'CANCELLED'],
      ['TRY_CANCEL', 1_000, 0, 0, 'CANCELLED'],
      ['TRY_CANCEL', 0, 0, 0, 'COMPLETED'],
      ['ABANDON', 1_000, 0, 0, 'COMPLETED'],
    ] as const;
    for (const [type, openMs, expectedMs, within, end] of rows) {
      const { simulation } = make(seed, options());
      const [how, tookMs] = (await result(simulation, 'cancelsChild', [type, 1_000, openMs])) as [string, number];
      expect(how).toBe('cancelled');
      about(tookMs, expectedMs, within);
      await simulation.run();
      expect((await simulation.client.workflow.getHandle('cancelsChild/child').describe()).status.name).toBe(end);
      simulation.close();
    }
  });

  test.each(seeds)('an activity is cancelled as its run wants (seed %i)', async (seed) => {
    const rows = [
      ['WAIT_CANCELLATION_COMPLETED', 3_000, 600, 600, true],
      ['TRY_CANCEL', 3_000, 0, 0, true],
      ['ABANDON', 3_000, 0, 0, false],
      ['WAIT_CANCELLATION_COMPLETED', 0, 0, 0, false],
      ['TRY_CANCEL', 0, 0, 0, false],
    ] as const;
    for (const [type, afterMs, expectedMs, within, isTold] of rows) {
      const { simulation, noted } = make(seed, options());
      const [how, tookMs] = (await result(simulation, 'cancelsActivity', [type, afterMs])) as [string, number];
      expect(how).toBe('cancelled');
      about(tookMs, expectedMs, within);
      if (type === 'WAIT_CANCELLATION_COMPLETED') expect(noted).toEqual(isTold ? ['cancelled'] : []);
      simulation.close();
    }
  });

  test.each(seeds)('activities are tried again and time out as their policies say (seed %i)', async (seed) => {
    const { simulation } = make(seed, options());
    const outcomes = (await result(simulation, 'failures')) as [string, number][];
    expect(outcomes.map(([what]) => what)).toEqual([
      '3',
      'ApplicationFailure: attempt 3',
      'ApplicationFailure: attempt 1',
      'ApplicationFailure: attempt 1',
      'START_TO_CLOSE',
      'ApplicationFailure: attempt 4',
      '2',
      'soon',
    ]);
    const expected = [
      [3_150, 250],
      [3_150, 250],
      [50, 100],
      [50, 100],
      [4_600, 200],
      [7_200, 300],
      [4_100, 200],
      [50, 100],
    ] as const;
    for (const [index, [ms, within]] of expected.entries()) about(outcomes[index]?.[1], ms, within);
    simulation.close();
  });

  test.each(seeds)('timers fire, are cancelled, and bound conditions (seed %i)', async (seed) => {
    const { simulation } = make(seed, options());
    expect(await result(simulation, 'timers')).toEqual([['a', 'b', 'c'], false, false, true]);
    simulation.close();
  });

  test.each(seeds)('ids are taken as the policies say (seed %i)', async (seed) => {
    const { simulation } = make(seed, options());
    const { workflow } = simulation.client;
    const open = (more: object) => workflow.start('sleeper', { workflowId: 'one', taskQueue: 'samples', ...more });
    const { firstExecutionRunId } = await open({});
    await expect(open({})).rejects.toMatchObject({ name: 'WorkflowExecutionAlreadyStartedError' });
    expect((await open({ workflowIdConflictPolicy: 'USE_EXISTING' })).firstExecutionRunId).toBe(firstExecutionRunId);
    expect((await open({ workflowIdConflictPolicy: 'TERMINATE_EXISTING' })).firstExecutionRunId).not.toBe(
      firstExecutionRunId,
    );
    await simulation.run(workflow.getHandle('one').result());
    await expect(open({ workflowIdReusePolicy: 'REJECT_DUPLICATE' })).rejects.toMatchObject({
      name: 'WorkflowExecutionAlreadyStartedError',
    });
    await expect(open({ workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY' })).rejects.toMatchObject({
      name: 'WorkflowExecutionAlreadyStartedError',
    });
    await open({});
    simulation.close();
  });
});

test('an open run goes on when new code is deployed, and code that breaks it is found', async () => {
  const [second, third] = await Promise.all(
    ['version 2', 'version 3'].map((version) => loadBundle(code.replaceAll("'version 1'", `'${version}'`))),
  );
  const deployed = async (next: WorkflowBundle, afterMs: number): Promise<unknown> => {
    const { simulation } = make(1);
    simulation.clock.after(afterMs, () => simulation.deploy(next));
    return await result(simulation, 'changes');
  };
  for (let afterMs = 0; afterMs < 4_000; afterMs += 50)
    expect(((await deployed(second as WorkflowBundle, afterMs)) as string[]).join(' ')).toMatch(
      /^(?:old ?)*(?:newmore ?)*$/u,
    );
  await expect(deployed(third as WorkflowBundle, 1_500)).rejects.toThrow(NondeterminismError);
});

test('code that is not deterministic is found', async () => {
  await expect(result(make(1, { onWorkflowTask: () => 'evict' }).simulation, 'unsteady')).rejects.toThrow(
    NondeterminismError,
  );
});

test('a workflow task that fails each time fails the simulation in the end', async () => {
  await expect(result(make(1).simulation, 'throwsTypeError')).rejects.toMatchObject({
    message: 'The workflow task of throwsTypeError throwsTypeError fails each time',
    cause: { message: 'a mistake' },
  });
});

test('an error of workflow code is tried again, and shows', async () => {
  const { simulation } = make(1);
  await expect(simulation.run((await start(simulation, 'throwsTypeError')).result(), 60_000)).rejects.toThrow(
    'What is waited for has not come',
  );
  expect(simulation.runs()[0]?.taskFailures.map(({ message }) => message)).toContain('a mistake');
});

test('one seed tells one story, and another another', async () => {
  const story = async (seed: number): Promise<string[]> => {
    const events: string[] = [];
    const { simulation } = make(seed, {
      onEvent: ({ workflowId, name, atMs }) => events.push(`${atMs} ${workflowId} ${name}`),
    });
    await result(simulation, 'failures');
    await result(simulation, 'cancelsChild', ['WAIT_CANCELLATION_COMPLETED', 1_000]);
    simulation.close();
    return events;
  };
  const first = await story(1);
  expect(await story(1)).toEqual(first);
  expect(await story(2)).not.toEqual(first);
});

test('logs and metrics of workflows are told once, though their runs are replayed', async () => {
  const told: [string, unknown][] = [];
  const { simulation } = make(1, {
    onWorkflowTask: () => 'evict',
    onSink: ({ name, args }) => told.push([name, args[0]]),
  });
  await result(simulation, 'logs');
  expect(told.filter(([name]) => name === '__temporal_logger.info')).toEqual(
    [0, 1, 2].map((round) => ['__temporal_logger.info', `round ${round}`]),
  );
});

test('what the simulator does not support, it says', async () => {
  const { simulation } = make(1);
  await expect(result(simulation, 'callsLocally')).rejects.toThrow(
    'The simulator does not support the command scheduleLocalActivity (callsLocally',
  );
  const start = simulation.client.workflow.start('timers', {
    workflowId: 'late',
    taskQueue: 'samples',
    startDelay: '1 minute',
  });
  await expect(start).rejects.toMatchObject({
    cause: { details: expect.stringContaining('the simulator does not support workflowStartDelay') as string },
  });
});

describe('fates of attempts', () => {
  const outcome = async (fate: ActivityFate): Promise<{ noted: string[]; attempts: number; ms: number }> => {
    const { simulation, noted } = make(1, {
      onActivity: ({ number, attempt }) => (number === 1 && attempt === 1 ? fate : 'works'),
    });
    const beganMs = simulation.clock.nowMs;
    await result(simulation, 'patches');
    simulation.close();
    return { noted, attempts: simulation.counts.attempts, ms: simulation.clock.nowMs - beganMs };
  };

  test.each([
    ['works', ['first', 'second'], 2, 0],
    ['failBefore', ['first', 'second'], 3, 1_000],
    ['failAfter', ['first', 'first', 'second'], 3, 1_000],
    ['hang', ['first', 'second'], 3, 6_000],
    ['killBefore', ['first', 'second'], 3, 6_000],
    ['killAfter', ['first', 'first', 'second'], 3, 6_000],
  ] as const)('%s', async (fate, noted, attempts, leastMs) => {
    const found = await outcome(fate);
    expect(found).toMatchObject({ noted, attempts });
    expect(found.ms).toBeGreaterThanOrEqual(leastMs);
  });

  test('an attempt is held until its fate is decided', async () => {
    const { simulation, noted } = make(1, {
      async onActivity({ number, attempt }): Promise<ActivityFate> {
        if (number === 1 && attempt === 1) await simulation.clock.sleep(3_000);
        return 'works';
      },
    });
    await start(simulation, 'patches');
    await simulation.run(simulation.clock.sleep(2_900));
    expect(noted).toEqual([]);
    await simulation.run(simulation.client.workflow.getHandle('patches').result());
    expect(noted).toEqual(['first', 'second']);
  });
});

test('of a worker that is killed nothing is left: the next is composed anew, and what ran in it goes no further', async () => {
  const composed: string[][] = [];
  const { simulation } = make(1, {
    serve() {
      const noted: string[] = [];
      composed.push(noted);
      return [{ taskQueue: 'samples', activities: createSampleActivities(noted) }];
    },
  });
  const run = await start(simulation, 'cancelsActivity', ['WAIT_CANCELLATION_COMPLETED', 60_000]);
  simulation.clock.after(2_500, () => simulation.killWorker(1_000));
  await simulation.run(run.result());
  expect(composed).toEqual([[], []]);
  expect(simulation.counts.attempts).toBe(2);
});

test('an activity whose run is terminated goes on until its next heartbeat', async () => {
  const { simulation, noted } = make(1);
  const run = await start(simulation, 'cancelsActivity', ['WAIT_CANCELLATION_COMPLETED', 60_000]);
  await simulation.run(simulation.clock.sleep(2_500));
  await run.terminate('enough');
  await simulation.run(simulation.clock.sleep(100));
  expect(noted).toEqual([]);
  await simulation.run(simulation.clock.sleep(2_000));
  expect(noted).toEqual(['cancelled']);
});
