import { z } from 'zod';

import { type Kind, kinds } from '../contracts/kinds/table.ts';
import type { Clock } from './clock.ts';
import { droverFailure } from './failure.ts';
import { isFailure } from './kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from './kubernetes/kubernetes.ts';
import { openObjects } from './kubernetes/objects.ts';

/**
 * `drover stop`: a user stops everything, a kind, a cluster or a region. It is kept in a ConfigMap, so that it outlives
 * every process, and is read before each mutation (docs/rules.md#a-users-stop).
 */
export const stopConfigMap = 'drover-stop';

/** What is stopped. `name` is empty for `all`. */
export interface StopScope {
  of: 'all' | 'kind' | 'cluster' | 'region';
  name: string;
}

export interface Stop extends StopScope {
  /** Who stopped it, as the command line knew them. */
  by: string;
  reason: string;
  /** RFC 3339. */
  at: string;
}

/** Where something is about to be changed. */
export interface StopPlace {
  kind: Kind;
  /** Empty where the settings name none. */
  cluster: string;
  /** Null: it is in none of Nova's. */
  region: string | null;
}

/** Asked before each mutation. @throws Stopped; KubernetesUnavailable when that cannot be read */
export type StopGate = (signal: AbortSignal) => Promise<void>;

const noteSchema = z.object({ by: z.string(), reason: z.string(), at: z.string() });
const configMaps = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  schema: z.object({ data: z.record(z.string(), z.string()).optional() }),
};

const maxAgeMs = 1_000;

/** The stops in force. */
export async function readStops(kubernetes: Kubernetes, namespace: string, signal: AbortSignal): Promise<Stop[]> {
  const found = await openObjects(kubernetes).get(configMaps, { namespace, name: stopConfigMap }, signal);
  return Object.entries(found?.data ?? {}).flatMap(([key, text]) => parseStop(key, text) ?? []);
}

/** The widest stop that holds at a place; undefined: none does. */
export function findStop(stops: readonly Stop[], place: StopPlace): Stop | undefined {
  const holds = ({ of, name }: Stop): boolean => of === 'all' || place[of] === name;
  const order: StopScope['of'][] = ['all', 'cluster', 'region', 'kind'];
  return stops.filter(holds).sort((a, b) => order.indexOf(a.of) - order.indexOf(b.of))[0];
}

/** As users read it: `everything by jane since …: reason`. */
export const describeStop = ({ of, name, by, reason, at }: Stop): string =>
  `${of === 'all' ? 'Everything' : `${of} ${name}`} was stopped by ${by} at ${at}${reason === '' ? '' : `: ${reason}`}`;

/** Stops, or says anew who stopped and why. @throws InvalidInput for a name that is none */
export async function setStop(
  kubernetes: Kubernetes,
  namespace: string,
  { by, reason, at, ...scope }: Stop,
  signal: AbortSignal,
): Promise<void> {
  const data = { [stopKey(scope)]: JSON.stringify({ by, reason, at }) };
  if (await patch(kubernetes, namespace, data, signal)) return;
  const object = { metadata: { namespace, name: stopConfigMap }, data };
  const made = await openObjects(kubernetes).create(configMaps, object, signal);
  // Another user stopped something at the same moment.
  if (made === null) await patch(kubernetes, namespace, data, signal);
}

/**
 * Lifts the stop of that scope, or all of them, those of kinds that this drover does not know too. Returns what was
 * lifted.
 *
 * @throws InvalidInput for a name that is none
 */
export async function liftStops(
  kubernetes: Kubernetes,
  namespace: string,
  scope: StopScope | 'every',
  signal: AbortSignal,
): Promise<Stop[]> {
  const asked = scope === 'every' ? null : stopKey(scope);
  const stops = await readStops(kubernetes, namespace, signal);
  const lifted = stops.filter((stop) => asked === null || keyOf(stop) === asked);
  if (lifted.length > 0)
    await patch(kubernetes, namespace, Object.fromEntries(lifted.map((stop) => [keyOf(stop), null])), signal);
  return lifted;
}

/**
 * One answer serves all callers within a second; a failure serves those only that wait for it. When kube-apiserver
 * cannot say that nothing is stopped, nothing is changed.
 */
export function createStopGate(
  kubernetes: Kubernetes,
  namespace: string,
  place: StopPlace,
  clock: Pick<Clock, 'monotonicMs'>,
): StopGate {
  let kept: { askedMs: number; answer: Promise<Stop[]> } | null = null;
  return async (signal) => {
    if (kept === null || clock.monotonicMs() - kept.askedMs >= maxAgeMs) {
      // Not the caller's signal: others wait for the same answer. The request has a time-out of its own.
      const asked = {
        askedMs: clock.monotonicMs(),
        answer: readStops(kubernetes, namespace, new AbortController().signal),
      };
      kept = asked;
      asked.answer.catch(() => {
        if (kept === asked) kept = null;
      });
    }
    const stop = findStop(await kept.answer, place);
    signal.throwIfAborted();
    if (stop !== undefined) throw droverFailure('Stopped', describeStop(stop));
  };
}

/** False when there is no such ConfigMap. */
async function patch(
  kubernetes: Kubernetes,
  namespace: string,
  data: Record<string, string | null>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await openObjects(kubernetes).patch(configMaps, { namespace, name: stopConfigMap }, { data }, signal);
    return true;
  } catch (error) {
    if (isFailure(error, 'ObjectNotFound')) return false;
    throw error;
  }
}

/** Key in the ConfigMap: `all`, `kind.Eviction`, `cluster.<name>`, `region.<name>`. */
const keyOf = ({ of, name }: StopScope): string => (of === 'all' ? 'all' : `${of}.${name}`);

/** The key of what a user has typed. @throws InvalidInput for a name that is none */
export function stopKey(scope: StopScope): string {
  const { of, name } = scope;
  const key = keyOf(scope);
  if (of === 'all') return key;
  if (of === 'kind' && !kinds.some((kind) => kind === name))
    throw droverFailure('InvalidInput', `drover drives no kind ${name}; it drives ${kinds.join(', ')}`);
  if (!/^[-._a-zA-Z0-9]{1,253}$/u.test(key) || name === '')
    throw droverFailure('InvalidInput', `\`${name}\` is no name of a ${of}`);
  return key;
}

/** Keys that mean nothing to drover are left alone; a note that cannot be read stops all the same. */
function parseStop(key: string, text: string): Stop | null {
  const [of = '', ...rest] = key.split('.');
  const name = rest.join('.');
  if (of !== 'all' && of !== 'kind' && of !== 'cluster' && of !== 'region') return null;
  if ((of === 'all') !== (name === '')) return null;
  return { of, name, ...readNote(text) };
}

function readNote(text: string): z.output<typeof noteSchema> {
  try {
    return noteSchema.parse(JSON.parse(text));
  } catch {
    return { by: 'unknown', reason: text, at: 'an unknown time' };
  }
}
