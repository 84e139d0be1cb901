import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { DroverObject, Snapshot, WatchEvent } from './snapshot.ts';

/** Objects of a snapshot by their kind. */

/**
 * One of docs/invariants.md: a sentence for each violation, with the object and the evidence; empty: it holds. Pure.
 */
export type Check = (world: Snapshot) => string[];

type ByKind = { [Object in DroverObject as Object['kind']]: Object };

const isOfKind = <Kind extends keyof ByKind>(object: DroverObject, kind: Kind): object is ByKind[Kind] =>
  object.kind === kind;

export const objectsOf = <Kind extends keyof ByKind>(
  { objects }: Pick<Snapshot, 'objects'>,
  kind: Kind,
): ByKind[Kind][] => objects.flatMap((object) => (isOfKind(object, kind) ? [object] : []));

/** The watch events of objects of the kind, in order. */
export const eventsOf = <Kind extends keyof ByKind>(
  { watchEvents }: Pick<Snapshot, 'watchEvents'>,
  kind: Kind,
): (Omit<WatchEvent, 'object'> & { object: ByKind[Kind] })[] =>
  watchEvents.flatMap(({ object, ...event }) => (isOfKind(object, kind) ? [{ ...event, object }] : []));

/** `Eviction node-1`, `VirtualMachine team/web`. */
export const nameOf = ({ kind, metadata: { namespace, name } }: DroverObject): string =>
  `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;

export const concerns = ({ hosts }: Pick<Snapshot, 'hosts'>, host: string): boolean =>
  hosts === null || hosts.includes(host);

export const evictionsOf = (world: Pick<Snapshot, 'objects' | 'hosts'>): Eviction[] =>
  objectsOf(world, 'Eviction').filter(({ spec }) => concerns(world, spec.hypervisor));
