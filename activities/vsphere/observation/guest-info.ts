import { createContext, Script } from 'node:vm';

import type { ObservationRequest, VcenterObservation } from '../../../contracts/virtual-machine/activities.ts';
import { isSecret } from './config.ts';

/** A pattern is the user's: one that does not come to an end must not hold up all others. */
const patternLimitMs = 500;
const longestValue = 4_096;

/**
 * Whether the guest has set what a probe asks for. What it has set itself is compared here and goes nowhere.
 *
 * @param extraConfig null: it is not known
 * @returns null: nothing is asked for
 */
export function probeGuestInfo(
  asked: ObservationRequest['guestInfo'],
  extraConfig: Readonly<Record<string, string>> | null,
): VcenterObservation['probe'] {
  if (asked.length === 0) return null;
  let isOverdue = false;
  const isSet = ({ key, pattern }: Asked): boolean => {
    const name = `guestinfo.${key}`;
    const value = extraConfig?.[name];
    // Of a secret, nothing is told by guesses either.
    if (isSecret(name) || value === undefined || isOverdue) return false;
    const matched = matches(pattern, value);
    isOverdue = matched === null;
    return matched === true;
  };
  const missing = asked.filter((one) => !isSet(one));
  return missing.length === 0
    ? { passed: true, message: '' }
    : { passed: false, message: `The guest has not set ${missing.map(textOf).join(', ')}` };
}

type Asked = ObservationRequest['guestInfo'][number];

const textOf = ({ key, pattern }: Asked): string =>
  pattern === '' ? `guestinfo.${key}` : `guestinfo.${key} to ${pattern}`;

const place = createContext({ pattern: '', value: '' });
const test = new Script('new RegExp(pattern, "u").test(value)');

/**
 * As upstream: one that is no pattern matches everything, and so does an empty one. Null: it has not come to an end.
 */
function matches(pattern: string, value: string): boolean | null {
  try {
    void new RegExp(pattern, 'u');
  } catch {
    return true;
  }
  Object.assign(place, { pattern, value: value.slice(0, longestValue) });
  try {
    return test.runInContext(place, { timeout: patternLimitMs }) === true;
  } catch {
    return null;
  }
}
