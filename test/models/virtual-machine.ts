import type { DesiredVirtualMachine, VirtualMachineSettings } from '../../contracts/virtual-machine/lifecycle.ts';
import type { FileOperation } from '../../contracts/virtual-machine/cached-files.ts';
import { diskName } from '../../contracts/virtual-machine/cached-files.ts';
import type { ReconfigSpec, VmConfig } from '../../contracts/virtual-machine/config.ts';
import {
  extraConfigKeys,
  virtualMachineAnnotations,
  virtualMachineLabels,
} from '../../contracts/virtual-machine/metadata.ts';
import type {
  Candidate,
  ObservedClass,
  VirtualMachineMemory,
  VirtualMachineObservation,
  ObservedVm,
} from '../../contracts/virtual-machine/observation.ts';
import type { CreateSpec, VirtualMachinePatch } from '../../contracts/virtual-machine/mutations.ts';
import type { VirtualMachinePlan, VirtualMachineStep } from '../../workflows/virtual-machine/plan/context.ts';
import { planWithNotes } from '../../workflows/virtual-machine/plan/plan.ts';
import { applyFailure, applyResult, noMemory, pruneBy } from '../../workflows/virtual-machine/memory.ts';
import { done, wait } from '../../workflows/lib/plan.ts';
import {
  cachedOf,
  classOf,
  configOf,
  guestOf,
  hardwareOf,
  imageOf,
  observedOf,
  prerequisitesOf,
  vmOf,
} from '../fixtures/workflows/virtual-machine.ts';
import { fullName } from '../../workflows/virtual-machine/plan/context.ts';
import { ownershipMetadata } from '../../workflows/virtual-machine/plan/want-config.ts';

/**
 * A model of one namespace of a vCenter and the object in it, for tests: every step has the effect that its activity
 * would have, and refuses what vCenter refuses.
 */
export interface World {
  desired: DesiredVirtualMachine | null;
  settings: VirtualMachineSettings;
  memory: VirtualMachineMemory;
  nowMs: number;
  vms: ModelVm[];
  /** Creates that were submitted and have not ended. */
  creating: { task: string; vm: ModelVm }[];
  /** Every VM that was ever made for the object. */
  made: number;
  restarts: number;
  /** Disks that drover did not make, and that were destroyed with a VM. */
  lost: string[];
  /** Names in the folder of a VM that is being made from cached files. */
  files: Set<string>;
  guest: 'obeys' | 'refuses' | 'sleeps';
  hasSlot: boolean;
  class: ObservedClass;
}

export interface ModelVm {
  facts: ObservedVm & { config: VmConfig };
  /** Another client's. */
  foreign: boolean;
}

/** What becomes of a call: it works, fails before it has an effect, or has its effect and fails on the way back. */
export type Fate = 'works' | 'before' | 'after';

const owner = (extraConfig: Readonly<Record<string, string>>): Candidate['owner'] => {
  const namespacedName = extraConfig[extraConfigKeys.namespacedName];
  return namespacedName === undefined ? null : { namespacedName, uid: extraConfig[extraConfigKeys.objectUid] ?? null };
};

/** The VMs of the object, made or being made. */
export const ownOf = ({ vms }: Pick<World, 'vms'>, { uid }: Pick<DesiredVirtualMachine, 'uid'>): ModelVm[] =>
  vms.filter(({ facts, foreign }) => !foreign && facts.config.extraConfig[extraConfigKeys.objectUid] === uid);

export function observe(world: World): VirtualMachineObservation {
  const { desired, vms } = world;
  const candidates = desired === null ? [] : vms.flatMap(({ facts }) => candidateOf(facts, desired));
  const found =
    candidates.length === 1 ? candidates[0] : candidates.find((candidate) => candidate.foundBy.includes('owner'));
  const vm = vms.find(({ facts }) => facts.moId === found?.moId)?.facts ?? null;
  return observedOf({
    candidates,
    vm: structuredClone(vm),
    prerequisites: prerequisitesOf({
      class: { kind: 'found', value: world.class },
      image: { kind: 'found', value: imageOf({ hardware: hardwareOf(2) }) },
    }),
    imageCache: cachedOf({ files: 2 }),
  });
}

