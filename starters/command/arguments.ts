import { InvalidArgumentError } from 'commander';
import type { Consent, EvictionCause } from '../../contracts/eviction/eviction.ts';
import { consents, evictionCauses } from '../../contracts/eviction/eviction.ts';
import { isObstacleId, parallelismLimits } from '../../contracts/eviction/annotations.ts';
import type { LifecycleState } from '../../contracts/hypervisor/conditions.ts';
import { lifecycleStates } from '../../contracts/hypervisor/conditions.ts';
import type { HypervisorConsent } from '../../contracts/hypervisor/hypervisor.ts';
import { hypervisorConsents } from '../../contracts/hypervisor/hypervisor.ts';
import type { VirtualMachineState } from '../../contracts/virtual-machine/conditions.ts';
import { virtualMachineStates } from '../../contracts/virtual-machine/conditions.ts';
import type { MaintainMode } from '../hypervisor/hypervisor-objects.ts';
import { maintainModes } from '../hypervisor/hypervisor-objects.ts';
import { formatDuration, formatTime } from '../render/duration.ts';

/**
 * Parsers of command line arguments: each takes the text and returns the value, or throws commander's
 * InvalidArgumentError with a sentence that says what is allowed. All run before anything is started.
 */

/**
 * RFC 1123 subdomain: what names a Kubernetes object, and so a Hypervisor. Nova's names may also have capitals and `_`.
 */
const hostPattern = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/;

export function parseHost(text: string): string {
  if (!hostPattern.test(text))
    throw new InvalidArgumentError('A host name has letters, digits, ".", "-" and "_", at most 253.');
  return text;
}

export function parseReason(text: string): string {
  const reason = text.trim();
  if (reason === '') throw new InvalidArgumentError('Say why, for the users who will ask.');
  if (reason.length > 1024) throw new InvalidArgumentError('At most 1024 characters.');
  return reason;
}

/** Name or id of a server. Nova allows anything in a name, up to 255 characters. */
export function parseInstance(text: string): string {
  if (text.trim() === '' || text.length > 255)
    throw new InvalidArgumentError('The name or the id of a server, at most 255 characters.');
  return text;
}

/** An id as drover printed it. */
export function parseId(text: string): string {
  const id = text.trim();
  if (id === '' || id.length > 300) throw new InvalidArgumentError('An id as `drover describe` shows it.');
  return id;
}

export const parseCause = (text: string): EvictionCause => oneOf(text, evictionCauses);

export function parseParallelism(text: string): number {
  const { min, max } = parallelismLimits;
  const parallelism = Number(text);
  if (!/^\d+$/.test(text) || parallelism < min || parallelism > max)
    throw new InvalidArgumentError(`A whole number from ${String(min)} to ${String(max)}.`);
  return parallelism;
}

const durationPattern = /^(?:(\d{1,3})d)?(?:(\d{1,4})h)?(?:(\d{1,5})m)?$/;
const yearMs = 366 * 24 * 3_600_000;

/**
 * A point in time that lies ahead: RFC 3339, or a duration from now such as `90m`, `4h` or `1d12h`. Returns
 * RFC 3339 in UTC.
 */
export function parseDeadline(text: string, nowMs: number): string {
  const atMs = deadlineMs(text, nowMs);
  if (Number.isNaN(atMs))
    throw new InvalidArgumentError('An RFC 3339 time (2026-01-31T12:00:00Z) or a duration (90m, 4h, 1d12h).');
  if (atMs <= nowMs)
    throw new InvalidArgumentError(`That was ${formatDuration(nowMs - atMs)} ago; a deadline lies ahead.`);
  if (atMs > nowMs + yearMs) throw new InvalidArgumentError('That is more than a year ahead.');
  return formatTime(atMs);
}

function deadlineMs(text: string, nowMs: number): number {
  const duration = durationPattern.exec(text);
  if (duration !== null && text !== '') {
    const [days = 0, hours = 0, minutes = 0] = duration.slice(1).map((part) => Number(part ?? 0));
    return nowMs + ((days * 24 + hours) * 60 + minutes) * 60_000;
  }
  // Without a zone a time would mean another one on the next machine.
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
}

/** Of a deadline that was given as a time from now: how long that is; null: it was not. */
export const parseFromNow = (text: string): number | null => (durationPattern.test(text) ? deadlineMs(text, 0) : null);

/** A duration such as `90m`, `4h` or `1d12h`. Returns milliseconds. */
export function parseTimeout(text: string): number {
  const durationMs = deadlineMs(text, 0);
  if (!durationPattern.test(text) || Number.isNaN(durationMs) || durationMs <= 0)
    throw new InvalidArgumentError('A duration (90m, 4h, 1d12h).');
  return durationMs;
}

/** Comma lists and repeated options alike: `--consent a,b` is `--consent a --consent b`. */
export function collectConsents(text: string, previous: Consent[] | undefined): Consent[] {
  const given = splitList(text).map((name) => oneOf(name, consents));
  return unique([...(previous ?? []), ...given]);
}

export function collectHypervisorConsents(
  text: string,
  previous: HypervisorConsent[] | undefined,
): HypervisorConsent[] {
  const given = splitList(text).map((name) => oneOf(name, hypervisorConsents));
  return unique([...(previous ?? []), ...given]);
}

/** States of hosts, whatever their capitals. */
export function collectStates(text: string, previous: LifecycleState[] | undefined): LifecycleState[] {
  return unique([
    ...(previous ?? []),
    ...splitList(text).map((name) => oneOf(withCapitalsOf(lifecycleStates, name), lifecycleStates)),
  ]);
}

/** States of virtual machines, whatever their capitals. */
export function collectVirtualMachineStates(
  text: string,
  previous: VirtualMachineState[] | undefined,
): VirtualMachineState[] {
  return unique([
    ...(previous ?? []),
    ...splitList(text).map((name) => oneOf(withCapitalsOf(virtualMachineStates, name), virtualMachineStates)),
  ]);
}

const withCapitalsOf = (known: readonly string[], name: string): string =>
  known.find((one) => one.toLowerCase() === name.toLowerCase()) ?? name;

/** A maintenance that a host comes back from. */
export function parseMaintainMode(text: string): MaintainMode {
  if (text === 'termination')
    throw new InvalidArgumentError('Taking a host out of Nova for good is `drover decommission`.');
  return oneOf(text, maintainModes);
}

function oneOf<Value extends string>(text: string, known: readonly Value[]): Value {
  const value = known.find((one) => one === text);
  if (value === undefined) throw new InvalidArgumentError(`One of: ${known.join(', ')}.`);
  return value;
}

/** Ids of obstacles: a code, or `code/server id`. */
export function collectObstacles(text: string, previous: string[] | undefined): string[] {
  const given = splitList(text);
  const wrong = given.find((id) => !isObstacleId(id));
  if (wrong !== undefined)
    throw new InvalidArgumentError(
      `"${wrong.slice(0, 80)}" is not the id of an obstacle, such as LocalDisk or LocalDisk/<server id>.`,
    );
  return unique([...(previous ?? []), ...given]);
}

/** The items of a comma list. */
export const splitList = (text: string): string[] => {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  if (items.length === 0) throw new InvalidArgumentError('The list is empty.');
  return items;
};

const unique = <Item>(items: Item[]): Item[] => [...new Set(items)];
