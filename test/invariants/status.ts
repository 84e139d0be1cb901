import type { Condition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { retryHandledAnnotation } from '../../contracts/eviction/annotations.ts';
import { evictionConditions } from '../../contracts/eviction/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { annotations } from '../../contracts/ids.ts';
import { readRecordedPolicy } from '../../contracts/resource-policy/read-resource-policy.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import type { Check } from './objects.ts';
import { concerns, nameOf } from './objects.ts';
import type { DroverObject, Snapshot } from './snapshot.ts';

/** What objects say of themselves. */

const isConcerned = (world: Snapshot, object: DroverObject): boolean => {
  if (object.kind === 'Eviction') return concerns(world, object.spec.hypervisor);
  return object.kind !== 'Hypervisor' || concerns(world, object.metadata.name);
};

/** How an object says what has become of its spec. */
type Report = Pick<Condition, 'status' | 'reason' | 'message' | 'observedGeneration'>;

const headlines = {
  Eviction: { act: evictionConditions.evicting, observe: evictionConditions.observed },
  Hypervisor: { act: hypervisorConditions.lifecycle, observe: hypervisorConditions.observed },
  VirtualMachine: { act: virtualMachineConditions.lifecycle, observe: virtualMachineConditions.observed },
} as const;

/** What it says of its spec, and of which generation of it; null: nothing, or drover does not drive it. */
function reportOf(object: DroverObject, modes: Snapshot['modes']): Report | 'not driven' | null {
  if (object.kind === 'Migration') return 'not driven';
  const allowed = modes[object.kind];
  if (allowed === undefined) return 'not driven';
  if (object.kind === 'VirtualMachineSetResourcePolicy') {
    const { made, observed, waitsFor } = readRecordedPolicy(object);
    const generation = made ?? observed;
    // What it waits for is said without a generation.
    if (waitsFor !== null)
      return {
        status: 'Unknown',
        reason: 'Waits',
        message: waitsFor,
        observedGeneration: object.metadata.generation,
      };
    if (generation === null) return null;
    return { status: 'True', reason: 'Made', message: '', observedGeneration: generation };
  }
  const isObserved =
    allowed === 'observe' || !['act', undefined].includes(object.metadata.annotations?.[annotations.mode]);
  const { act, observe } = headlines[object.kind];
  const { conditions } = object.status ?? {};
  // One that was refused says so where one that acts would.
  return (isObserved ? findCondition(conditions, observe) : undefined) ?? findCondition(conditions, act) ?? null;
}

/** 17: every object is reconciled with its last generation, or its status says why not. */
export const generationsAreReported: Check = (world) => {
  if (!world.isQuiet) return [];
  return world.objects.flatMap((object) => {
    const report = reportOf(object, world.modes);
    if (report === 'not driven' || !isConcerned(world, object)) return [];
    const { generation } = object.metadata;
    if (report === null) return [`${nameOf(object)} says nothing of generation ${generation}`];
    const { status, reason, message, observedGeneration } = report;
    if (observedGeneration !== generation)
      return [`${nameOf(object)} is ${reason} of generation ${observedGeneration}, and has ${generation}`];
    const isExplained = reason !== '' && (status === 'True' || message !== '');
    return isExplained ? [] : [`${nameOf(object)} is ${reason} ${status}, and does not say why`];
  });
};

const ownConditions: Readonly<Record<string, readonly string[]>> = {
  Eviction: Object.values(evictionConditions),
  Hypervisor: Object.values(hypervisorConditions),
  VirtualMachine: Object.values(virtualMachineConditions),
};

/**
 * 18: a status never goes backwards: no condition speaks of an older generation than before or of an earlier time, its
 * time moves with its status only, a policy is not less made, and an Eviction that is over does not begin again for
 * nothing.
 */
export const statusOnlyAdvances: Check = (world) => {
  const found: string[] = [];
  for (const events of Map.groupBy(world.watchEvents, ({ object }) => object.metadata.uid).values()) {
    let before: DroverObject | null = null;
    let end: End | null = null;
    for (const { type, object } of events) {
      if (type === 'DELETED' || !isConcerned(world, object)) continue;
      const claim =
        before === null
          ? []
          : [...conditionsBack(before, object), ...madeBack(before, object), ...revoked(end, object)];
      found.push(
        ...claim.map((what) => `${nameOf(object)} at resourceVersion ${object.metadata.resourceVersion}: ${what}`),
      );
      before = object;
      end = endOf(object, end);
    }
  }
  return found;
};

const conditionsOf = (object: DroverObject): readonly Condition[] =>
  object.kind === 'Migration' || object.kind === 'VirtualMachineSetResourcePolicy'
    ? []
    : (object.status?.conditions ?? []);

function conditionsBack(before: DroverObject, object: DroverObject): string[] {
  return conditionsOf(before)
    .filter(({ type }) => ownConditions[object.kind]?.includes(type))
    .flatMap((was) => {
      const is = findCondition(conditionsOf(object), was.type);
      if (is === undefined) return [];
      const [wasMs, isMs] = [was, is].map(({ lastTransitionTime }) => Date.parse(lastTransitionTime)) as [
        number,
        number,
      ];
      return [
        ...((is.observedGeneration ?? 0) < (was.observedGeneration ?? 0)
          ? [`${is.type} speaks of generation ${is.observedGeneration} after ${was.observedGeneration}`]
          : []),
        ...(isMs < wasMs ? [`${is.type} changed at ${is.lastTransitionTime}, before ${was.lastTransitionTime}`] : []),
        ...(is.status === was.status && isMs !== wasMs
          ? [`${is.type} is still ${is.status}, and says that it changed at ${is.lastTransitionTime}`]
          : []),
      ];
    });
}

function madeBack(before: DroverObject, object: DroverObject): string[] {
  if (before.kind !== 'VirtualMachineSetResourcePolicy' || object.kind !== 'VirtualMachineSetResourcePolicy') return [];
  const [was, is] = [readRecordedPolicy(before).made, readRecordedPolicy(object).made];
  return was !== null && is !== null && is < was ? [`generation ${is} is made after ${was}`] : [];
}

/** That an Eviction has ended, and what users had requested when it first said so. */
interface End {
  reason: string;
  generation: number;
  requests: string;
}

function endOf(object: DroverObject, before: End | null): End | null {
  if (object.kind !== 'Eviction') return null;
  const { generation } = object.metadata;
  const evicting = findCondition(object.status?.conditions, evictionConditions.evicting);
  if (evicting?.status !== 'False' || evicting.observedGeneration !== generation) return null;
  return before !== null && before.generation === generation
    ? before
    : { reason: evicting.reason, generation, requests: requests(answered(object)) };
}

/**
 * The end of a generation stands, unless a user asks: by an annotation, by deleting it, or by a spec, which is
 * another generation.
 */
function revoked(end: End | null, object: DroverObject): string[] {
  if (end === null || object.kind !== 'Eviction' || object.metadata.deletionTimestamp !== undefined) return [];
  const evicting = findCondition(object.status?.conditions, evictionConditions.evicting);
  const stands = evicting === undefined || evicting.status === 'False' || object.metadata.generation !== end.generation;
  if (stands || requests(object) !== end.requests) return [];
  return [`it was over (${end.reason}), and is ${evicting.reason} again of the same generation`];
}

/** Without the request for a retry that no run has handled yet: one that comes while a run ends is still pending. */
function answered({ metadata }: Eviction): Pick<Eviction, 'metadata'> {
  const { [annotations.retry]: _, ...others } = metadata.annotations ?? {};
  const handled = others[retryHandledAnnotation];
  return {
    metadata: {
      ...metadata,
      annotations: { ...others, ...(handled !== undefined && { [annotations.retry]: handled }) },
    },
  };
}

/** The requests of users in annotations, in one order. */
const requests = ({ metadata }: Pick<DroverObject, 'metadata'>): string =>
  JSON.stringify(
    Object.entries(metadata.annotations ?? {})
      .filter(([name]) => name !== retryHandledAnnotation)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
