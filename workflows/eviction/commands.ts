import { condition, setHandler } from '@temporalio/workflow';
import {
  asSignal,
  type Command,
  messages,
  type AcceptObstacle,
  type CancelEviction,
  type Pause,
  type Resume,
  type RetryInstance,
  type SetParallelism,
  type SkipInstance,
} from '../../contracts/messages.ts';
import { invalidInput } from '../lib/failures.ts';
import { addEvent, type EvictionInbox, type EvictionRun, tryNow, wake } from './run.ts';
import { admitResized, enterState, inState, type TrackedInstance } from './state.ts';

/** What each command takes. */
interface CommandArguments {
  pause: Pause;
  resume: Resume;
  skipInstance: SkipInstance;
  retryInstance: RetryInstance;
  setParallelism: SetParallelism;
  acceptObstacle: AcceptObstacle;
  cancelEviction: CancelEviction;
  retryNow: object;
}
export type CommandName = keyof CommandArguments;

interface Field {
  is: (value: unknown) => boolean;
  /** After "must be". */
  expected: string;
  required?: true;
}

/** What users write ends up in conditions and events, which Kubernetes bounds. */
const longestText = 1_024;

const text: Field = {
  is: (value) => typeof value === 'string' && value.length <= longestText,
  expected: `a text of at most ${longestText} characters`,
};
const flag: Field = { is: (value) => typeof value === 'boolean', expected: 'true or false' };
const count: Field = { is: Number.isSafeInteger, expected: 'a whole number' };
const needed = (field: Field): Field => ({ ...field, required: true });

const fields: { readonly [Name in CommandName]: { readonly [Key in keyof CommandArguments[Name]]-?: Field } } = {
  pause: { by: text, reason: text },
  resume: { by: text },
  skipInstance: { by: text, reason: text, instance: needed(text) },
  retryInstance: { by: text, instance: needed(text) },
  setParallelism: { by: text, parallelism: needed(count) },
  acceptObstacle: { by: text, obstacle: needed(text) },
  cancelEviction: { by: text, abort: flag, reEnable: flag },
  retryNow: {},
};

/**
 * The argument of a command as it came, by a program of drover's or typed by hand. Only known fields are read.
 *
 * @throws InvalidInput naming the first field that is not right
 */
export function readCommand<Name extends CommandName>(name: Name, given: unknown): CommandArguments[Name] {
  const json = given ?? {};
  if (typeof json !== 'object' || Array.isArray(json)) return refuse(`${name} takes a JSON object`);
  const read = Object.entries<Field>(fields[name]).flatMap(([key, { is, expected, required }]) => {
    const value = Object.hasOwn(json, key) ? ((json as Record<string, unknown>)[key] ?? undefined) : undefined;
    if (value === undefined && required !== true) return [];
    if (!is(value)) return refuse(`${name}: ${key} must be ${expected}`);
    return [[key, value]];
  });
  return Object.fromEntries(read) as CommandArguments[Name];
}

const mostParallel = 64;

/** A command that cannot be executed: the user reads why, and the run goes on. */
const refuse = (message: string): never => {
  throw invalidInput(message);
};

/** What a command may touch of a run. */
type Steered = Pick<EvictionRun, 'state' | 'events' | 'unpublished' | 'readDueMs' | 'failedReports'>;

