import { messages } from '../../contracts/messages.ts';
import { digestMemo, type RunProgress } from '../../contracts/runs.ts';
import type { ActivityFate, SimulationOptions, WorkflowBundle } from './simulation.ts';
import { createSimulation } from './simulation.ts';
import { loadBundle } from './temporal/sdk.ts';
import { bundleWidgets, type Moment, type Story, type StoryOptions, tell, tellAtEach, widget } from './toy/story.ts';
import { createWorld, type World, workflowIdOf, type WorldOptions } from './toy/world.ts';

/** The driver (workflows/lib), driving a kind of its own for tests through every way that it has, under every fault. */

let code: string;
let bundle: WorkflowBundle;
beforeAll(async () => {
  code = await bundleWidgets();
  bundle = await loadBundle(code);
}, 1_800_000);

const isCall = ({ call }: Moment): boolean => call !== null && call.attempt === 1;
/** So many events and calls lie between two at which something is tried; each test tries others. */
const stride = 4;

async function gather(stories: AsyncIterable<Story> | Iterable<Promise<Story>>): Promise<Story[]> {
  const gathered: Story[] = [];
  for await (const story of stories) gathered.push(story);
  return gathered;
}
const everywhere = (does: (moment: Moment) => void, options: Partial<StoryOptions> = {}): Promise<Story[]> =>
  gather(tellAtEach({ bundle, ...options }, does, { stride }));
const complaintsOf = (stories: readonly Story[]): string[] => stories.flatMap(({ complaints }) => complaints);
const count = (stories: readonly Story[], status: string): number =>
  stories.flatMap(({ runs }) => runs).filter((run) => run.status === status).length;

describe('a story', () => {
  test.each([1, 2, 3, 4, 5])('comes to its end, within its events (seed %i)', async (seed) => {
    const { complaints, events } = await tell({ bundle, seed });
    expect(complaints).toEqual([]);
    for (const [index, most] of [97, 54, 40].entries()) expect(events[index]).toBeLessThanOrEqual(most);
  });

  test('is the same where each task is replayed from the start', async () => {
    expect((await tell({ bundle, onTask: () => 'evict' })).complaints).toEqual([]);
  });

  test('of a kind that is only observed changes nothing, and says what it would do', async () => {
    const { runs } = await tell({ bundle, world: { mode: 'observe' } });
    const message = 'drover only observes. It would: addFinalizer the widget';
    expect(runs.map(({ result }) => result)).toMatchObject([
      { outcome: 'observed', message },
      { outcome: 'observed', message },
      { outcome: 'gone' },
    ]);
    expect(runs.flatMap(({ activities }) => activities)).not.toContain('changeWidget');
  });
});

describe('faults', () => {
  const atEachCall = (does: (moment: Moment) => ActivityFate | void): Promise<Story[]> =>
    gather(tellAtEach({ bundle }, does, { isPoint: isCall }));

  test.each<ActivityFate>(['failBefore', 'failAfter', 'hang', 'killBefore', 'killAfter'])(
    '%s at each call',
    async (fate) => {
      expect(complaintsOf(await atEachCall(() => fate))).toEqual([]);
    },
  );

  test('each call is refused once, and the run backs off', async () => {
    const stories = await atEachCall(({ world }) => void Object.assign(world, { refuseNext: true, backsOff: true }));
    expect(complaintsOf(stories)).toEqual([]);
  });

  test('each call fails until Temporal’s retries are used up', async () => {
    const numbers: number[] = [];
    await tell({ bundle, at: ({ call }) => void (call !== null && numbers.push(call.number)) });
    const stories = numbers.map((number) => ({
      bundle,
      at({ call, world }: Moment): ActivityFate {
        if (call?.number !== number || call.attempt > 10) return 'works';
        if (call.activity === 'releaseSlot') world.forgiveSlots();
        return 'failBefore';
      },
    }));
    for (const story of stories) expect((await tell(story)).complaints).toEqual([]);
  });

  test('the worker dies with each workflow task in turn', async () => {
    const { tasks } = await tell({ bundle });
    for (let death = 1; death <= tasks; death += 1) {
      const { complaints } = await tell({ bundle, onTask: (number) => (number === death ? 'kill' : 'keep') });
      expect(complaints).toEqual([]);
    }
  });

  test('the run is terminated at each call, and started again', async () => {
    expect(complaintsOf(await atEachCall(({ act }) => act.terminate()))).toEqual([]);
  });
});

