import { createHash } from 'node:crypto';

/**
 * What runs know of thousands of VMs, in 2 KiB that can go along with every heartbeat: each VM belongs to one of some
 * hundred sums, and a sum is made of all its VMs and their states. After a gap, those of a sum that has changed may
 * have changed, and no others. Sums need no clock, and no order.
 */
export interface Sums {
  /** The state of a VM; null: it is not known. Replaces the one before. */
  set(vmId: string, digest: string | null): void;
  /** As text, for the heartbeat and the result of a round. */
  toText(): string;
}

const count = 512;
const bytesEach = 4;

export function openSums(): Sums {
  const sums = new Uint32Array(count);
  const known = new Map<string, string>();
  const toggle = (vmId: string, digest: string): void => {
    const at = indexOf(vmId);
    sums[at] = (sums[at] ?? 0) ^ hashOf(`${vmId} ${digest}`);
  };
  return {
    set: (vmId, digest) => {
      const before = known.get(vmId);
      if (before === (digest ?? undefined)) return;
      if (before !== undefined) toggle(vmId, before);
      known.delete(vmId);
      if (digest === null) return;
      known.set(vmId, digest);
      toggle(vmId, digest);
    },
    toText: () => {
      const bytes = Buffer.alloc(count * bytesEach);
      sums.forEach((sum, index) => bytes.writeUInt32LE(sum, index * bytesEach));
      return bytes.toString('base64');
    },
  };
}

/**
 * Which VMs may have changed since. Pure.
 *
 * @param memory null, or what cannot be read: all of them
 */
export function changedSince(memory: string | null, now: string): { mayHaveChanged: (vmId: string) => boolean } {
  const before = Buffer.from(memory ?? '', 'base64');
  const after = Buffer.from(now, 'base64');
  if (memory === null || before.length !== after.length) return { mayHaveChanged: () => true };
  const differs = (index: number): boolean =>
    before.readUInt32LE(index * bytesEach) !== after.readUInt32LE(index * bytesEach);
  return { mayHaveChanged: (vmId) => differs(indexOf(vmId)) };
}

const hashOf = (text: string): number => createHash('sha256').update(text).digest().readUInt32LE(0);
const indexOf = (vmId: string): number => hashOf(vmId) % count;