function candidateOf(
  { moId, name, instanceUuid, config }: ModelVm['facts'],
  desired: DesiredVirtualMachine,
): Candidate[] {
  const its = owner(config.extraConfig);
  const foundBy: Candidate['foundBy'] = [
    ...(instanceUuid === desired.instanceUuid ? (['instanceUuid'] as const) : []),
    ...(instanceUuid === desired.uid ? (['uid'] as const) : []),
    ...(its?.uid === desired.uid && its.namespacedName === fullName(desired) ? (['owner'] as const) : []),
    ...(name === desired.name ? (['name'] as const) : []),
  ];
  return foundBy.length === 0
    ? []
    : [{ moId, name, foundBy, isRecorded: null, createdMs: null, instanceUuid, owner: its, inFolder: true }];
}

/** One observation, one plan, and the steps it leads to, each with its fate. Returns the plan. */
export function pass(world: World, fate: () => Fate): VirtualMachinePlan {
  const { desired, settings, nowMs } = world;
  const observed = observe(world);
  world.memory = desired === null ? noMemory : pruneBy(world.memory, desired, observed);
  if (desired === null) return done('gone', 'NotFound', 'There is no such VirtualMachine');
  const context = { desired, observed, memory: world.memory, settings, isPromoting: false, nowMs };
  const { plan, notes } = planWithNotes(context, true);
  world.nowMs += 1_000;
  for (const note of notes) patchObject(world, note);
  if (plan.kind !== 'execute') return plan;
  if (plan.slot !== undefined && plan.slot.onlyKept !== true && !world.hasSlot)
    return wait('Queued', 'Queued', 'a slot', world.nowMs + settings.slotRenewMs);
  for (const step of plan.steps) {
    if (world.desired === null) break;
    const end = execute(world, step, fate());
    world.memory =
      end.kind === 'done'
        ? applyResult(world.memory, step, world.nowMs, end.task ?? null)
        : applyFailure(world.memory, step, end, world.nowMs);
    if (end.kind === 'failed') break;
  }
  return plan;
}

type StepEnd = { kind: 'done'; task?: string } | { kind: 'failed'; reason: string; message: string; requeue: boolean };

function execute(world: World, step: VirtualMachineStep, fate: Fate): StepEnd {
  const lost: StepEnd = { kind: 'failed', reason: 'VcenterUnavailable', message: 'no answer', requeue: true };
  if (fate === 'before') return lost;
  const end = take(world, step);
  return fate === 'after' ? lost : end;
}

const refused = (message: string, reason = 'Refused'): StepEnd => ({ kind: 'failed', reason, message, requeue: true });
const ok: StepEnd = { kind: 'done' };

function take(world: World, step: VirtualMachineStep): StepEnd {
  const { desired } = world;
  if (desired === null) return refused('there is no such object');
  const vm = 'moId' in step ? world.vms.find(({ facts }) => facts.moId === step.moId) : undefined;
  // A VM that is gone is as good as done with.
  if ('moId' in step && vm === undefined)
    return step.kind === 'destroy' || step.kind === 'detachDisks' ? ok : refused('ManagedObjectNotFound');
  if (vm?.foreign === true) throw new Error(`${step.summary}: touches a VM of another client`);
  if (vm !== undefined && step.kind !== 'adopt' && owner(vm.facts.config.extraConfig)?.uid !== desired.uid)
    throw new Error(`${step.summary}: touches a VM without its owner`);
  switch (step.kind) {
    case 'patchVirtualMachine':
      for (const patch of step.patches) patchObject(world, patch);
      return ok;
    case 'createVirtualMachine':
      for (const note of step.notes) patchObject(world, note);
      return create(world, step.create, step.blocking);
    case 'file':
      return file(world, step.operation);
    case 'awaitTask':
      return settle(world, step.task) ? ok : refused('the task has failed');
    case 'cancelCreate':
      // A cancelled clone may still finish.
      for (const { task } of world.creating) settle(world, task);
      return ok;
    case 'adopt':
      Object.assign((vm as ModelVm).facts.config.extraConfig, ownershipMetadata(desired));
      return ok;
    case 'reconfigure':
      reconfigure(vm as ModelVm, step.spec);
      return ok;
    case 'power':
      return power(world, vm as ModelVm, step.operation);
    case 'detachDisks':
      (vm as ModelVm).facts.config.disks = (vm as ModelVm).facts.config.disks.filter(
        ({ key }) => !step.keys.includes(key),
      );
      return ok;
    case 'destroy': {
      const { facts } = vm as ModelVm;
      if (facts.powerState !== 'poweredOff') return refused('InvalidPowerState');
      world.lost.push(...facts.config.disks.filter(({ own }) => !own).map(({ name }) => name));
      world.vms = world.vms.filter((one) => one !== vm);
      return ok;
    }
    case 'releaseVm':
      Object.assign((vm as ModelVm).facts.config, { extraConfig: {}, managedBy: null });
      (vm as ModelVm).foreign = true;
      return ok;
    case 'promoteDisks': {
      const { config } = (vm as ModelVm).facts;
      config.disks = config.disks.map((disk) => {
        const { linked: _linked, ...whole } = disk;
        return step.keys.includes(disk.key) ? whole : disk;
      });
      return ok;
    }
    case 'upgradeHardware':
    case 'bootstrap':
    case 'attachClusterModule':
    case 'writeBackup':
    case 'cancelTask':
    case 'ensureImageCache':
    case 'changeVolumes':
    case 'evaluatePolicies':
      return ok;
  }
}

