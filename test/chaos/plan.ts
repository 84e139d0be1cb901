import type { Random } from '../faults/random.ts';
import { openRandom } from '../faults/random.ts';

/** What breaks, when and how. */
export type Fault = { atMs: number; forMs: number } & (
  | { target: 'bridge' | 'worker' | 'temporal' | 'kube-apiserver'; how: 'kill' | 'freeze' }
  /** `apart`: it cannot be reached; `failing`: a third of the requests are answered 503; `deaf`: a third take effect and are not answered. */
  | { target: 'nova'; how: 'apart' | 'failing' | 'deaf' }
  /** `failing`: requests are answered 503; `deaf`: they take effect and are not answered. */
  | { target: 'vcenter'; how: 'freeze' | 'failing' | 'deaf' }
);

/** What users do. Which eviction it affects depends on which are under way. */
export interface UserAction {
  atMs: number;
  what: 'evict' | 'cancel' | 'terminate' | 'delete' | 'pause' | 'retry';
  /** Chooses among the hosts: 0 to 1. */
  lot: number;
}

/** What becomes of a hypervisor: its Node comes, it goes into maintenance and back, out of Nova and comes again, or its kubelet fails and works again; now and then a user terminates its run. */
export interface HypervisorAction {
  atMs: number;
  /** Which of them, from 0 on. */
  hypervisor: number;
  what: 'onboard' | 'maintain' | 'activate' | 'decommission' | 'restore' | 'fail' | 'recover' | 'terminate';
}

/** What becomes of a virtual machine. `switchOff`: in vCenter, behind drover's back; a VM that is deleted is made anew. */
export interface VmAction {
  atMs: number;
  /** Which of them, from 0 on. */
  vm: number;
  what: 'create' | 'power' | 'resize' | 'switchOff' | 'terminate' | 'delete';
}

export interface ChaosPlan {
  faults: Fault[];
  userActions: UserAction[];
  hypervisorActions: HypervisorAction[];
  vmActions: VmAction[];
}

const processes = ['bridge', 'worker', 'temporal', 'kube-apiserver'] as const;
const targets = [...processes, 'nova', 'vcenter'] as const;

/** Most actions start evictions; the rest affects those under way. */
const kinds = [
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

/** How many hypervisors and virtual machines the actions are for. */
export const hypervisorCount = 2;
export const vmCount = 3;

/** Faults one after the other with time to work between them, now and then two at once; actions all the time. The seed decides everything. */
export function planChaos(seed: number, durationMs: number): ChaosPlan {
  const random = openRandom(seed);
  return {
    faults: planFaults(random, durationMs),
    userActions: planUserActions(random, durationMs),
    hypervisorActions: planHypervisorActions(random, durationMs),
    vmActions: planVmActions(random, durationMs),
  };
}

function planFaults(random: Random, durationMs: number): Fault[] {
  const faults: Fault[] = [];
  for (let atMs = random.between(3_000, 8_000); atMs < durationMs;) {
    const first = random.pick(targets);
    const chosen =
      random.next() < 0.25
        ? [first, random.pick(targets.filter((target) => target !== first) as [(typeof targets)[number]])]
        : [first];
    const forMs = random.between(500, 6_000);
    for (const target of chosen) {
      if (target === 'nova') faults.push({ atMs, forMs, target, how: random.pick(['apart', 'failing', 'deaf']) });
      else if (target === 'vcenter')
        faults.push({ atMs, forMs, target, how: random.pick(['freeze', 'failing', 'deaf']) });
      else faults.push({ atMs, forMs, target, how: random.pick(['kill', 'freeze']) });
    }
    atMs += forMs + random.between(4_000, 12_000);
  }
  return faults;
}

function planUserActions(random: Random, durationMs: number): UserAction[] {
  const planned: UserAction[] = [];
  for (let atMs = 0; atMs < durationMs; atMs += random.between(1_500, 5_000))
    planned.push({ atMs, what: random.pick(kinds), lot: random.next() });
  return planned;
}

/** How each way out of service ends. */
const wayBack = { maintain: 'activate', decommission: 'restore', fail: 'recover' } as const;

/** Each is onboarded first, and then leaves service and comes back for as long as there is time. */
function planHypervisorActions(random: Random, durationMs: number): HypervisorAction[] {
  const hypervisorActions: HypervisorAction[] = [];
  for (let hypervisor = 0; hypervisor < hypervisorCount; hypervisor += 1) {
    hypervisorActions.push({ atMs: random.between(0, 5_000), hypervisor, what: 'onboard' });
    let out: keyof typeof wayBack | null = null;
    for (let atMs = random.between(12_000, 30_000); atMs < durationMs; atMs += random.between(8_000, 25_000)) {
      const what: HypervisorAction['what'] =
        out === null ? random.pick(['maintain', 'maintain', 'decommission', 'fail']) : wayBack[out];
      out = what in wayBack ? (what as keyof typeof wayBack) : null;
      hypervisorActions.push({ atMs, hypervisor, what });
      if (random.next() < 0.3)
        hypervisorActions.push({
          atMs: Math.min(atMs + random.between(500, 4_000), durationMs - 1),
          hypervisor,
          what: 'terminate',
        });
    }
  }
  return hypervisorActions.toSorted((a, b) => a.atMs - b.atMs);
}

const afterCreate = ['power', 'power', 'resize', 'resize', 'switchOff', 'terminate', 'delete'] as const;

/** Each is made first; what is deleted is made anew, at times while it still goes. */
function planVmActions(random: Random, durationMs: number): VmAction[] {
  const hypervisorActions: VmAction[] = [];
  for (let vm = 0; vm < vmCount; vm += 1) {
    let what: VmAction['what'] = 'create';
    for (let atMs = random.between(0, 5_000); atMs < durationMs; atMs += random.between(4_000, 16_000)) {
      hypervisorActions.push({ atMs, vm, what });
      what = what === 'delete' ? 'create' : random.pick(afterCreate);
    }
  }
  return hypervisorActions.toSorted((a, b) => a.atMs - b.atMs);
}
