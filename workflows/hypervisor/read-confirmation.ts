import { ApplicationFailure } from '@temporalio/workflow';
import type { ConfirmOff } from '../../contracts/messages.ts';

const fields: readonly string[] = ['incident', 'bootId', 'person'] satisfies (keyof ConfirmOff)[];
const longest = 300;

/** A confirmation as somebody typed it. @throws InvalidInput naming what is missing or unknown */
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
  throw ApplicationFailure.create({ type: 'InvalidInput', message: `A confirmation is {"incident": …, "bootId": …, "person": …}, each a text${what}. The query progress has the first two.`, nonRetryable: true });
}
