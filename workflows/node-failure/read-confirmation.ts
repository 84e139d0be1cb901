import { ApplicationFailure } from '@temporalio/workflow';
import type { AbandonDisks, ConfirmOff } from '../../contracts/messages.ts';

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
  throw ApplicationFailure.create({
    type: 'InvalidInput',
    message: `A confirmation is {"incident": …, "bootId": …, "person": …}, each a text${what}. The query progress has the first two.`,
    nonRetryable: true,
  });
}

const mostInstances = 1_000;

/** Whose local disks somebody gives up. @throws InvalidInput */
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
