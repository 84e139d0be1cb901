import type { MachineDeployment, MachineSet } from '../../../contracts/crds/machine-set.ts';
import {
  type Freezable,
  hasFrozenCondition,
  isFrozen,
  isLabelledFrozen,
  unfreezeAnnotation,
} from '../../../contracts/machine-safety/frozen-objects.ts';
import type { OvershootSettings } from '../../../contracts/machine-safety/overshoot.ts';

/**
 * Which MachineSets and MachineDeployments are to be frozen and thawed, as the replaced manager has it
 * (docs/machine-safety.md#overshoot). Pure.
 */

/** What of a Machine is counted. */
export interface CountedMachine {
  readonly labels: Readonly<Record<string, string>>;
  /** Names of the MachineSets that own it. */
  readonly owners: readonly string[];
}

export interface OvershootView {
  readonly sets: readonly MachineSet[];
  readonly deployments: readonly MachineDeployment[];
  readonly machines: readonly CountedMachine[];
}

/** Words of the replaced manager; `UnfreezeAnnotation` and `FewerMachines` are in no object. */
export type FreezeReason =
  | 'OverShootingReplicaCount'
  | 'MachineDeploymentStateSync'
  | 'UnfreezeAnnotation'
  | 'FewerMachines';

export interface FreezeStep {
  readonly change: 'freeze' | 'thaw';
  readonly reason: FreezeReason;
  readonly message: string;
  readonly object: Freezable;
}

export interface OvershootPlan {
  /** MachineSets first: the annotation of a MachineDeployment goes when all of its sets are thawed. */
  readonly steps: readonly FreezeStep[];
  /** Sentences about what cannot be judged, and is left as it is. */
  readonly unclear: readonly string[];
}

export function planOvershoot(view: OvershootView, settings: OvershootSettings): OvershootPlan {
  const unclear: string[] = [];
  const ofSets = view.sets.flatMap((object): FreezeStep[] => {
    const verdict = judgeSet(object, parentOf(object, view), countMachines(object, view), settings);
    if (verdict.kind === 'unclear') unclear.push(verdict.message);
    return verdict.kind === 'step' ? [{ ...verdict.step, object }] : [];
  });
  const ofDeployments = view.deployments.flatMap((object): FreezeStep[] => {
    const sets = view.sets.filter((set) => parentOf(set, view) === object);
    const step = judgeDeployment(object, sets, ofSets);
    return step === null ? [] : [{ ...step, object }];
  });
  return { steps: [...ofSets, ...ofDeployments], unclear };
}

type Change = Pick<FreezeStep, 'change' | 'reason' | 'message'>;
type SetVerdict = { kind: 'step'; step: Change } | { kind: 'unclear'; message: string } | { kind: 'nothing' };

/**
 * @param parent its MachineDeployment; null: it has none; missing: it names one that is not there
 * @param count of its Machines
 */
export function judgeSet(
  set: MachineSet,
  parent: MachineDeployment | null | 'missing',
  count: number,
  settings: OvershootSettings,
): SetVerdict {
  const { name, deletionTimestamp } = set.metadata;
  if (deletionTimestamp !== undefined) return { kind: 'nothing' };
  const isParentAnnotated = parent !== null && parent !== 'missing' && isAnnotated(parent);
  if (isAnnotated(set) || isParentAnnotated)
    return isAnnotated(set) || isFrozen(set)
      ? stepOf('thaw', 'UnfreezeAnnotation', `The annotation ${unfreezeAnnotation} says so`)
      : { kind: 'nothing' };
  if (parent === 'missing')
    return { kind: 'unclear', message: `The MachineDeployment of MachineSet ${name} is not in the list.` };
  const higher = higherThreshold(set, parent, settings);
  if (higher === null)
    return {
      kind: 'unclear',
      message: `How many Machines MachineSet ${name} may have is not known: its MachineDeployment has no maxSurge that is a number or a percentage.`,
    };
  if (count >= higher && !isLabelledFrozen(set))
    return stepOf(
      'freeze',
      'OverShootingReplicaCount',
      `The number of machines backing MachineSet: ${name} is ${count} >= ${higher} which is the Max-ScaleUp-Limit`,
    );
  // Where both thresholds are one, a set that is at it stays frozen.
  if (count <= higher - settings.safetyDown && count < higher && isFrozen(set))
    return stepOf('thaw', 'FewerMachines', `MachineSet ${name} has ${count} Machines, and ${higher} would freeze it`);
  return { kind: 'nothing' };
}

