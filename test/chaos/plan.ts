import type { Random } from '../faults/random.ts';
import { openRandom } from '../faults/random.ts';

/** What breaks. */
export type Strike = { atMs: number; forMs: number } & (
  | { target: 'bridge' | 'worker' | 'temporal' | 'kube-apiserver'; how: 'kill' | 'freeze' }
  /** `apart`: nobody reaches it; `failing`: a third of the requests are answered 503; `deaf`: a third take effect and are not answered. */
  | { target: 'nova'; how: 'apart' | 'failing' | 'deaf' }
  /** `failing`: requests are answered 503; `deaf`: they take effect and are not answered. */
  | { target: 'vcenter'; how: 'freeze' | 'failing' | 'deaf' }
);

/** What people do. Which eviction it meets depends on which are under way. */
export interface Deed {
  atMs: number;
  what: 'evict' | 'cancel' | 'terminate' | 'delete' | 'pause' | 'retry';
  /** Chooses among the hosts: 0 to 1. */
  lot: number;
}

/** What becomes of a hypervisor: its Node comes, it goes into maintenance and back, out of Nova and comes again, or its kubelet fails and works again; now and then somebody terminates its run. */
export interface Turn {
  atMs: number;
  /** Which of them, from 0 on. */
  hypervisor: number;
  what: 'onboard' | 'maintain' | 'activate' | 'decommission' | 'restore' | 'fail' | 'recover' | 'terminate';
}

/** What becomes of a virtual machine. `switchOff`: in vCenter, behind drover's back; a VM that is deleted is made anew. */
export interface VmTurn {
  atMs: number;
  /** Which of them, from 0 on. */
  vm: number;
  what: 'create' | 'power' | 'resize' | 'switchOff' | 'terminate' | 'delete';
}

export interface ChaosPlan {
  strikes: Strike[];
  deeds: Deed[];
  turns: Turn[];
  vmTurns: VmTurn[];
}

const processes = ['bridge', 'worker', 'temporal', 'kube-apiserver'] as const;
const targets = [...processes, 'nova', 'vcenter'] as const;

/** Evictions are most of what people ask for; the rest meets them under way. */
const deeds = [
  'evict',
  'evict',
  'evict',
  'evict',
  'evict',
  'evict',
  'cancel',
  'terminate',
  'delete',
  'pause',
  'retry',
] as const;

/** So many hypervisors have turns, and so many virtual machines. */
export const hypervisorCount = 2;
export const vmCount = 3;

/** Strikes one after the other with time to work between them, now and then two at once; deeds and turns all the time. The seed decides everything. */
export function planChaos(seed: number, durationMs: number): ChaosPlan {
  const random = openRandom(seed);
  return {
    strikes: planStrikes(random, durationMs),
    deeds: planDeeds(random, durationMs),
    turns: planTurns(random, durationMs),
    vmTurns: planVmTurns(random, durationMs),
  };
}

function planStrikes(random: Random, durationMs: number): Strike[] {
  const strikes: Strike[] = [];
  for (let atMs = random.between(3_000, 8_000); atMs < durationMs;) {
    const first = random.pick(targets);
    const struck =
      random.next() < 0.25
        ? [first, random.pick(targets.filter((target) => target !== first) as [(typeof targets)[number]])]
        : [first];
    const forMs = random.between(500, 6_000);
    for (const target of struck) {
      if (target === 'nova') strikes.push({ atMs, forMs, target, how: random.pick(['apart', 'failing', 'deaf']) });
      else if (target === 'vcenter')
        strikes.push({ atMs, forMs, target, how: random.pick(['freeze', 'failing', 'deaf']) });
      else strikes.push({ atMs, forMs, target, how: random.pick(['kill', 'freeze']) });
    }
    atMs += forMs + random.between(4_000, 12_000);
  }
  return strikes;
}

function planDeeds(random: Random, durationMs: number): Deed[] {
  const planned: Deed[] = [];
  for (let atMs = 0; atMs < durationMs; atMs += random.between(1_500, 5_000))
    planned.push({ atMs, what: random.pick(deeds), lot: random.next() });
  return planned;
}

/** How each way out of service ends. */
const wayBack = { maintain: 'activate', decommission: 'restore', fail: 'recover' } as const;

/** Each is onboarded first, and then leaves service and comes back for as long as there is time. */
function planTurns(random: Random, durationMs: number): Turn[] {
  const turns: Turn[] = [];
  for (let hypervisor = 0; hypervisor < hypervisorCount; hypervisor += 1) {
    turns.push({ atMs: random.between(0, 5_000), hypervisor, what: 'onboard' });
    let out: keyof typeof wayBack | null = null;
    for (let atMs = random.between(12_000, 30_000); atMs < durationMs; atMs += random.between(8_000, 25_000)) {
      const what: Turn['what'] =
        out === null ? random.pick(['maintain', 'maintain', 'decommission', 'fail']) : wayBack[out];
      out = what in wayBack ? (what as keyof typeof wayBack) : null;
      turns.push({ atMs, hypervisor, what });
      if (random.next() < 0.3)
        turns.push({
          atMs: Math.min(atMs + random.between(500, 4_000), durationMs - 1),
          hypervisor,
          what: 'terminate',
        });
    }
  }
  return turns.toSorted((a, b) => a.atMs - b.atMs);
}

const afterCreate = ['power', 'power', 'resize', 'resize', 'switchOff', 'terminate', 'delete'] as const;

/** Each is made first; what is deleted is made anew, at times while it still goes. */
function planVmTurns(random: Random, durationMs: number): VmTurn[] {
  const turns: VmTurn[] = [];
  for (let vm = 0; vm < vmCount; vm += 1) {
    let what: VmTurn['what'] = 'create';
    for (let atMs = random.between(0, 5_000); atMs < durationMs; atMs += random.between(4_000, 16_000)) {
      turns.push({ atMs, vm, what });
      what = what === 'delete' ? 'create' : random.pick(afterCreate);
    }
  }
  return turns.toSorted((a, b) => a.atMs - b.atMs);
}
