import type { Preflight } from '../../contracts/eviction.ts';
import { parallelismOf } from '../../workflows/eviction/plan.ts';
import { needOf } from '../../workflows/eviction/need.ts';
import type { StandingProblem } from '../../workflows/eviction/state.ts';
import { acceptedObstacles, inState, outstanding, remains } from '../../workflows/eviction/state.ts';
import { reportDueMs } from '../../workflows/limits/claim.ts';
import { inProgress } from './nova.ts';
import type { Run, Watch } from './simulation.ts';

/** What an invariant is called when it is broken, and by what. */
export class Violation extends Error {
  readonly invariant: string;
  constructor(invariant: string, evidence: string) {
    super(`${invariant}: ${evidence}`);
    this.invariant = invariant;
  }
}

const check = (holds: boolean, invariant: string, evidence: () => string): void => {
  if (!holds) throw new Violation(invariant, evidence());
};

const hourMs = 3_600_000;
/** Far more than anything sound needs: what loops makes thousands. */
const stepsPerHour = 400;
const movesPerChild = 60;
/** From the signal of a deletion to the run's knowing it: two calls with their retries and the pauses between. */
const heardWithinMs = 5 * 60_000;
/** From there to the end of the run: what is in flight may finish, and cold moves run to their end. */
const endedWithinMs = 30 * 60_000;

interface Story {
  hour: number;
  stepsInHour: number;
  changed: boolean;
  pictures: { atMs: number; picture: Preflight }[];
  seen: Set<string>;
  outstanding: Set<string>;
  children: Map<string, number>;
}

/** Whether something is under way, or to be done at a time, that shows whether what failed works again. */
function isTried({ state, share, readAtMs, reporting, unheard }: Run, { of, retryAtMs }: StandingProblem): boolean {
  if (of === 'read') return readAtMs !== null;
  if (of === 'report') return unheard !== null && (reporting || reportDueMs(share, needOf(state), state.settings.allowanceRenewMs) !== null);
  return inState(state, 'moving').some(({ sinceMs }) => sinceMs >= retryAtMs);
}

