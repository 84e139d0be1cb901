import type { Random } from '../faults/random.ts';
import { openRandom } from '../faults/random.ts';

/** What breaks, when and how. */
export type Fault = { atMs: number; forMs: number } & (
  | { target: 'bridge' | 'worker' | 'temporal' | 'kube-apiserver'; how: 'kill' | 'freeze' }
  /**
   * `apart`: it cannot be reached; `failing`: a third of the requests are answered 503; `deaf`: a third take effect and
   * are not answered.
   */
  | { target: 'nova'; how: 'apart' | 'failing' | 'deaf' }
  | { target: 'bmc'; how: BmcFault }
  | { target: 'vcenter'; how: VcenterFault }
  | { target: 'csi'; how: CsiFault }
);

/**
 * Of requests for power, `freeze` of all: `deaf`: taken and not done; `refuses`: answered 409; `returns`: the machine
 * goes off, and on again by itself.
 */
const bmcFaults = ['freeze', 'deaf', 'refuses', 'returns'] as const;
export type BmcFault = (typeof bmcFaults)[number];

/**
 * `failing`: requests are answered 503; `deaf`: they take effect and are not answered; `slow`: its tasks take seconds.
 */
const vcenterFaults = ['freeze', 'failing', 'deaf', 'slow'] as const;
export type VcenterFault = (typeof vcenterFaults)[number];

/**
 * `kill`: the driver, and its sidecars with it; `controller`: the snapshot-controller is killed; `failing`: calls are
 * answered Internal; `busy`: Aborted; `deaf`: they take effect and are answered Unavailable; `slow`: they take seconds.
 */
const csiFaults = ['kill', 'controller', 'failing', 'busy', 'deaf', 'slow'] as const;
export type CsiFault = (typeof csiFaults)[number];

/** What users do. Which eviction it affects depends on which are under way. */
export interface UserAction {
  atMs: number;
  what: 'evict' | 'cancel' | 'terminate' | 'delete' | 'pause' | 'retry';
  /** Chooses among the hosts: 0 to 1. */
  lot: number;
}

/**
 * What becomes of a hypervisor: its Node comes, it goes into maintenance and back, out of Nova and comes again, or its
 * kubelet fails and works again. `cutPower`: its machine goes off; `freeze`: nothing on it reports, and it has power;
 * `mend`: it works again, as the same boot if it had power all the time. Now and then a user terminates its run.
 */
export interface HypervisorAction {
  atMs: number;
  /** Which of them, from 0 on. */
  hypervisor: number;
  what:
    | 'onboard'
    | 'maintain'
    | 'activate'
    | 'decommission'
    | 'restore'
    | 'fail'
    | 'recover'
    | 'cutPower'
    | 'freeze'
    | 'mend'
    | 'terminate';
}

/**
 * What becomes of a virtual machine. `switchOff`: in vCenter, behind drover's back; a VM that is deleted is made anew.
 */
export interface VmAction {
  atMs: number;
  /** Which of them, from 0 on. */
  vm: number;
  what: 'create' | 'power' | 'resize' | 'switchOff' | 'terminate' | 'delete';
}

/**
 * What becomes of a pool of agents: its NodePool is scaled, Machines and VsphereAgents are deleted by hand, its
 * template is changed, its ISO checked.
 */
export interface PoolAction {
  atMs: number;
  what: (typeof poolActionKinds)[number];
  /** Chooses among what there is, or how many are wanted: 0 to 1. */
  lot: number;
}

/** Most change how many are wanted; the rest affects those that are there. */
const poolActionKinds = [
  'scale',
  'scale',
  'scale',
  'deleteMachine',
  'deleteMachine',
  'deleteAgent',
  'editTemplate',
  'checkIso',
  'terminate',
] as const;

/** What becomes of DataVolumes, their claims and their sources. */
export interface VolumeAction {
  atMs: number;
  what: (typeof volumeActionKinds)[number];
  /** Chooses among sources, or what there is: 0 to 1. */
  lot: number;
}

/** Most clone; the rest affects what is cloned, and what came of it. */
const volumeActionKinds = [
  'clone',
  'clone',
  'clone',
  'cloneMany',
  'cloneElsewhere',
  'cloneElsewhere',
  'cloneSnapshot',
  'write',
  'write',
  'use',
  'deleteVolume',
  'deleteVolume',
  'deleteClaim',
  'terminate',
] as const;

export interface ChaosPlan {
  faults: Fault[];
  userActions: UserAction[];
  hypervisorActions: HypervisorAction[];
  vmActions: VmAction[];
  poolActions: PoolAction[];
  volumeActions: VolumeAction[];
}

/** What goes through its lifecycle while everything breaks. */
export const lifecycles = ['evictions', 'hypervisors', 'vms', 'pools', 'volumes'] as const;
export type Lifecycle = (typeof lifecycles)[number];

type Target = Fault['target'];
type Targets = readonly [Target, ...Target[]];

