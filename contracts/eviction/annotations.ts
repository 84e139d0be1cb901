import type { Consent, EvictionCause } from './eviction.ts';
import { consents, evictionCauses, obstacleCodes } from './eviction.ts';
import { annotations, evictionFinalizer } from '../ids.ts';

/** Written by drover: the value of `drover.dev/retry` that a run has taken up. */
export const retryHandledAnnotation = 'drover.dev/retry-handled';

/** Written by drover: the boot id of the host's Node when the eviction began. */
export const bootIdAnnotation = 'drover.dev/boot-id';

/** Written by drover: the run that serves the Eviction, or served it last. */
export const runIdAnnotation = 'drover.dev/run-id';

export const parallelismLimits = { min: 1, max: 64 } as const;

/** What the annotations of an Eviction ask for. */
export interface AskedByAnnotations {
  cause: EvictionCause;
  deadline: string | null;
  reEnable: boolean | null;
  parallelism: number | null;
  acceptedObstacles: string[];
  consent: Consent[];
  mode: 'observe' | 'act';
  startedBy: string | null;
}

/**
 * Whether drover speaks of an Eviction in the condition `Observed` alone. One that it holds was begun in earnest, even
 * if it is only to be observed by now: its conditions are drover's to end.
 *
 * @param mode of the settings
 */
export function onlyObserves(
  {
    annotations: given,
    finalizers = [],
  }: { annotations?: Readonly<Record<string, string>> | undefined; finalizers?: readonly string[] | undefined },
  mode: string,
): boolean {
  if (finalizers.includes(evictionFinalizer)) return false;
  return mode === 'observe' || readEvictionAnnotations(given).asked.mode === 'observe';
}

type Parsed<Value> = { value: Value } | { problem: string };

/**
 * Reads the annotations of an Eviction. Each problem is a sentence that begins with its annotation; what has a problem
 * is read as if it were not there, so that a deleted object can be let go whatever it says.
 */
export function readEvictionAnnotations(given: Readonly<Record<string, string>> = {}): {
  asked: AskedByAnnotations;
  problems: string[];
} {
  const problems: string[] = [];
  const read = <Value>(key: string, parse: (text: string) => Parsed<Value>): Value | null => {
    const text = given[key]?.trim() ?? '';
    if (text === '') return null;
    const parsed = parse(text);
    if ('value' in parsed) return parsed.value;
    problems.push(`${key}: ${parsed.problem}`);
    return null;
  };
  const asked: AskedByAnnotations = {
    cause: read(annotations.cause, oneOf(evictionCauses)) ?? 'admin',
    deadline: read(annotations.deadline, parseTime),
    reEnable: read(annotations.reEnable, parseBoolean),
    parallelism: read(annotations.parallelism, parseParallelism),
    acceptedObstacles: read(annotations.acceptObstacles, listOf(parseObstacle)) ?? [],
    consent: read(annotations.consent, listOf(oneOf(consents))) ?? [],
    mode: read(annotations.mode, oneOf(['observe', 'act'] as const)) ?? 'act',
    startedBy: given[annotations.startedBy] ?? null,
  };
  // Consent without a name and a time is no consent.
  if (asked.acceptedObstacles.length + asked.consent.length > 0 && !isConsentBy(given[annotations.consentBy] ?? '')) {
    problems.push(`${annotations.consentBy}: must say who consents, and when, as in \`jane 2026-01-31T12:00:00Z\``);
    asked.acceptedObstacles = [];
    asked.consent = [];
  }
  return { asked, problems };
}

/**
 * What the node agent writes as the reason of the Eviction that it makes as its host is about to reboot, with nothing
 * but that.
 */
export const agentReason = 'kvm-node-agent: emergency evacuation due to host reboot';

/**
 * What an Eviction asks for. The node agent's emergency Eviction has no cause: its host goes whether it is empty or
 * not, so that it is read as `termination`. It is known by all that it has: the host's name, no annotation of a cause,
 * and exactly the agent's sentence.
 */
export function readAsked({
  metadata,
  spec,
}: {
  metadata: { name: string; annotations?: Readonly<Record<string, string>> | undefined };
  spec: { hypervisor: string; reason: string };
}): ReturnType<typeof readEvictionAnnotations> {
  const { asked, problems } = readEvictionAnnotations(metadata.annotations);
  const isAgents =
    metadata.annotations?.[annotations.cause] === undefined &&
    metadata.name === spec.hypervisor &&
    spec.reason === agentReason;
  return { asked: isAgents ? { ...asked, cause: 'termination' } : asked, problems };
}

/** The text of `drover.dev/consent-by`. */
export const consentBy = (name: string, at: Date): string => `${name} ${at.toISOString()}`;

/** Whether `text` says who consents, and when. */
export function isConsentBy(text: string): boolean {
  const words = text.trim().split(/\s+/u);
  return words.length >= 2 && isTime(words.at(-1) ?? '');
}

/** RFC 3339 with seconds and a zone. */
export const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/u.test(text) && !Number.isNaN(Date.parse(text));

const parseTime = (text: string): Parsed<string> =>
  isTime(text) ? { value: text } : { problem: `\`${text}\` is no RFC 3339 time, such as 2026-01-31T12:00:00Z` };

function parseBoolean(text: string): Parsed<boolean> {
  return text === 'true' || text === 'false'
    ? { value: text === 'true' }
    : { problem: `\`${text}\` is neither true nor false` };
}

function parseParallelism(text: string): Parsed<number> {
  const { min, max } = parallelismLimits;
  const value = /^\d+$/u.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? { value } : { problem: `\`${text}\` is no whole number from ${min} to ${max}` };
}

/** Whether `text` can be the id of an obstacle: its code, or `code/instance id`. */
export function isObstacleId(text: string): boolean {
  const [code, instanceId, ...rest] = text.split('/');
  return obstacleCodes.some((known) => known === code) && instanceId !== '' && rest.length === 0;
}

const parseObstacle = (text: string): Parsed<string> =>
  isObstacleId(text)
    ? { value: text }
    : {
        problem: `\`${text}\` is no obstacle; an id is one of ${obstacleCodes.join(', ')}, or that, a slash and an instance id`,
      };

const oneOf =
  <Value extends string>(known: readonly Value[]) =>
  (text: string): Parsed<Value> => {
    const value = known.find((one) => one === text);
    return value === undefined ? { problem: `\`${text}\` is unknown; known are ${known.join(', ')}` } : { value };
  };

/** A comma list; the first thing wrong in it is the problem. */
const listOf =
  <Value>(parse: (text: string) => Parsed<Value>) =>
  (text: string): Parsed<Value[]> => {
    const value: Value[] = [];
    for (const item of text.split(',').map((part) => part.trim())) {
      if (item === '') continue;
      const parsed = parse(item);
      if ('problem' in parsed) return parsed;
      value.push(parsed.value);
    }
    return { value };
  };
