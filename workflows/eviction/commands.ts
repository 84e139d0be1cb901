import { ApplicationFailure } from '@temporalio/workflow';
import type { CommandArguments, CommandName } from './command-arguments.ts';
import type { EvictionRun } from './run.ts';
import { note } from './run.ts';
import type { TrackedInstance } from './state.ts';
import { become, inState } from './state.ts';

const mostParallel = 64;

/** A command that cannot be carried out: the person reads why, and the run goes on. */
export const refuse = (message: string): never => {
  throw ApplicationFailure.create({ type: 'InvalidInput', message, nonRetryable: true });
};

/** What a command may touch of a run. */
type Steered = Pick<EvictionRun, 'state' | 'events' | 'unpublished' | 'readAtMs' | 'unheard'>;

/** What each command does to a run. Each answers with a sentence; none awaits, so two can never interleave. */
export const commands: {
  readonly [Name in CommandName]: (run: Steered, argument: CommandArguments[Name], nowMs: number) => string;
} = {
  pause(run, { by = 'unknown', reason }, nowMs) {
    if (run.state.paused !== null) return `It is paused already, by ${run.state.paused.by}.`;
    run.state.paused = { by, reason: reason ?? null, sinceMs: nowMs };
    note(run, 'Normal', 'Paused', `Paused by ${by}${reason === undefined ? '' : `: ${reason}`}`);
    return `Paused. ${inState(run.state, 'moving').length} in flight will end; nothing more starts.`;
  },
  resume(run, { by = 'unknown' }) {
    if (run.state.paused === null) return 'It was not paused.';
    run.state.paused = null;
    note(run, 'Normal', 'Resumed', `Resumed by ${by}`);
    return `Resumed. ${inState(run.state, 'pending').length} to go.`;
  },
  skipInstance(run, { instance, by = 'unknown', reason }, nowMs) {
    const one = find(run, instance);
    if (one.state === 'moving')
      return refuse(`${one.instance.name} is moving now. Cancel the eviction with --abort, or wait.`);
    if (one.state === 'moved' || one.state === 'gone') return refuse(`${one.instance.name} has left the host already.`);
    become(one, 'skipped', nowMs, `skipped by ${by}${reason === undefined ? '' : `: ${reason}`}`);
    note(run, 'Normal', 'InstanceSkipped', `${one.instance.name} ${one.message}`);
    return `${one.instance.name} stays on the host, so the host will not count as empty.`;
  },
  retryInstance(run, { instance, by = 'unknown' }, nowMs) {
    const one = find(run, instance);
    if (one.state === 'moving') return refuse(`${one.instance.name} is moving now.`);
    if (one.state === 'moved' || one.state === 'gone') return refuse(`${one.instance.name} has left the host already.`);
    become(one, 'pending', nowMs);
    one.attempts = 0;
    note(run, 'Normal', 'InstanceRetried', `${one.instance.name} is tried again, by ${by}`);
    return `${one.instance.name} is tried again.`;
  },
  setParallelism(run, { parallelism, by = 'unknown' }) {
    if (parallelism < 1 || parallelism > mostParallel)
      return refuse(`parallelism is a whole number from 1 to ${mostParallel}`);
    run.state.parallelism = parallelism;
    note(run, 'Normal', 'ParallelismSet', `${parallelism} at a time, by ${by}`);
    const granted = run.state.allowance?.allowance;
    const limit = granted !== undefined && granted < parallelism ? ` The region grants ${granted} for now.` : '';
    return `Up to ${parallelism} servers move at once.${limit}`;
  },
  acceptObstacle(run, { obstacle, by = 'unknown' }, nowMs) {
    const { obstacles, accepted, instances } = run.state;
    const found = obstacles.find(({ id }) => id === obstacle);
    if (found === undefined)
      return refuse(
        `There is no obstacle ${obstacle}. There are: ${obstacles.map(({ id }) => id).join(', ') || 'none'}.`,
      );
    if (!accepted.includes(obstacle)) accepted.push(obstacle);
    const one = found.instanceId === null ? undefined : instances[found.instanceId];
    if (one?.state === 'blocked') become(one, 'pending', nowMs);
    note(run, 'Normal', 'ObstacleAccepted', `${obstacle} accepted by ${by}`);
    return `Accepted: ${found.message}.`;
  },
  cancelEviction(run, { by = 'unknown', abort = false, reEnable = false }, nowMs) {
    const { state } = run;
    state.stop = {
      abort: abort || (state.stop?.abort ?? false),
      reEnable: reEnable || (state.stop?.reEnable ?? false),
      by,
      atMs: state.stop?.atMs ?? nowMs,
      aborted: false,
    };
    note(run, 'Normal', 'Stopping', `Cancelled by ${by}`);
    const moving = inState(state, 'moving').length;
    const inFlight =
      moving === 0 ? 'Nothing is in flight' : `${moving} in flight ${state.stop.abort ? 'are aborted' : 'may finish'}`;
    return `Stopping. ${inFlight}; the host is ${state.stop.reEnable ? 'enabled again if drover disabled it' : 'left disabled'}.`;
  },
  retryNow(run, _argument, nowMs) {
    if (run.state.problem === null) return 'It is not waiting to try again.';
    run.state.problem = { ...run.state.problem, retryAtMs: nowMs };
    // Each of them waits for a time of its own.
    if (run.readAtMs !== null) run.readAtMs = nowMs;
    if (run.unheard !== null) run.unheard = { ...run.unheard, retryAtMs: nowMs };
    return `Trying again: ${run.state.problem.message}`;
  },
};

function find(run: Steered, nameOrId: string): TrackedInstance {
  const all = Object.values(run.state.instances);
  const found = all.filter(({ instance }) => instance.id === nameOrId || instance.name === nameOrId);
  const [one] = found;
  if (one === undefined) return refuse(`No server ${nameOrId} belongs to this eviction.`);
  if (found.length > 1)
    return refuse(
      `${found.length} servers are called ${nameOrId}. Give the id: ${found.map(({ instance }) => instance.id).join(', ')}.`,
    );
  return one;
}
