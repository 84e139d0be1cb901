import type { ErrorCode } from '../../contracts/errors.ts';
import { droverFailure, failureCode } from '../../runtime/failure.ts';
import { mutate } from '../lib/mutate.ts';
import { wordsOf } from '../openstack/faults.ts';
import type { Tools } from './dependencies.ts';
import type { Aggregate } from './types.ts';

/** An aggregate that the host is in, as a Hypervisor's status shows it. */
export interface Membership {
  name: string;
  uuid: string;
  /** `availability_zone` among them. */
  metadata: Record<string, string>;
}

export interface MembershipChange {
  /** Names that no aggregate has; nothing is done about any while there are some. */
  missing: string[];
  add: Aggregate[];
  remove: Aggregate[];
}

/**
 * Brings a host into exactly the named aggregates. It is added before it is removed, so that no moment leaves it
 * without the filter that keeps guests off it, and nothing is removed unless all was added. A host that is to change
 * its availability zone is refused by Nova, which has a host in one zone only. Safe to repeat and to run twice at once.
 *
 * @param request.host the compute service's `host`
 * @returns what it is in then, in the order of the names
 * @throws AggregateNotFound all names that no aggregate has; AggregateRefused, HostNotFound, ProviderConflict, Stopped
 */
export async function ensureInAggregates(
  tools: Tools,
  { host, names }: { host: string; names: readonly string[] },
): Promise<Membership[]> {
  const { nova, scope } = tools;
  const change = compareMemberships(await nova.aggregates(scope.signal), host, names);
  if (change.missing.length > 0) throw notFound(change.missing);
  if (change.add.length > 0) await addToAggregates(tools, { host, aggregates: change.add });
  if (change.remove.length > 0) await removeFromAggregates(tools, { host, aggregates: change.remove });
  const known = await nova.aggregates(scope.signal);
  return [...new Set(names)].flatMap((name) =>
    known.filter((aggregate) => aggregate.name === name && aggregate.hosts.includes(host)).map(toMembership),
  );
}

/** Pure. Names of aggregates are unique in Nova. */
export function compareMemberships(
  known: readonly Aggregate[],
  host: string,
  names: readonly string[],
): MembershipChange {
  const isWanted = ({ name }: Aggregate): boolean => names.includes(name);
  return {
    missing: [...new Set(names)].filter((name) => !known.some((aggregate) => aggregate.name === name)),
    add: known.filter((aggregate) => isWanted(aggregate) && !aggregate.hosts.includes(host)),
    remove: known.filter((aggregate) => !isWanted(aggregate) && aggregate.hosts.includes(host)),
  };
}

const toMembership = ({ name, uuid, metadata }: Aggregate): Membership => ({ name, uuid, metadata });

interface AggregateName {
  /** Numeric id. */
  id: number;
  name: string;
}

export interface MembershipRequest {
  /** The compute service's `host`. */
  host: string;
  aggregates: readonly AggregateName[];
}

/**
 * Puts a host into aggregates. Safe to repeat and to run twice at once. What can be done is done before the failure of
 * the rest is thrown.
 *
 * @throws AggregateNotFound all that are not there are named
 * @throws AggregateRefused Nova's words say why; HostNotFound, ProviderConflict, Stopped
 * @see Compute API, "Add Host"
 */
export const addToAggregates = (tools: Tools, request: MembershipRequest): Promise<void> =>
  changeMemberships(tools, 'add', request);

/** Takes a host out of aggregates. As {@link addToAggregates}; one that is not there any more has no host. */
export const removeFromAggregates = (tools: Tools, request: MembershipRequest): Promise<void> =>
  changeMemberships(tools, 'remove', request);

type Kind = 'add' | 'remove';

interface Refused {
  aggregate: AggregateName;
  code: ErrorCode;
  error: unknown;
}

/** What may be wrong with one aggregate and not with the next. */
const aboutOne: readonly ErrorCode[] = ['AggregateNotFound', 'AggregateRefused', 'ProviderConflict'];

async function changeMemberships(tools: Tools, kind: Kind, { host, aggregates }: MembershipRequest): Promise<void> {
  const { nova, scope } = tools;
  const known = await nova.aggregates(scope.signal);
  const missing = aggregates.filter(({ id }) => !known.some((aggregate) => aggregate.id === id));
  if (kind === 'add' && missing.length > 0) throw notFound(missing.map(({ name }) => name));
  const refused: Refused[] = [];
  for (const aggregate of openOnes(kind, host, aggregates, known)) {
    try {
      await changeOne(tools, kind, host, aggregate);
    } catch (error) {
      const code = failureCode(error);
      if (code === null || !aboutOne.includes(code)) throw error;
      refused.push({ aggregate, code, error });
    }
  }
  if (refused.length > 0) await throwUnlessDone(tools, kind, host, refused);
}

/** Those in which the host is not as it should be. */
const openOnes = (
  kind: Kind,
  host: string,
  wanted: readonly AggregateName[],
  known: readonly Aggregate[],
): Aggregate[] =>
  known.filter(({ id, hosts }) => wanted.some((one) => one.id === id) && hosts.includes(host) === (kind === 'remove'));

async function changeOne(tools: Tools, kind: Kind, host: string, { id, name }: Aggregate): Promise<void> {
  const { nova, scope } = tools;
  const action = kind === 'add' ? 'addToAggregate' : 'removeFromAggregate';
  const mutation = {
    action,
    cause: 'the aggregates of its Hypervisor',
    object: `aggregate/${name}`,
    before: { [host]: kind === 'remove' },
    after: { [host]: kind === 'add' },
  };
  await mutate(tools, mutation, () => nova[action](id, host, scope.signal));
}

/** Another client may have done the same at the same time: then Nova's refusal is no failure. */
async function throwUnlessDone(
  { nova, scope }: Tools,
  kind: Kind,
  host: string,
  refused: readonly Refused[],
): Promise<void> {
  const known = await nova.aggregates(scope.signal);
  const left = refused.filter(
    ({ aggregate }) =>
      openOnes(kind, host, [aggregate], known).length > 0 ||
      (kind === 'add' && !known.some(({ id }) => id === aggregate.id)),
  );
  const [first, ...others] = left;
  if (first === undefined) return;
  if (others.length === 0) throw first.error;
  // What cannot mend itself decides.
  const { code } = left.find((one) => one.code !== 'ProviderConflict') ?? first;
  throw droverFailure(code, left.map(({ aggregate, error }) => `${aggregate.name}: ${wordsOf(error)}`).join('; '));
}

const notFound = (names: readonly string[]) =>
  droverFailure(
    'AggregateNotFound',
    `Nova has no ${names.length === 1 ? 'aggregate' : 'aggregates'} ${names.join(', ')}`,
  );