const partOf = (name: string): string => `${name}.part`;

function file(world: World, operation: FileOperation): StepEnd {
  const { files } = world;
  switch (operation.kind) {
    case 'copyDisk':
      if (!files.has(operation.to)) files.add(partOf(operation.to));
      return ok;
    case 'keepDisk':
      if (files.has(operation.to)) return ok;
      if (!files.delete(partOf(operation.to))) return refused('FileNotFound');
      files.add(operation.to);
      return ok;
    case 'copyOther':
      files.add(operation.to);
      return ok;
    case 'removeFolder':
      if (world.creating.length > 0) throw new Error('removes the files of a VM that is being made');
      files.clear();
      return ok;
  }
}

/** Looks for its own first; the name in its folder is the lock. */
function create(world: World, spec: CreateSpec, blocking: boolean): StepEnd {
  const { desired } = world;
  if (desired === null) return refused('there is no such object');
  if (ownOf(world, desired).length > 0) return ok;
  const underWay = world.creating.find(({ vm }) => vm.facts.name === spec.name);
  if (underWay !== undefined) return { kind: 'done', task: underWay.task };
  if (world.vms.some(({ facts }) => facts.name === spec.name))
    return { ...refused('DuplicateName'), requeue: false } as StepEnd;
  if (spec.source.kind === 'cachedDisks' && spec.source.mode === 'direct') {
    for (const index of spec.source.disks.keys())
      if (!world.files.has(diskName(index))) throw new Error(`makes a VM without the whole of ${diskName(index)}`);
  }
  world.made += 1;
  const extraConfig = Object.fromEntries(spec.config.extraConfig?.map(({ key, value }) => [key, value]) ?? []);
  const { numCPUs = 1, memoryMB = 1_024 } = spec.config;
  // Those of the template go; what a spec asks for, no test here looks at.
  const config = configOf({ extraConfig, numCPUs, memoryMB, networkCards: [] });
  const facts = {
    ...vmOf({
      moId: `vm-${world.made}`,
      instanceUuid: spec.instanceUuid,
      biosUuid: spec.uuid,
      powerState: 'poweredOff' as const,
      bootId: 'none',
      upSinceMs: null,
      guest: guestOf(),
    }),
    config,
  };
  const task = `task-${world.made}`;
  world.creating.push({ task, vm: { facts, foreign: false } });
  if (!blocking) return { kind: 'done', task };
  settle(world, task);
  return ok;
}

/** A create comes to its end. */
export function settle(world: World, task: string): boolean {
  const one = world.creating.find((creating) => creating.task === task);
  if (one === undefined) return true;
  world.creating = world.creating.filter((creating) => creating !== one);
  if (world.vms.some(({ facts }) => facts.name === one.vm.facts.name)) return false;
  world.vms.push(one.vm);
  // They are the VM's.
  world.files.clear();
  return true;
}

function reconfigure({ facts }: ModelVm, spec: ReconfigSpec): void {
  const { extraConfig = [], deviceChange = [], managedBy, ...fields } = spec;
  const isFixed = 'numCPUs' in fields || 'memoryMB' in fields;
  if (isFixed && facts.powerState !== 'poweredOff') throw new Error('a size changes only while the VM is off');
  const gone = deviceChange.flatMap((change) => (change.operation === 'remove' ? [change.key] : []));
  if (gone.length > 0 && facts.powerState !== 'poweredOff') throw new Error('a card goes only while the VM is off');
  facts.config.networkCards = facts.config.networkCards.filter(({ key }) => !gone.includes(key ?? 0));
  Object.assign(facts.config, fields, managedBy === undefined ? {} : { managedBy });
  for (const { key, value } of extraConfig) {
    if (value === '') delete facts.config.extraConfig[key];
    else facts.config.extraConfig[key] = value;
  }
}