describe('messages at any moment', () => {
  test('the spec changes', async () => {
    expect(complaintsOf(await everywhere(({ act }) => act.changeSpec()))).toEqual([]);
  });

  test('the spec changes in bursts', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const burst = ({ number, simulation, act }: Moment): void =>
        void (number % 7 === seed % 7 && simulation.random() < 0.3 && act.changeSpec());
      expect((await tell({ bundle, seed, at: burst })).complaints).toEqual([]);
    }
  });

  test('retryNow is followed by an observation', async () => {
    const stories = await everywhere(({ act }) => act.retryNow());
    expect(complaintsOf(stories)).toEqual([]);
    expect(stories.filter(({ accepted }) => accepted > 0).length).toBeGreaterThan(stories.length / 2);
  });

  test('a retry by annotation is answered', async () => {
    expect(complaintsOf(await everywhere(({ act }) => act.askRetry()))).toEqual([]);
  });

  test('an update that takes long is answered before the run ends', async () => {
    const stories = await everywhere(({ act }) => act.polish());
    expect(complaintsOf(stories)).toEqual([]);
    expect(stories.filter(({ polished }) => polished > 0).length).toBeGreaterThan(stories.length / 2);
  });

  test('a cancel is visible and holds, and a retry goes on', async () => {
    const stories = await everywhere(({ act }) => act.cancel(), { mayStop: true });
    expect(complaintsOf(stories)).toEqual([]);
    expect(count(stories, 'CANCELED')).toBeGreaterThan(stories.length / 2);
  });

  test('that come during each observation do not keep the run from acting', async () => {
    let isNoisy = true;
    const { simulation, world } = open(bundle, {
      onEvent({ event }) {
        const { activityType } = event.activityTaskScheduledEventAttributes ?? {};
        if (isNoisy && activityType?.name === 'observeWidget')
          simulation.clock.after(0, () => world.notify(widget, 'labels'));
      },
    });
    world.create(widget, 1);
    await simulation.run(simulation.clock.sleep(60_000));
    const did = simulation.runs().flatMap(({ activities }) => activities);
    expect(did).toContain('changeWidget');
    // As often as one observation is overtaken, and no oftener.
    expect(did.slice(0, did.indexOf('changeWidget'))).toEqual(Array.from({ length: 4 }, () => 'observeWidget'));
    isNoisy = false;
    await simulation.run();
    expect(world.judge(widget)).toEqual([]);
    simulation.close();
  });

  test('a cancel, and a changed spec 100 ms later', async () => {
    const both = ({ act, simulation }: Moment): void => {
      act.cancel();
      simulation.clock.after(100, () => act.changeSpec());
    };
    expect(complaintsOf(await everywhere(both, { mayStop: true }))).toEqual([]);
  });
});

describe('a run that is told to continue as new after 12 events', () => {
  const longHistory = 12;

  test.each([1, 2, 3, 4, 5])('comes to its end (seed %i)', async (seed) => {
    const story = await tell({ bundle, seed, longHistory });
    expect(story.complaints).toEqual([]);
    expect(count([story], 'CONTINUED_AS_NEW')).toBeGreaterThan(2);
  });

  test.each<[what: string, does: (moment: Moment) => void]>([
    ['a changed spec', ({ act }) => act.changeSpec()],
    ['a retry', ({ act }) => act.retryNow()],
    ['an update that takes long', ({ act }) => act.polish()],
    ['a cancel', ({ act }) => act.cancel()],
  ])('loses nothing of %s', async (what, does) => {
    expect(complaintsOf(await everywhere(does, { longHistory, mayStop: what === 'a cancel' }))).toEqual([]);
  });
});

interface OpenOptions extends Pick<SimulationOptions, 'onEvent'> {
  seed?: number;
  world?: WorldOptions;
}

