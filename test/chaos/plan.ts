import type { Random } from '../faults/random.ts';
import { openRandom } from '../faults/random.ts';

/** What breaks. */
export type Strike = { atMs: number; forMs: number } & (
  | { target: 'bridge' | 'worker' | 'temporal' | 'kube-apiserver'; how: 'kill' | 'freeze' }
  /** `apart`: nobody reaches it; `failing`: a third of the requests are answered 503; `deaf`: a third take effect and are not answered. */
  | { target: 'nova'; how: 'apart' | 'failing' | 'deaf' }
);

/** What people do. Which eviction it meets depends on which are under way. */
export interface Deed {
  atMs: number;
  what: 'evict' | 'cancel' | 'terminate' | 'delete' | 'pause' | 'retry';
  /** Chooses among the hosts: 0 to 1. */
  lot: number;
}

export interface ChaosPlan {
  strikes: Strike[];
  deeds: Deed[];
}

const processes = ['bridge', 'worker', 'temporal', 'kube-apiserver'] as const;
const targets = [...processes, 'nova'] as const;

/** Evictions are most of what people ask for; the rest meets them under way. */
const deeds = ['evict', 'evict', 'evict', 'evict', 'evict', 'evict', 'cancel', 'terminate', 'delete', 'pause', 'retry'] as const;

/** Strikes one after the other with time to work between them, now and then two at once; deeds all the time. The seed decides everything. */
export function planChaos(seed: number, durationMs: number): ChaosPlan {
  const random = openRandom(seed);
  return { strikes: planStrikes(random, durationMs), deeds: planDeeds(random, durationMs) };
}

function planStrikes(random: Random, durationMs: number): Strike[] {
  const strikes: Strike[] = [];
  for (let atMs = random.between(3_000, 8_000); atMs < durationMs; ) {
    const first = random.pick(targets);
    const struck = random.next() < 0.25 ? [first, random.pick(targets.filter((target) => target !== first) as [(typeof targets)[number]])] : [first];
    const forMs = random.between(500, 6_000);
    for (const target of struck) {
      strikes.push(target === 'nova' ? { atMs, forMs, target, how: random.pick(['apart', 'failing', 'deaf']) } : { atMs, forMs, target, how: random.pick(['kill', 'freeze']) });
    }
    atMs += forMs + random.between(4_000, 12_000);
  }
  return strikes;
}

function planDeeds(random: Random, durationMs: number): Deed[] {
  const planned: Deed[] = [];
  for (let atMs = 0; atMs < durationMs; atMs += random.between(1_500, 5_000)) planned.push({ atMs, what: random.pick(deeds), lot: random.next() });
  return planned;
}
