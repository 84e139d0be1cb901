import { findCondition } from '../../contracts/conditions.ts';
import type { VirtualMachineStatus } from '../../contracts/crds/virtual-machine.ts';
import type { VirtualMachineStatusPatch } from '../../contracts/virtual-machine/mutations.ts';
import { quantityOf } from '../../contracts/quantity.ts';
import { mergeVolumes } from '../../contracts/virtual-machine/volumes.ts';

/** Less than that is not worth a write: what a guest writes to its disks changes with every observation. */
const noiseBytes = 64 * 1024 ** 2;
const noiseShare = 0.01;

/**
 * Leaves only what the status does not contain yet. Null: nothing. Noise alone is not written, but goes along
 * with what is.
 */
export function diffStatus(
  recorded: VirtualMachineStatus,
  { fields, conditions, removed, goneVolumes = [] }: VirtualMachineStatusPatch,
): VirtualMachineStatusPatch | null {
  const current = recorded as Record<string, unknown>;
  /** As it comes to be. */
  const afterwards = (field: string, value: unknown): unknown =>
    field === 'volumes' && fields.volumes ? mergeVolumes(recorded.volumes, fields.volumes, goneVolumes) : value;
  const changed = Object.entries(fields).filter(([field, value]) => !isSame(current[field], afterwards(field, value)));
  const worth = changed.filter(([field, value]) => !isNoise(field, current[field], afterwards(field, value)));
  const updates = conditions.filter((update) => {
    const before = findCondition(recorded.conditions, update.type);
    return (
      before?.status !== update.status ||
      before.reason !== update.reason ||
      before.message !== update.message ||
      before.observedGeneration !== update.observedGeneration
    );
  });
  const gone = removed.filter((type) => findCondition(recorded.conditions, type) !== undefined);
  if (worth.length + updates.length + gone.length === 0) return null;
  return {
    fields: Object.fromEntries(changed),
    conditions: updates,
    removed: gone,
    ...(goneVolumes.length > 0 && { goneVolumes }),
  };
}

/** Null and a field that is not there are the same. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(inOrder(one)) === JSON.stringify(inOrder(other));
}

/** Without what is not there, keys in order, and lifetimes of leases left out: they only count down. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, field]) => field !== undefined && field !== null && key !== 'lifetime')
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, inOrder(field)]),
  );
}

/** Storage that is used, and nothing else, as good as it was. */
function isNoise(field: string, before: unknown, after: unknown): boolean {
  if (field !== 'storage' && field !== 'volumes') return false;
  return isNear(before, after);
}

function isNear(before: unknown, after: unknown): boolean {
  if (isQuantity(before) && isQuantity(after)) {
    const [was, is] = [quantityOf(before), quantityOf(after)];
    return was === is || (was !== null && is !== null && Math.abs(was - is) < Math.max(noiseBytes, was * noiseShare));
  }
  if (Array.isArray(before) && Array.isArray(after))
    return before.length === after.length && before.every((item, index) => isNear(item, after[index]));
  if (typeof before === 'object' && typeof after === 'object' && before !== null && after !== null) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    const [was, is] = [before as Record<string, unknown>, after as Record<string, unknown>];
    // Only what is used is noisy: a size that was asked for is not.
    return [...keys].every((key) => (noisyKeys.has(key) ? isNear(was[key], is[key]) : isSame(was[key], is[key])));
  }
  return isSame(before, after);
}

const noisyKeys = new Set(['usage', 'used', 'disks', 'other', 'total', 'snapshots', 'vm', 'volume']);
const isQuantity = (value: unknown): value is string | number =>
  typeof value === 'number' || (typeof value === 'string' && quantityOf(value) !== null);