/** A world in which something is done by hand. */
function open(its: WorkflowBundle, options: OpenOptions = {}) {
  let world: World | null = null;
  const simulation = createSimulation({
    bundle: its,
    seed: options.seed ?? 1,
    ...(options.onEvent && { onEvent: options.onEvent }),
    serve(running) {
      world ??= createWorld(running, options.world);
      return [{ taskQueue: 'widgets', activities: world.activities }];
    },
  });
  const handle = simulation.client.workflow.getHandle(workflowIdOf(widget));
  return { simulation, world: world as unknown as World, handle };
}

/** In the middle of a wait of 600 s. @returns how long the run stays after that, and what is wrong then */
async function inWait(does: 'retryNow' | 'cancel', its: WorkflowBundle): Promise<{ tookMs: number; found: string[] }> {
  const { simulation, world, handle } = open(its, { world: { cureMs: 600_000 } });
  world.create(widget, 1);
  await simulation.run(simulation.clock.sleep(60_000));
  const askedMs = simulation.clock.nowMs;
  const { waiting } = (await simulation.run(handle.query<RunProgress>(messages.progress))) as RunProgress;
  const found = waiting?.reason === 'Curing' ? [] : [`it waits for ${waiting?.message}`];
  if (does === 'cancel') await handle.cancel();
  else {
    world.cure(widget);
    await simulation.run(handle.executeUpdate(messages.retryNow, { args: [{}] }));
  }
  await simulation.run(handle.result().catch(() => undefined));
  found.push(...world.judge(widget, does === 'cancel' ? /was cancelled/u : null));
  simulation.close();
  return { tookMs: simulation.clock.nowMs - askedMs, found };
}

describe('in the middle of a wait of 600 s', () => {
  test('retryNow ends it', async () => {
    const { tookMs, found } = await inWait('retryNow', bundle);
    expect(found).toEqual([]);
    expect(tookMs).toBeLessThan(10_000);
  });

  test('a cancel ends it', async () => {
    const { tookMs, found } = await inWait('cancel', bundle);
    expect(found).toEqual([]);
    expect(tookMs).toBeLessThan(1_000);
  });
});

test('a run that fails for more than a day continues as new, and goes on once nothing fails any more', async () => {
  const { simulation, world } = open(bundle);
  world.refusedAlways.add('changeWidget');
  world.create(widget, 1);
  await simulation.run(simulation.clock.sleep(25 * 3_600_000));
  expect(simulation.runs().map(({ status }) => status)).toEqual(['CONTINUED_AS_NEW', 'RUNNING']);
  // The back-off is carried over: a try every ten minutes.
  expect(simulation.runs()[1]?.activities.filter((name) => name === 'changeWidget').length).toBeLessThanOrEqual(7);
  world.refusedAlways.clear();
  await simulation.run();
  expect(world.judge(widget)).toEqual([]);
  simulation.close();
});

describe('steps that change nothing', () => {
  const isChange = (activity: string): boolean => activity === 'changeWidget';
  const says = 'Waiting for another attempt: "addFinalizer the widget" was executed';
  async function stuck() {
    const opened = open(bundle);
    const { simulation, world } = opened;
    world.skippedAlways.add('addFinalizer');
    world.create(widget, 1);
    await simulation.run(simulation.clock.sleep(5_000));
    const changes = (): number => simulation.runs().flatMap(({ activities }) => activities.filter(isChange)).length;
    return { ...opened, changes };
  }

  test('are executed three times, and then with a back-off, and the run says so', async () => {
    const { simulation, world, handle, changes } = await stuck();
    expect(changes()).toBe(3);
    const progress = await simulation.run(handle.query<RunProgress>(messages.progress));
    const message = `${says} 3 times and changed nothing`;
    expect(progress).toMatchObject({ reason: 'NoProgress', message, waiting: { reason: 'NoProgress' } });
    expect(world.find(widget)?.status).toMatchObject({ reason: 'NoProgress', message });
    await simulation.run(simulation.clock.sleep(3_600_000));
    // After 10, 20, 40, 80, 160 and 320 s, and every ten minutes.
    expect(changes()).toBeLessThanOrEqual(3 + 6 + 5);
    expect(world.find(widget)?.status?.message).toBe(`${says} ${changes()} times and changed nothing`);
    world.skippedAlways.clear();
    await simulation.run();
    expect(world.judge(widget)).toEqual([]);
    simulation.close();
  });

  test.each<[what: string, comes: (opened: ReturnType<typeof open>) => unknown]>([
    ['a changed spec', ({ world }) => world.change(widget, 2)],
    ['retryNow', ({ handle }) => handle.executeUpdate(messages.retryNow, { args: [{}] })],
    ['a retry by annotation', ({ world }) => world.askRetry(widget, 'again')],
    ['another change of the object', ({ world }) => world.notify(widget, 'labels')],
  ])('are executed at once, and three times again, after %s', async (_, comes) => {
    const opened = await stuck();
    const { simulation, world, changes } = opened;
    void comes(opened);
    await simulation.run(simulation.clock.sleep(4_000));
    expect(changes()).toBe(6);
    world.skippedAlways.clear();
    await simulation.run();
    expect(world.judge(widget)).toEqual([]);
    simulation.close();
  });
});

