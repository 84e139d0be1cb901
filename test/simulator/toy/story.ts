import { join } from 'node:path';
import { messages } from '../../../contracts/messages.ts';
import { digestMemo } from '../../../contracts/runs.ts';
import type {
  ActivityCall,
  ActivityFate,
  RunRecord,
  Simulation,
  WorkflowBundle,
  WorkflowTaskFate,
} from '../simulation.ts';
import { createSimulation } from '../simulation.ts';
import { bundleTestWorkflows } from '../../bundle-workflows.ts';
import type { WidgetName } from './reconcile.ts';
import { createWorld, type World, workflowIdOf, type WorldOptions } from './world.ts';

/**
 * A story: a widget is created, changed and deleted, and judged after each chapter. A test injects something into it.
 */

const root = join(import.meta.dirname, '../../..');

/** The code of the widgets' run, as drover's workers have theirs. */
export const bundleWidgets = (): Promise<string> =>
  bundleTestWorkflows(
    join(import.meta.dirname, 'reconcile.ts'),
    ['workflows', 'contracts'],
    [join(root, 'workflows/observe-runs.ts')],
  );

export const widget: WidgetName = { namespace: 'team', name: 'wheel' };

/** An event of a history has been written, or an attempt of an activity begins. */
export interface Moment {
  number: number;
  world: World;
  simulation: Simulation;
  act: Acts;
  /** Null: it is an event. */
  call: ActivityCall | null;
  event: string;
}

/** What users do; each happens right after the moment. */
export interface Acts {
  changeSpec(): void;
  retryNow(): void;
  /** By the annotation. */
  askRetry(): void;
  polish(): void;
  cancel(): void;
  /** And the bridge finds that no run is open. */
  terminate(): void;
}

export interface StoryOptions {
  bundle: WorkflowBundle;
  seed?: number;
  at?: (moment: Moment) => ActivityFate | void;
  /** Counts workflow tasks of the story, from 1. */
  onTask?: (number: number) => WorkflowTaskFate;
  longHistory?: number;
  world?: WorldOptions;
  /** A user may cancel the run. */
  mayStop?: boolean;
}

export interface Story {
  complaints: string[];
  moments: number;
  tasks: number;
  runs: readonly RunRecord[];
  /** Of each chapter. */
  events: number[];
  accepted: number;
  polished: number;
}

const isCancelled = /was cancelled/u;
const longestMs = 3 * 24 * 3_600_000;
/** A change makes more events, and so more moments. */
const mostChanges = 20;

