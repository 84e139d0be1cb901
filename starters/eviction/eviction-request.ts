import type { Consent, EvictionCause, EvictionInput } from '../../contracts/eviction/eviction.ts';
import type { AskedByAnnotations } from '../../contracts/eviction/annotations.ts';
import { consentBy, readEvictionAnnotations } from '../../contracts/eviction/annotations.ts';
import { annotations } from '../../contracts/ids.ts';
import { CommandError, tableError } from '../command/error.ts';
import type { EvictionObject } from './eviction-objects.ts';
import { exitCodes } from '../command/exit-codes.ts';
import type { EvictionManifest } from '../command/kubernetes-access.ts';
import { unknownHost } from '../hypervisor/hypervisor-objects.ts';

/** What `drover evict` was asked for. */
export interface EvictionRequest {
  host: string;
  reason: string;
  cause?: EvictionCause;
  /** RFC 3339. */
  deadline?: string;
  /** Where it was given as a time from now. */
  deadlineFromNowMs?: number;
  parallelism?: number;
  reEnable?: boolean;
  accept?: string[];
  consent?: Consent[];
  observe?: boolean;
  by: string;
}

export type EvictionPlan =
  | { do: 'create'; name: string }
  /** The very same was asked before: a lost answer, or a second thought. */
  | { do: 'join'; eviction: EvictionObject };

/**
 * Decides what becomes of a request, before anything is started.
 *
 * @param hypervisors names of all Hypervisors; null where they cannot be listed
 * @param objects every Eviction
 * @throws CommandError: no such host, a cause that drover does not serve, or another Eviction in the way
 */
export function planEviction(
  request: EvictionRequest,
  hypervisors: readonly string[] | null,
  objects: readonly EvictionObject[],
  nowMs: number,
): EvictionPlan {
  const { host } = request;
  if (request.cause === 'node-failure') throw tableError('CauseNotSupported', `${host} is said to have failed.`);
  // Where no Hypervisor is registered at all, Nova alone knows the hosts, and the preflight asks it.
  if (hypervisors !== null && hypervisors.length > 0 && !hypervisors.includes(host))
    throw unknownHost(host, hypervisors, 'Nothing was started.');
  const [first] = objects
    .filter((object) => object.host === host && !object.reconciled)
    .sort((a, b) => a.createdAt.localeCompare(b.createdAt));
  if (first === undefined) return { do: 'create', name: freeName(host, objects, nowMs) };
  const differences = findDifferences(request, first);
  if (differences.length === 0 && !first.deleting) return { do: 'join', eviction: first };
  throw inTheWay(host, first, differences);
}

function inTheWay(host: string, { name, reason, deleting }: EvictionObject, differences: string[]): CommandError {
  const message = deleting
    ? `Eviction ${name} of ${host} is being deleted; it ends first.`
    : `Eviction ${name} already asks for ${host} to be emptied (${reason}), with another ${differences.join(', ')}.`;
  const advice = `Nothing was started. \`drover watch ${host}\` follows it, \`drover parallelism\` and \`drover accept\` change it, \`drover cancel ${host}\` stops it.`;
  return new CommandError(message, exitCodes.refused, advice);
}

/** The host's name; where an earlier Eviction has it, with the time. */
function freeName(host: string, objects: readonly EvictionObject[], nowMs: number): string {
  const name = host.toLowerCase().replaceAll('_', '-');
  if (!objects.some((object) => object.name === name)) return name;
  const time = new Date(nowMs)
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replaceAll(/[-:T]/g, '');
  return `${name}-${time}`;
}

/** What of the request the Eviction asks otherwise. */
function findDifferences(request: EvictionRequest, there: EvictionObject): string[] {
  const asked = readEvictionAnnotations(evictionAnnotations(request, there.createdAt)).asked;
  const present = readEvictionAnnotations(there.annotations).asked;
  const compared = [
    'cause',
    'deadline',
    'reEnable',
    'parallelism',
    'acceptedObstacles',
    'consent',
    'mode',
  ] as const satisfies (keyof AskedByAnnotations)[];
  const isSameFromNow = isSameTimeFromNow(request, present.deadline, there.createdAt);
  const differing = compared
    .filter((field) => !(field === 'deadline' && isSameFromNow))
    .filter((field) => JSON.stringify(asked[field]) !== JSON.stringify(present[field]));
  return [...(request.reason === there.reason ? [] : ['reason']), ...differing];
}

/** Two clocks differ, and the time to make it passes; durations are of whole minutes. */
const fromNowToleranceMs = 30_000;

/** `4h` that is said again later means the `4h` from when it was said first. */
const isSameTimeFromNow = (
  { deadlineFromNowMs }: EvictionRequest,
  deadline: string | null,
  createdAt: string,
): boolean =>
  deadlineFromNowMs !== undefined &&
  deadline !== null &&
  Math.abs(Date.parse(deadline) - Date.parse(createdAt) - deadlineFromNowMs) < fromNowToleranceMs;

/** The Eviction that asks for it. */
export const evictionManifest = (request: EvictionRequest, name: string, at: string): EvictionManifest => ({
  metadata: { name, annotations: evictionAnnotations(request, at) },
  spec: { hypervisor: request.host, reason: request.reason },
});

/** @param at RFC 3339: when it was asked, and consented to */
function evictionAnnotations(
  { cause, deadline, parallelism, reEnable, accept = [], consent = [], observe = false, by }: EvictionRequest,
  at: string,
): Record<string, string> {
  const given: Record<string, string | undefined> = {
    [annotations.cause]: cause,
    [annotations.deadline]: deadline,
    [annotations.parallelism]: parallelism?.toString(),
    [annotations.reEnable]: reEnable?.toString(),
    [annotations.acceptObstacles]: accept.length === 0 ? undefined : accept.join(','),
    [annotations.consent]: consent.length === 0 ? undefined : consent.join(','),
    [annotations.consentBy]: accept.length + consent.length === 0 ? undefined : consentBy(by, new Date(at)),
    [annotations.mode]: observe ? 'observe' : undefined,
    [annotations.startedBy]: by,
  };
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/**
 * The same request as the input of a run, for those who reach Temporal but not Kubernetes: the run makes the Eviction.
 */
export const evictionInput = ({
  host,
  reason,
  cause,
  deadline,
  parallelism,
  reEnable,
  accept = [],
  consent = [],
  observe = false,
  by,
}: EvictionRequest): EvictionInput => ({
  hypervisor: host,
  reason,
  startedBy: by,
  ...(cause !== undefined && { cause }),
  ...(deadline !== undefined && { deadline }),
  ...(parallelism !== undefined && { parallelism }),
  ...(reEnable !== undefined && { reEnable }),
  ...(accept.length > 0 && { acceptObstacles: accept }),
  ...(consent.length > 0 && { consent }),
  ...(observe && { mode: 'observe' as const }),
});