/** What each command does to a run. Each answers with a sentence; none awaits, so two can never interleave. */
export const commands: {
  readonly [Name in CommandName]: (run: Steered, argument: CommandArguments[Name], nowMs: number) => string;
} = {
  pause(run, { by = 'unknown', reason }, nowMs) {
    if (run.state.paused !== null) return `It is paused already, by ${run.state.paused.by}.`;
    run.state.paused = { by, reason: reason ?? null, sinceMs: nowMs };
    addEvent(run, 'Normal', 'Paused', `Paused by ${by}${reason === undefined ? '' : `: ${reason}`}`);
    return `Paused. ${inState(run.state, 'moving').length} in flight will end; nothing more starts.`;
  },
  resume(run, { by = 'unknown' }) {
    if (run.state.paused === null) return 'It was not paused.';
    run.state.paused = null;
    addEvent(run, 'Normal', 'Resumed', `Resumed by ${by}`);
    return `Resumed. ${inState(run.state, 'pending').length} to go.`;
  },
  skipInstance(run, { instance, by = 'unknown', reason }, nowMs) {
    const one = find(run, instance);
    if (one.state === 'moving')
      return refuse(`${one.instance.name} is moving now. Cancel the eviction with --abort, or wait.`);
    if (one.state === 'moved' || one.state === 'gone') return refuse(`${one.instance.name} has left the host already.`);
    enterState(one, 'skipped', nowMs, `skipped by ${by}${reason === undefined ? '' : `: ${reason}`}`);
    addEvent(run, 'Normal', 'InstanceSkipped', `${one.instance.name} ${one.message}`);
    return `${one.instance.name} stays on the host, so the host will not count as empty.`;
  },
  retryInstance(run, { instance, by = 'unknown' }, nowMs) {
    const one = find(run, instance);
    if (one.state === 'moving') return refuse(`${one.instance.name} is moving now.`);
    if (one.state === 'moved' || one.state === 'gone') return refuse(`${one.instance.name} has left the host already.`);
    enterState(one, 'pending', nowMs);
    one.attempts = 0;
    addEvent(run, 'Normal', 'InstanceRetried', `${one.instance.name} is tried again, by ${by}`);
    return `${one.instance.name} is tried again.`;
  },
  setParallelism(run, { parallelism, by = 'unknown' }) {
    if (parallelism < 1 || parallelism > mostParallel)
      return refuse(`parallelism is a whole number from 1 to ${mostParallel}`);
    run.state.parallelism = parallelism;
    addEvent(run, 'Normal', 'ParallelismSet', `${parallelism} at a time, by ${by}`);
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
    if (one?.state === 'blocked') enterState(one, 'pending', nowMs);
    admitResized(run.state, nowMs);
    addEvent(run, 'Normal', 'ObstacleAccepted', `${obstacle} accepted by ${by}`);
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
    addEvent(run, 'Normal', 'Stopping', `Cancelled by ${by}`);
    const moving = inState(state, 'moving').length;
    const inFlight =
      moving === 0 ? 'Nothing is in flight' : `${moving} in flight ${state.stop.abort ? 'are aborted' : 'may finish'}`;
    return `Stopping. ${inFlight}; the host is ${state.stop.reEnable ? 'enabled again if drover disabled it' : 'left disabled'}.`;
  },
  retryNow(run, _argument, nowMs) {
    const what = tryNow(run, nowMs);
    return what === null ? 'It is not waiting to try again.' : `Trying again: ${what}`;
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

/**
 * Accepts every command both as an update, which answers, and as a signal of the same name, because `tctl` knows no
 * updates. A command that comes before the run has opened its Eviction waits for that; `retryNow` makes the run try
 * again at once, whatever it waits for. One that has ended is tried again by its annotation alone, also while the run
 * lingers.
 */
export function handleCommands(inbox: EvictionInbox): void {
  for (const name of Object.keys(commands) as CommandName[]) {
    const handle = async (given: unknown): Promise<string> => {
      wake({ inbox });
      if (name === 'retryNow' && inbox.concluded) return refuse(hasEnded);
      if (name === 'retryNow' && (inbox.run === null || inbox.run.state.end !== null))
        return 'What the run waits to try again, it tries now.';
      if (inbox.run === null) await condition(() => inbox.run !== null || inbox.ending);
      const { run } = inbox;
      if (run === null) return refuse('The run ends: there is no open Eviction for its host.');
      if (run.state.end !== null) return refuse(hasEnded);
      const answer = apply(run, name, readCommand(name, given));
      run.unpublished = true;
      wake(run);
      return answer;
    };
    const command = messages[name] as Command<unknown>;
    setHandler(command, handle);
    // A signal is not answered: what is refused leaves the run as it was.
    setHandler(asSignal(command), (given) => handle(given).then(ignore, ignore));
  }
}

const hasEnded = 'The eviction has ended. `drover describe` shows how.';

const apply = <Name extends CommandName>(run: EvictionRun, name: Name, argument: CommandArguments[Name]): string =>
  commands[name](run, argument, Date.now());

const ignore = (): void => undefined;