test.each<[what: string, memo: Record<string, unknown>, writes: number]>([
  ['without a digest', {}, 1],
  ['with an older digest', { [digestMemo]: 'uid-0/1' }, 1],
  ['with the digest that it observes', { [digestMemo]: 'uid-1/1' }, 0],
])('a run that is started %s writes its own where it must', async (_, memo, writes) => {
  let written = 0;
  const { simulation, world } = open(bundle, {
    onEvent: ({ name }) => void (written += Number(name === 'WorkflowPropertiesModified')),
  });
  world.create(widget, 1, null);
  await simulation.client.workflow.start('reconcileWidget', {
    workflowId: workflowIdOf(widget),
    taskQueue: 'drover',
    args: [widget],
    memo,
  });
  await simulation.run();
  expect(world.judge(widget)).toEqual([]);
  expect([written, simulation.runs()[0]?.memo[digestMemo]]).toEqual([writes, 'uid-1/1']);
  simulation.close();
});

describe('five widgets and one slot', () => {
  const names = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ namespace: 'team', name }));

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'all are built, though one is cancelled where the seed is even (seed %i)',
    async (seed) => {
      const { simulation, world } = open(bundle, { seed });
      for (const name of names) world.create(name, 1);
      await simulation.run(simulation.clock.sleep(1_000 + seed * 400));
      const handles = names.map((name) => simulation.client.workflow.getHandle(workflowIdOf(name)));
      const answers = await simulation.run(
        Promise.all(handles.map((handle) => handle.query<RunProgress>(messages.progress))),
      );
      expect(answers?.some(({ phase }) => phase === 'Queued')).toBe(true);
      if (seed % 2 === 0) await handles[seed % 5]?.cancel();
      await simulation.run();
      for (const name of names) expect(world.judge(name, seed % 2 === 0 ? /was cancelled/u : null)).toEqual([]);
      simulation.close();
    },
  );
});

