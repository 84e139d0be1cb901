import { ApplicationFailure, condition, currentUpdateInfo, setHandler, uuid4 } from '@temporalio/workflow';
import {
  asSignal,
  messages,
  type AbandonDisks,
  type Command as UserCommand,
  type ConfirmOff,
} from '../../contracts/messages.ts';
import { explain } from '../lib/failures.ts';
import type { RunHandle } from '../lib/lifecycle.ts';
import type { Command, NodeFailureLifecycle } from './types.ts';

type Run = RunHandle<NodeFailureLifecycle>;

/** Sets the handlers of the run's own messages. */
export function listen(run: Run): void {
  setHandler(messages.guestsFailing, (argument: unknown) => {
    const message = readGuestsFailing(argument);
    if (message === null) return;
    // The same message again only keeps what is known from growing old.
    if (run.memory().guests?.message !== message) run.wake();
    run.update((memory) => ({ ...memory, guests: { message, atMs: Date.now() } }));
  });
  onCommand(run, messages.confirmOff, (argument, id, atMs) => {
    return { kind: 'confirmOff', confirmation: { id, ...readConfirmation(argument), atMs } };
  });
  onCommand(run, messages.abandonDisks, (argument) => {
    return { kind: 'abandonDisks', abandonment: readAbandonment(argument) };
  });
}

type Read = (argument: unknown, id: string, atMs: number) => CommandInput;
type CommandInput = Command extends infer One ? (One extends Command ? Omit<One, 'id' | 'atMs'> : never) : never;

/**
 * Accepts a user's command as an update, which is answered when the host was observed once more, and as a signal, which
 * cannot be answered: why it is refused is in `progress`.
 */
function onCommand<Argument>(run: Run, definition: UserCommand<Argument>, read: Read): void {
  const ask = async (argument: unknown): Promise<string> => {
    const id = currentUpdateInfo()?.id ?? uuid4();
    const atMs = Date.now();
    const command: Command = { id, atMs, ...read(argument, id, atMs) };
    run.update((memory) => ({ ...memory, commands: [...memory.commands, command] }));
    run.wake();
    await condition(() => run.memory().answers[id] !== undefined);
    const { isAccepted, message } = run.memory().answers[id]!;
    run.update(({ answers: { [id]: _sent, ...answers }, ...memory }) => ({ ...memory, answers }));
    if (!isAccepted) throw ApplicationFailure.create({ type: 'InvalidInput', message, nonRetryable: true });
    return message;
  };
  setHandler(definition, ask);
  setHandler(asSignal(definition), (argument) =>
    ask(argument).then(
      () => undefined,
      (error: unknown) => run.update((memory) => ({ ...memory, refusal: explain(error).message })),
    ),
  );
}

const fields: readonly string[] = ['incident', 'bootId', 'person'] satisfies (keyof ConfirmOff)[];
const longest = 300;

/** A confirmation as a user typed it. @throws InvalidInput naming what is missing or unknown */
export function readConfirmation(argument: unknown): ConfirmOff {
  const given = (typeof argument === 'object' && argument !== null ? argument : {}) as Record<string, unknown>;
  const text = (field: keyof ConfirmOff): string => {
    const value = given[field];
    return typeof value === 'string' && value.length <= longest ? value.trim() : '';
  };
  const confirmation: ConfirmOff = { incident: text('incident'), bootId: text('bootId'), person: text('person') };
  const unknown = Object.keys(given).find((key) => !fields.includes(key));
  if (Object.values(confirmation).every((value) => value !== '') && unknown === undefined) return confirmation;
  const what = unknown === undefined ? '' : `; unknown is ${unknown.slice(0, 50)}`;
  throw ApplicationFailure.create({
    type: 'InvalidInput',
    message: `A confirmation is {"incident": …, "bootId": …, "person": …}, each a text${what}. The query progress has the first two.`,
    nonRetryable: true,
  });
}

const mostInstances = 1_000;

/** Whose local disks a user gives up. @throws InvalidInput */
export function readAbandonment(argument: unknown): AbandonDisks {
  const given = (typeof argument === 'object' && argument !== null ? argument : {}) as Record<string, unknown>;
  const isText = (value: unknown): value is string =>
    typeof value === 'string' && value.trim() !== '' && value.length <= longest;
  const { incident, instances, person, ...rest } = given;
  const isList =
    Array.isArray(instances) && instances.length > 0 && instances.length <= mostInstances && instances.every(isText);
  if (isText(incident) && isText(person) && isList && Object.keys(rest).length === 0)
    return { incident: incident.trim(), instances: [...new Set(instances)], person: person.trim() };
  throw ApplicationFailure.create({
    type: 'InvalidInput',
    message:
      'Giving up disks is {"incident": …, "instances": [id or name, …], "person": …}. The query progress names the incident and the servers.',
    nonRetryable: true,
  });
}

/** Null: it is none. A worker of another release may have sent it. */
export function readGuestsFailing(argument: unknown): string | null {
  const { message } = (typeof argument === 'object' && argument !== null ? argument : {}) as Record<string, unknown>;
  return typeof message === 'string' && message !== '' ? message.slice(0, 2_000) : null;
}