export async function tell({
  bundle,
  seed = 1,
  at = () => undefined,
  onTask = () => 'keep',
  longHistory,
  world: worldOptions,
  mayStop = false,
}: StoryOptions): Promise<Story> {
  const complaints: string[] = [];
  const asked = { accepted: 0, unserved: 0, polished: 0, acceptedMs: 0, waitedFor: 0 };
  /** Updates that were accepted and not answered. */
  const unanswered = new Set<string>();
  let [moments, tasks, changes, retries] = [0, 0, 0, 0];
  let world: World | null = null;
  let simulation: Simulation | null = null;
  const moment = (event: string, call: ActivityCall | null): ActivityFate => {
    if (world === null || simulation === null) return 'works';
    return at({ number: (moments += 1), world, simulation, act, call, event }) ?? 'works';
  };
  const running = createSimulation({
    bundle,
    seed,
    ...(longHistory !== undefined && { longHistory }),
    serve(its) {
      world ??= createWorld(its, worldOptions);
      return [{ taskQueue: 'widgets', activities: world.activities }];
    },
    onActivity: (call) => moment(`attempt of ${call.activity}`, call),
    onWorkflowTask: () => onTask((tasks += 1)),
    onEvent({ name, event }) {
      const { protocolInstanceId = null } = event.workflowExecutionUpdateAcceptedEventAttributes ?? {};
      if (protocolInstanceId !== null) unanswered.add(protocolInstanceId);
      unanswered.delete(event.workflowExecutionUpdateCompletedEventAttributes?.meta?.updateId ?? '');
      if (event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name === messages.retryNow.name)
        Object.assign(asked, { unserved: asked.unserved + 1, acceptedMs: running.clock.nowMs });
      // A wait ended by its own time, although it was asked to end before.
      if (
        (event.timerFiredEventAttributes ?? null) !== null &&
        asked.unserved > 0 &&
        running.clock.nowMs > asked.acceptedMs + 1_000
      )
        asked.waitedFor += 1;
      if (event.activityTaskScheduledEventAttributes?.activityType?.name === 'observeWidget') asked.unserved = 0;
      moment(name, null);
    },
  });
  simulation = running;
  const its = world as unknown as World;
  const workflowId = workflowIdOf(widget);
  const handle = running.client.workflow.getHandle(workflowId);
  const later = (does: () => void): void => void running.clock.at(running.clock.nowMs, does);
  const ifOpen = (does: () => Promise<unknown>): void =>
    // One that has ended meanwhile refuses it.
    later(() => void (running.openRuns().includes(workflowId) && does().catch(() => undefined)));
  const change = (): void => its.change(widget, 1 + ((changes += 1) % 90));
  const act: Acts = {
    changeSpec: () => later(() => void (changes < mostChanges && change())),
    retryNow: () =>
      ifOpen(async () => (await handle.executeUpdate(messages.retryNow, { args: [{}] }), (asked.accepted += 1))),
    askRetry: () => later(() => its.askRetry(widget, String((retries += 1)))),
    polish: () => ifOpen(async () => (await handle.executeUpdate('polish'), (asked.polished += 1))),
    cancel: () => ifOpen(() => handle.cancel()),
    terminate() {
      // What is terminated releases nothing.
      its.forgiveSlots();
      ifOpen(async () => (await handle.terminate(), its.notify(widget, 'resync')));
    },
  };
  const events: number[] = [];
  const written = (): number => running.runs().reduce((sum, run) => sum + run.events, 0);
  const chapter = async (title: string, does: () => void): Promise<void> => {
    const [runs, before] = [running.runs().length, written()];
    does();
    await running.run(undefined, longestMs);
    let found = its.judge(widget, mayStop ? isCancelled : null);
    if (mayStop && running.runs().at(-1)?.status === 'CANCELED' && found.length === 0) {
      // A user's stop is visible, and holds; a retry goes on.
      its.askRetry(widget, `after ${title}`);
      await running.run(undefined, longestMs);
      found = its.judge(widget);
    }
    if (running.runs().length === runs) found.push('no run was started');
    const { status, memo } = running.runs().at(-1) ?? {};
    const [left, digest] = [memo?.[digestMemo], its.digestOf(widget)];
    if (status === 'COMPLETED' && its.find(widget) !== undefined && left !== digest)
      found.push(`the last run leaves the digest ${String(left)} beside a widget of ${digest}`);
    if (unanswered.size > 0) found.push('an update was accepted, and not answered');
    if (asked.unserved > 0) found.push('retryNow was accepted, and nothing was observed after it');
    if (asked.waitedFor > 0) found.push('retryNow was accepted, and a wait went on all the same');
    asked.waitedFor = 0;
    events.push(written() - before);
    complaints.push(...found.map((one) => `${title}: ${one}`));
  };
  try {
    await chapter('created', () => its.create(widget, 1));
    await chapter('changed', change);
    await chapter('deleted', () => its.remove(widget));
  } catch (error) {
    complaints.push(`${(error as Error).constructor.name}: ${(error as Error).message}`);
  } finally {
    running.close();
  }
  const failed = running.runs().find(({ status }) => status === 'FAILED');
  if (failed !== undefined) complaints.push(`a run failed: ${failed.failure?.message}`);
  return {
    complaints,
    moments,
    tasks,
    runs: running.runs(),
    events,
    accepted: asked.accepted,
    polished: asked.polished,
  };
}

/** The story with something that happens once, at every so-many-th moment of the clean story in turn. */
export async function* tellAtEach(
  options: Omit<StoryOptions, 'at'>,
  does: (moment: Moment) => ActivityFate | void,
  { stride = 1, isPoint = () => true }: { stride?: number; isPoint?: (moment: Moment) => boolean } = {},
): AsyncGenerator<Story> {
  const points: number[] = [];
  const clean = await tell({ ...options, at: (moment) => void (isPoint(moment) && points.push(moment.number)) });
  if (clean.complaints.length > 0) yield clean;
  for (const point of points.filter((_, index) => index % stride === 0)) {
    const story = await tell({ ...options, at: (moment) => (moment.number === point ? does(moment) : undefined) });
    yield { ...story, complaints: story.complaints.map((complaint) => `at moment ${point}: ${complaint}`) };
  }
}
