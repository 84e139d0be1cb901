import { workflowInfo } from '@temporalio/workflow';
import { invalidInput } from './failures.ts';
import type { DrivenKind } from './lifecycle.ts';

/**
 * The input of a run, which may have been typed by hand. Its shape only: that the name may name an object, and what
 * else is given, is checked where it is read, with every problem by name.
 *
 * @throws InvalidInput
 */
export function readInput<Input extends object>({ kind, input: fields }: DrivenKind, input: Input): Input {
  const given = Object(input) as Record<string, unknown>;
  const missing = fields.filter((field) => typeof given[field] !== 'string' || given[field] === '');
  if (missing.length === 0) return input;
  const example = JSON.stringify(Object.fromEntries(fields.map((field) => [field, `my-${field}`])));
  throw invalidInput(
    `The input must name the ${kind}: ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing. ` +
      `Start the run with, for example, ${example}. Nothing was started.`,
  );
}

/**
 * What an earlier run of the same chain left. Only that run can give it; typed by hand it would be believed, and a run
 * that believes nonsense fails at the same place for ever.
 *
 * @throws InvalidInput where the run continues none
 */
export function readCarried<State>(carried: State | null | undefined): State | null {
  if (carried === undefined || carried === null) return null;
  const { continuedFromExecutionRunId, workflowType } = workflowInfo();
  if (continuedFromExecutionRunId !== undefined) return carried;
  throw invalidInput(
    `${workflowType} was given a state of another run, and continues none. Start it with the name alone. Nothing was started.`,
  );
}