const processes = ['bridge', 'worker', 'temporal', 'kube-apiserver'] as const;
const needsNova = (chosen: readonly Lifecycle[]): boolean =>
  chosen.includes('evictions') || chosen.includes('hypervisors');
const needsVcenter = (chosen: readonly Lifecycle[]): boolean => chosen.includes('vms') || chosen.includes('pools');
/** What none of them needs is left whole. */
const targetsOf = (chosen: readonly Lifecycle[]): Targets => [
  ...processes,
  ...(needsNova(chosen) ? (['nova'] as const) : []),
  ...(chosen.includes('hypervisors') ? (['bmc'] as const) : []),
  ...(needsVcenter(chosen) ? (['vcenter'] as const) : []),
  ...(chosen.includes('volumes') ? (['csi'] as const) : []),
];

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

/**
 * Faults one after the other with time to work between them, now and then two at once; actions all the time. The seed
 * decides everything.
 *
 * @param chosen whose actions there are
 */
export function planChaos(seed: number, durationMs: number, chosen: readonly Lifecycle[] = lifecycles): ChaosPlan {
  const random = openRandom(seed);
  const of = <Action>(lifecycle: Lifecycle, plan: (random: Random, durationMs: number) => Action[]): Action[] =>
    chosen.includes(lifecycle) ? plan(random, durationMs) : [];
  return {
    faults: planFaults(random, durationMs, targetsOf(chosen)),
    userActions: of('evictions', planUserActions),
    hypervisorActions: of('hypervisors', planHypervisorActions),
    vmActions: of('vms', planVmActions),
    poolActions: of('pools', planPoolActions),
    volumeActions: of('volumes', planVolumeActions),
  };
}

function planFaults(random: Random, durationMs: number, targets: Targets): Fault[] {
  const faults: Fault[] = [];
  for (let atMs = random.between(3_000, 8_000); atMs < durationMs;) {
    const first = random.pick(targets);
    const chosen =
      random.next() < 0.25 ? [first, random.pick(targets.filter((target) => target !== first) as [Target])] : [first];
    const forMs = random.between(500, 6_000);
    for (const target of chosen) {
      if (target === 'nova') faults.push({ atMs, forMs, target, how: random.pick(['apart', 'failing', 'deaf']) });
      else if (target === 'bmc') faults.push({ atMs, forMs, target, how: random.pick(bmcFaults) });
      else if (target === 'vcenter') faults.push({ atMs, forMs, target, how: random.pick(vcenterFaults) });
      else if (target === 'csi') faults.push({ atMs, forMs, target, how: random.pick(csiFaults) });
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
const wayBack = {
  maintain: 'activate',
  decommission: 'restore',
  fail: 'recover',
  cutPower: 'mend',
  freeze: 'mend',
} as const;

/** A host that is dead stays so for long enough to be fenced and evacuated. */
const pauseAfter = (random: Random, what: HypervisorAction['what']): number =>
  what === 'cutPower' || what === 'freeze' ? random.between(45_000, 65_000) : random.between(8_000, 25_000);

/** Each is onboarded first, and then leaves service and comes back for as long as there is time. */
function planHypervisorActions(random: Random, durationMs: number): HypervisorAction[] {
  const hypervisorActions: HypervisorAction[] = [];
  for (let hypervisor = 0; hypervisor < hypervisorCount; hypervisor += 1) {
    hypervisorActions.push({ atMs: random.between(0, 5_000), hypervisor, what: 'onboard' });
    let out: keyof typeof wayBack | null = null;
    for (let atMs = random.between(25_000, 35_000); atMs < durationMs;) {
      const what: HypervisorAction['what'] =
        out === null
          ? random.pick(['maintain', 'maintain', 'decommission', 'fail', 'cutPower', 'cutPower', 'freeze'])
          : wayBack[out];
      out = what in wayBack ? (what as keyof typeof wayBack) : null;
      hypervisorActions.push({ atMs, hypervisor, what });
      if (random.next() < 0.3)
        hypervisorActions.push({
          atMs: Math.min(atMs + random.between(500, 4_000), durationMs - 1),
          hypervisor,
          what: 'terminate',
        });
      atMs += pauseAfter(random, what);
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

/** It is scaled first. What VMs, Machines and Nodes take to follow is longer than the time between two: they meet. */
function planPoolActions(random: Random, durationMs: number): PoolAction[] {
  const planned: PoolAction[] = [];
  let what: PoolAction['what'] = 'scale';
  for (let atMs = random.between(0, 3_000); atMs < durationMs; atMs += random.between(5_000, 18_000)) {
    planned.push({ atMs, what, lot: random.next() });
    what = random.pick(poolActionKinds);
  }
  return planned;
}

/** All the time: clones meet each other, and what is done to their sources. */
function planVolumeActions(random: Random, durationMs: number): VolumeAction[] {
  const planned: VolumeAction[] = [];
  for (let atMs = random.between(0, 2_000); atMs < durationMs; atMs += random.between(1_000, 4_000))
    planned.push({ atMs, what: random.pick(volumeActionKinds), lot: random.next() });
  return planned;
}