/** Throws a {@link Violation} at the first step that breaks an invariant. */
export function createWatch(): Watch {
  const stories = new Map<Run, Story>();
  /** Where runs were killed, their children are nobody's until they have wound down. */
  let anyKilled = false;
  /** What people told one run is nothing to the next. */
  const forgetSkips = (run: Run): void => {
    for (const one of watch.skipped) if (one.startsWith(`${run.object.desired.hypervisor}/`)) watch.skipped.delete(one);
  };
  const storyOf = (run: Run): Story => {
    const known = stories.get(run);
    if (known !== undefined) return known;
    const story: Story = { hour: 0, stepsInHour: 0, changed: false, pictures: [], seen: new Set(), outstanding: new Set(), children: new Map() };
    stories.set(run, story);
    return story;
  };

  const watch: Watch = {
    steps: 0,
    skipped: new Set(),
    deletedMs: new Map(),
    ends: [],

    runSteps({ clock, downUntilMs }, run, step) {
      watch.steps += 1;
      const story = storyOf(run);
      const hour = Math.floor(clock.nowMs / hourMs);
      if (hour !== story.hour) Object.assign(story, { hour, stepsInHour: 0 });
      story.stepsInHour += 1;
      check(story.stepsInHour <= stepsPerHour, 'bounded steps', () => `${run.runId} has made ${story.stepsInHour} steps in an hour, the last: ${JSON.stringify(step).slice(0, 200)}`);
      const deletedMs = watch.deletedMs.get(run.object);
      if (deletedMs !== undefined && run.state.stop === null) {
        const sinceMs = clock.nowMs - Math.max(deletedMs, downUntilMs.kubernetes, run.state.startedAtMs);
        check(sinceMs <= heardWithinMs || step.do === 'refresh', 'a deletion is heard', () => `${run.runId} goes on with ${step.do} ${Math.round(sinceMs / 1000)} s after its Eviction was deleted`);
      }
      const { problem } = run.state;
      if (problem !== null && step.do === 'wait') check(problem.retryAtMs > clock.nowMs || isTried(run, problem), 'a problem that is over is forgotten', () => `${run.runId}: ${problem.reason} was to be tried again ${Math.round((clock.nowMs - problem.retryAtMs) / 1000)} s ago; waits for ${step.for}`);
      const now = outstanding(run.state);
      for (const { instance } of now) check(story.outstanding.has(instance.id) || story.seen.has(instance.id), 'the outstanding list only shrinks', () => `${run.runId} lists ${instance.id} again, which no look has found`);
      if (now.length !== story.outstanding.size || story.seen.size > 0) story.outstanding = new Set(now.map(({ instance }) => instance.id));
      story.seen.clear();
      if (step.do === 'wait') {
        check(step.for.length > 0, 'a wait has a reason', () => run.runId);
        if (step.untilMs !== null) check(step.untilMs > clock.nowMs, 'a wait ends later', () => `${run.runId} waits for ${step.for} until ${step.untilMs}, and it is ${clock.nowMs}`);
        else check(run.moves.size > 0 || run.state.paused !== null || /share/.test(step.for), 'a wait has a deadline', () => `${run.runId} waits for ${step.for}`);
      }
      if (step.do === 'end') check(run.moves.size === 0, 'nothing is in flight at the end', () => `${run.runId} ends as ${step.outcome} with ${[...run.moves.keys()].join(', ')} in flight`);
      if (step.do === 'end') {
        const accepted = acceptedObstacles(run.state);
        for (const { id, instanceId, message } of run.state.obstacles) {
          const one = instanceId === null ? undefined : run.state.instances[instanceId];
          check(!accepted.has(id) || one?.state !== 'blocked' || one.message !== message, 'what is accepted blocks nobody', () => `${run.runId}: ${id}`);
        }
      }
      if (step.do === 'end' && step.message.includes('Nothing was changed')) check(!story.changed, 'the message is true', () => `${run.runId}: ${step.message}`);
    },

    moveBegan({ clock }, run, id, child) {
      const { state } = run;
      const moving = inState(state, 'moving').length;
      const story = storyOf(run);
      story.changed = true;
      check(state.stop === null, 'nothing starts after a stop', () => `${run.runId} moves ${id}`);
      check(state.paused === null, 'nothing starts while paused', () => `${run.runId} moves ${id}`);
      check(state.desired.mode === 'act', 'observing changes nothing', () => `${run.runId} moves ${id}`);
      check(!watch.skipped.has(`${run.object.desired.hypervisor}/${id}`), 'who is skipped stays', () => `${run.runId} moves ${id}`);
      check(moving <= parallelismOf(state), 'the window', () => `${run.runId} moves ${moving} of ${parallelismOf(state)}`);
      check(moving <= (state.allowance?.allowance ?? 0), 'the allowance of one', () => `${run.runId} moves ${moving} of ${state.allowance?.allowance ?? 0}`);
      check(state.host?.service.status === 'disabled', 'disabled first', () => `${run.runId} moves ${id} at ${clock.nowMs}`);
      const groups = inState(state, 'moving').filter(({ instance }) => instance.id !== id).flatMap(({ instance }) => instance.serverGroups);
      check(child.input.instance.serverGroups.every((group) => !groups.includes(group)), 'one of a group at a time', () => `${run.runId} moves ${id}`);
      story.children.set(id, (story.children.get(id) ?? 0) + 1);
    },

    childMoves(_sim, child, move) {
      watch.steps += 1;
      const { id } = child.input.instance;
      const { attempts } = child.progress;
      const { maxAttempts } = child.input.settings;
      check(child.moves <= movesPerChild, 'bounded moves', () => `${id} has made ${child.moves} moves, the last: ${move.do}`);
      check(attempts <= maxAttempts + 1, 'bounded attempts', () => `${id} is at attempt ${attempts} of ${maxAttempts}`);
      if (move.do === 'migrateCold' && child.input.instance.vmState === 'active' && child.progress.observation.instance?.vmState === 'active') {
        check(child.input.consent.includes('cold-migrate'), 'no cold move without consent', () => id);
      }
      if (move.do === 'forceComplete') check(child.input.consent.includes('force-complete'), 'nothing is forced without consent', () => id);
    },

    migrationStarted(sim) {
      if (anyKilled) return;
      const ours = inProgress(sim.nova).filter(({ id, status }) => sim.nova.orderedBy.has(id) && status !== 'finished').length;
      check(ours <= sim.scenario.limit, 'the region’s limit', () => `${ours} of ${sim.scenario.limit}`);
    },

    confirms(sim, child, server, migrationId) {
      const isOwn = sim.nova.orderedBy.has(migrationId);
      check(isOwn || child.input.accepted, 'only drover’s own resizes are confirmed', () => `${child.input.instance.id}: migration ${migrationId} of ${server?.instance.name ?? 'a server that is gone'}`);
    },

    childClosed() {
      watch.steps += 1;
    },

    pictureTaken({ clock }, run, picture) {
      const story = storyOf(run);
      story.pictures.push({ atMs: clock.nowMs, picture });
      for (const { id } of picture.host.instances) story.seen.add(id);
      return picture;
    },
    disabled: (run) => void (storyOf(run).changed = true),

    enabledAgain({ runs, nova }, hypervisor) {
      const busy = runs.find(({ state, moves, stage }) => stage !== 'closed' && state.desired.hypervisor === hypervisor && moves.size > 0);
      check(busy === undefined, 'enabled only at the end', () => `${hypervisor} is enabled while ${busy?.runId} moves servers; ${nova.servers.size} servers`);
    },
    awaitsReboot: () => undefined,

    continued(run, successor) {
      check(run.moves.size === 0, 'continued only when quiet', () => run.runId);
      const story = storyOf(run);
      stories.set(successor, { ...story, children: new Map(story.children), outstanding: new Set(story.outstanding), seen: new Set(story.seen) });
      watch.ends.push(`${run.runId} continued`);
    },

    runKilled(run) {
      forgetSkips(run);
      anyKilled = true;
      watch.ends.push(`${run.runId} killed`);
    },

    runClosed({ nova, settings, clock, downUntilMs, stopUntilMs }, run) {
      forgetSkips(run);
      const { end, desired } = run.state;
      watch.ends.push(`${run.runId} ${end?.outcome ?? 'nothing'} ${end?.message ?? ''} at ${Math.round(clock.nowMs)}`);
      const left = inProgress(nova).filter(({ id, sourceHost, status }) => nova.orderedBy.get(id) === desired.uid && sourceHost === desired.hypervisor && !(status === 'finished' && nova.unproven.has(id)));
      check(anyKilled || left.length === 0, 'no migration is left behind', () => `${run.runId} has ended as ${end?.outcome}: ${left.map(({ instanceId, type, status }) => `${type} of ${instanceId} is ${status}`).join(', ')}`);
      const deletedMs = watch.deletedMs.get(run.object);
      if (deletedMs !== undefined) {
        const sinceMs = clock.nowMs - Math.max(deletedMs, downUntilMs.kubernetes, downUntilMs.nova, stopUntilMs);
        check(sinceMs <= endedWithinMs, 'a deletion ends the run', () => `${run.runId} has ended ${Math.round(sinceMs / 1000)} s after its Eviction was deleted`);
      }
      if (end?.outcome === 'Observed' && !end.message.includes('from here on')) check(!storyOf(run).changed, 'the message is true', () => `${run.runId}: ${end.message}`);
      if (end?.outcome !== 'Succeeded') return;
      const [before, last] = storyOf(run).pictures.slice(-2);
      check(last !== undefined && remains(last.picture.host).length === 0, 'succeeded means empty', () => `${run.runId}: ${last === undefined ? 'never looked' : remains(last.picture.host).join(', ')}`);
      check(before !== undefined && remains(before.picture.host).length === 0, 'empty is seen twice', () => run.runId);
      check(last!.atMs - before!.atMs >= settings.emptyRecheckMs * 0.9, 'and some time apart', () => `${run.runId}: ${last!.atMs - before!.atMs} ms`);
      for (const { instance, migrations } of nova.servers.values()) {
        const completed = migrations.filter(({ id, status, sourceHost }) => ['completed', 'confirmed'].includes(status) && nova.orderedBy.get(id) === desired.uid && sourceHost === desired.hypervisor).length;
        check(completed <= 1 + (nova.returned.get(instance.id) ?? 0), 'moved once', () => `${instance.id}: ${completed}`);
      }
    },

    atRest({ runs, children, region, nova }) {
      for (const run of runs) {
        check(run.stage === 'closed', 'every run ends', () => `${run.runId} is ${run.stage}: ${run.waiting === null ? 'acting' : `waiting for ${run.waiting.for}`}; the region: ${JSON.stringify(region.ledger)}`);
      }
      check(children.size === 0, 'every child ends', () => [...children.keys()].join(', '));
      check(region.ledger === null || region.ledger.holders.length === 0, 'no allowance is leaked', () => JSON.stringify(region.ledger?.holders));
      const waiting = [...nova.servers.values()].filter(({ migrations }) => migrations.some(({ id, status }) => status === 'finished' && nova.orderedBy.has(id) && !nova.unproven.has(id)));
      check(anyKilled || waiting.length === 0, 'drover’s own cold moves are confirmed', () => waiting.map(({ instance }) => instance.id).join(', '));
    },
  };
  return watch;
}