const stepOf = (change: Change['change'], reason: FreezeReason, message: string): SetVerdict => ({
  kind: 'step',
  step: { change, reason, message },
});

/** What its MachineSets will be decides. */
function judgeDeployment(
  deployment: MachineDeployment,
  sets: readonly MachineSet[],
  steps: readonly FreezeStep[],
): Change | null {
  if (deployment.metadata.deletionTimestamp !== undefined) return null;
  const ofSets = steps.filter(({ object }) => sets.some((set) => set === object));
  const freezing = ofSets.find(({ change }) => change === 'freeze');
  const staysFrozen = sets.some((set) => isFrozen(set) && ofSets.every(({ object }) => object !== set));
  if (freezing !== undefined || staysFrozen) {
    if (isLabelledFrozen(deployment) && hasFrozenCondition(deployment)) return null;
    const { reason, message } = freezing ?? {
      reason: 'MachineDeploymentStateSync',
      message: 'MachineDeployment State was inconsistent, hence safety controller has fixed this and frozen it',
    };
    return { change: 'freeze', reason, message };
  }
  if (isAnnotated(deployment))
    return {
      change: 'thaw',
      reason: 'UnfreezeAnnotation',
      message: `The annotation ${unfreezeAnnotation} says so`,
    };
  return isFrozen(deployment)
    ? { change: 'thaw', reason: 'MachineDeploymentStateSync', message: 'None of its MachineSets is frozen' }
    : null;
}

const isAnnotated = ({ metadata }: Freezable): boolean => metadata.annotations?.[unfreezeAnnotation] !== undefined;

function parentOf({ metadata }: MachineSet, { deployments }: OvershootView): MachineDeployment | null | 'missing' {
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === 'MachineDeployment');
  if (owner === undefined) return null;
  return deployments.find((deployment) => deployment.metadata.uid === owner.uid) ?? 'missing';
}

/** Those that it owns and that carry the labels of its template. */
function countMachines({ metadata, spec }: MachineSet, { machines }: OvershootView): number {
  const { labels = {} } = (spec?.template?.metadata ?? {}) as { labels?: Readonly<Record<string, string>> };
  const wanted = Object.entries(labels ?? {});
  return machines.filter(
    ({ labels: there, owners }) =>
      owners.includes(metadata.name) && wanted.every(([key, value]) => there[key] === value),
  ).length;
}

/** So many Machines are too many; null: it cannot be known. */
function higherThreshold(
  set: MachineSet,
  parent: MachineDeployment | null,
  { safetyUp }: OvershootSettings,
): number | null {
  if (parent === null) return 2 * (set.spec?.replicas ?? 0) + safetyUp;
  const { replicas = 0, strategy } = parent.spec ?? {};
  const surge = surgeOf((strategy?.rollingUpdate ?? strategy?.inPlaceUpdate)?.maxSurge, replicas);
  return surge === null ? null : replicas + surge + safetyUp;
}

/** A number, or a percentage of the replicas that is rounded up. */
function surgeOf(maxSurge: number | string | undefined, replicas: number): number | null {
  if (typeof maxSurge === 'number') return maxSurge;
  const [, percent] = /^(\d{1,6})%$/u.exec(maxSurge ?? '') ?? [];
  return percent === undefined ? null : Math.ceil((Number(percent) * replicas) / 100);
}