describe('a run fails with a sentence, and no task of it does', () => {
  async function failureOf(its: WorkflowBundle, args: unknown[]): Promise<string> {
    const { simulation } = open(its);
    const run = await simulation.client.workflow.start('reconcileWidget', {
      workflowId: 'by hand',
      taskQueue: 'drover',
      args: args as [],
    });
    await simulation.run(run.result().catch(() => undefined));
    expect(simulation.runs()[0]).toMatchObject({ status: 'FAILED', taskFailures: [] });
    simulation.close();
    return simulation.runs()[0]?.failure?.message ?? '';
  }

  test.each<[what: string, args: unknown[], says: RegExp]>([
    ['nothing', [], /must name the Widget: namespace and name are missing/u],
    ['null', [null], /namespace and name are missing/u],
    ['text', ['wheel'], /namespace and name are missing/u],
    ['a list', [[]], /namespace and name are missing/u],
    ['no name', [{ namespace: 'team' }], /name is missing/u],
    ['a number as name', [{ namespace: 'team', name: 7 }], /name is missing/u],
    ['an empty name', [{ namespace: 'team', name: '' }], /name is missing/u],
    ['a state of no run', [widget, { memory: {} }], /was given a state of another run/u],
  ])('given %s', async (_, args, says) => {
    expect(await failureOf(bundle, args)).toMatch(says);
  });

  test.each<[where: string, from: RegExp, to: string]>([
    ['its planner', /desired\.size > 100/u, 'desired.nothing.size'],
    ['a step', /return await executor\(context, step\)/u, 'return await executor.nothing(context, step)'],
    ['a step in the background', /const inspected = await/u, 'input.nothing.at; $&'],
    ['its status', /const \{ phase, reason, message \} = \(0,/u, 'desired.nothing.size; $&'],
  ])('because of a mistake in %s', async (_, from, to) => {
    const { runs } = await tell({ bundle: await loadBundle(broken(from, to)) });
    expect(runs[0]).toMatchObject({ status: 'FAILED', taskFailures: [] });
    expect(runs[0]?.failure?.message).toMatch(/^drover has a defect: TypeError/u);
  });
});

/** @throws where it does not stand there once: the source has changed */
function broken(from: RegExp, to: string): string {
  const found = code.match(new RegExp(from, 'gu'))?.length ?? 0;
  if (found !== 1) throw new Error(`${String(from)} is ${found} times in the bundle, instead of once`);
  return code.replace(from, to);
}

const changes = ({ act }: Moment): void => act.changeSpec();
const asks = ({ act }: Moment): void => act.retryNow();
const cancels = ({ act }: Moment): void => act.cancel();
const refuses = ({ world, call }: Moment): void =>
  void (call?.attempt === 1 && Object.assign(world, { refuseNext: true, backsOff: true }));

test.each<[title: string, from: RegExp, to: string, does: (moment: Moment) => void]>([
  ['the inbox is emptied after the observation', /this\.publisher\.observed\(/u, 'this.inbox.empty(); $&', changes],
  ['the end does not look at the inbox', /if \(state\.isWoken\(\)\) \{/u, 'if (false) {', changes],
  [
    'there is an await between the last look at the inbox and the end',
    /if \(result\.outcome !== (.)gone\1\) this\.leaveDigest/u,
    'await new Promise((awake) => setTimeout(awake, 50)); $&',
    changes,
  ],
  ['the digest of the start is left', /if \(digest !== \(/u, 'if (null === (', changes],
  ['retryNow is cleared just before a wait', /const wasGranted =/u, 'this.inbox.retryNow = false; $&', asks],
  [
    'retryNow is forgotten at the end',
    /return this\.pending \|\| this\.retryNow \|\|/u,
    'return this.pending ||',
    asks,
  ],
  [
    'a retry by annotation is not answered',
    /if \(status === null \|\| this\.unansweredRetry !== null\)/u,
    'if (status === null)',
    ({ act }) => act.askRetry(),
  ],
  [
    'a cancel does not end a wait',
    /this\.inbox\.stepEnded \|\| this\.inbox\.cancelled/u,
    'this.inbox.stepEnded',
    cancels,
  ],
  ['a cancelled object says nothing', /const last = plan[^;]*;/u, 'const last = plan;', cancels],
  [
    'handlers are not awaited',
    /const isQuiet = ?\(\) ?=> ?[^;]*;/u,
    'const isQuiet = () => true;',
    ({ act }) => act.polish(),
  ],
  [
    'a failure in the background is not backed off',
    /if \(this\.state\.failure === failure\) this\.state\.failure/u,
    'this.state.failure',
    refuses,
  ],
  [
    'a slot is not released',
    /const \{ slot, slots, run \} = this;/u,
    'const slot = null; const { slots, run } = this;',
    () => undefined,
  ],
  ['statuses are published as they come', /return this\.publishedMs \+ situation/u, 'return 0 * situation', changes],
  [
    'a status is compared with what was observed before the last one',
    /this\.published === null \?/u,
    'true ?',
    cancels,
  ],
])('it is noticed where %s', async (_title, from, to, does) => {
  const its = await loadBundle(broken(from, to));
  const kind = does === cancels ? 'cancel' : 'retryNow';
  const { tookMs, found } = await inWait(kind, its);
  if (tookMs > 10_000) found.push(`a wait was not cut short for ${tookMs} ms`);
  for await (const story of tellAtEach({ bundle: its, mayStop: does === cancels }, does)) {
    found.push(...story.complaints);
    if (found.length > 0) break;
  }
  expect(found).not.toEqual([]);
});