function power(world: World, { facts }: ModelVm, operation: string): StepEnd {
  const asks = operation.endsWith('Guest');
  if (asks && (world.guest === 'refuses' || facts.powerState !== 'poweredOn'))
    return refused('ToolsUnavailable', 'GuestToolsNotRunning');
  if (asks && world.guest === 'sleeps') return ok;
  const restarts = operation === 'reset' || operation === 'rebootGuest';
  if (restarts && facts.powerState !== 'poweredOn') return refused('InvalidPowerState');
  if (restarts) world.restarts += 1;
  if (restarts || operation === 'powerOn') {
    // vCenter sees a reset, and not that a guest has restarted itself.
    if (operation !== 'rebootGuest') facts.bootId = `boot-${world.nowMs}`;
    facts.upSinceMs = world.nowMs;
    facts.powerState = 'poweredOn';
    return ok;
  }
  if (operation === 'powerOff' || operation === 'shutdownGuest') facts.powerState = 'poweredOff';
  else if (facts.powerState === 'poweredOn') facts.powerState = 'suspended';
  else return refused('InvalidPowerState');
  return ok;
}

function patchObject(
  world: World,
  { annotations = {}, labels = {}, spec = {}, addFinalizers = [], removeFinalizers = [] }: VirtualMachinePatch,
): void {
  const { desired } = world;
  if (desired === null) return;
  desired.finalizers = [
    ...desired.finalizers.filter((finalizer) => !removeFinalizers.includes(finalizer)),
    ...addFinalizers,
  ];
  if (labels[virtualMachineLabels.zone] !== undefined) desired.zone = labels[virtualMachineLabels.zone] ?? null;
  const {
    creating,
    copies,
    disks,
    managerId,
    firstBootDone,
    lastResizedClass,
    upgradedToBuildVersion,
    upgradedToSchemaVersion,
    upgradedToFeatureVersion,
  } = virtualMachineAnnotations;
  if (creating in annotations) desired.creatingSince = annotations[creating] ?? null;
  const copied = annotations[copies];
  if (copied !== undefined) {
    const [datacenter = '', datastore = '', sources = ''] = copied?.split(',') ?? [];
    desired.copiesAt = copied === null ? null : { datacenter, datastore, sources };
  }
  if (typeof annotations[disks] === 'string') desired.madeDisks = annotations[disks].split(',');
  if (managerId in annotations) desired.managerId = annotations[managerId] ?? null;
  if (firstBootDone in annotations) desired.firstBootDone = annotations[firstBootDone] === 'true';
  if (upgradedToBuildVersion in annotations)
    desired.upgradedTo = {
      build: annotations[upgradedToBuildVersion] ?? null,
      schema: annotations[upgradedToSchemaVersion] ?? null,
      feature: annotations[upgradedToFeatureVersion] ?? null,
    };
  const applied = annotations[lastResizedClass];
  if (typeof applied === 'string') {
    const {
      Name: name,
      UID: uid,
      Generation: generation,
    } = JSON.parse(applied) as { Name: string; UID: string; Generation: number };
    desired.lastResizedClass = { name, uid, generation };
  }
  if (typeof spec['instanceUUID'] === 'string') desired.instanceUuid = spec['instanceUUID'];
  if (typeof spec['biosUUID'] === 'string') desired.biosUuid = spec['biosUUID'];
  if (typeof spec['nextRestartTime'] === 'string') desired.nextRestartTime = spec['nextRestartTime'];
  if (Object.keys(spec).length > 0) desired.generation += 1;
  if (desired.deleting && desired.finalizers.length === 0) world.desired = null;
}

export const worldOf = (desired: DesiredVirtualMachine, settings: VirtualMachineSettings, nowMs: number): World => ({
  desired,
  settings,
  memory: noMemory,
  nowMs,
  vms: [],
  creating: [],
  made: 0,
  restarts: 0,
  lost: [],
  files: new Set(),
  guest: 'obeys',
  hasSlot: true,
  class: classOf(),
});
