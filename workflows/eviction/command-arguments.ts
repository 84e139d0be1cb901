import { ApplicationFailure } from '@temporalio/workflow';
import type {
  AcceptObstacle,
  CancelEviction,
  Pause,
  Resume,
  RetryInstance,
  SetParallelism,
  SkipInstance,
} from '../../contracts/messages.ts';

/** What each command takes. */
export interface CommandArguments {
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

/** What people say ends up in conditions and events, which Kubernetes bounds. */
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
 * The argument of a command as it came, by a program of drover's or typed by hand. Only known fields are taken over.
 *
 * @throws InvalidInput naming the first field that is not right
 */
export function readCommand<Name extends CommandName>(name: Name, given: unknown): CommandArguments[Name] {
  const json = given ?? {};
  if (typeof json !== 'object' || Array.isArray(json)) throw refusal(`${name} takes a JSON object`);
  const read = Object.entries<Field>(fields[name]).flatMap(([key, { is, expected, required }]) => {
    const value = Object.hasOwn(json, key) ? ((json as Record<string, unknown>)[key] ?? undefined) : undefined;
    if (value === undefined && required !== true) return [];
    if (!is(value)) throw refusal(`${name}: ${key} must be ${expected}`);
    return [[key, value]];
  });
  return Object.fromEntries(read) as CommandArguments[Name];
}

const refusal = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ type: 'InvalidInput', message, nonRetryable: true });
