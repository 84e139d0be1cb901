import type {
  DesiredPolicy,
  ObservedPolicy,
  PolicyBranch,
  PolicyChange,
  PolicyObservation,
  PolicyPlace,
  PolicySettings,
  PolicyStatus,
  RecordedModule,
  RecordedPool,
  ResourcePolicyInput,
} from '../../contracts/resource-policy/resource-policy.ts';
import type { Situation } from '../lib/lifecycle.ts';
import { done, execute, type Plan, type Step, wait } from '../lib/plan.ts';

/** What a policy is to become, and what it is to say. All of it is pure. */

export type PolicyStep = Step & (PolicyChange | { kind: 'addFinalizer' | 'removeFinalizer' });

/** Cluster modules that the run has made and that the object does not record yet: no other record has their owner. */
export interface PolicyMemory {
  modules: RecordedModule[];
}

export interface PolicyLifecycle {
  input: ResourcePolicyInput;
  desired: DesiredPolicy;
  observed: ObservedPolicy;
  settings: PolicySettings;
  memory: PolicyMemory;
  step: PolicyStep;
  status: PolicyStatus;
}

export type PolicySituation = Situation<PolicyLifecycle>;
type PolicyPlan = Plan<PolicyStep>;

/** Whether the plan depends on what there is in vCenter. */
export const needsVcenter = ({ desired, observed: { usedBy } }: Pick<PolicyObservation, 'desired' | 'observed'>) =>
  desired !== null && (!desired.deleting || (desired.isHeld && usedBy.length === 0));

export function planPolicy(situation: PolicySituation): PolicyPlan {
  const { desired, observed, settings } = situation;
  const { usedBy, inVcenter } = observed;
  if (desired === null) return done('gone', 'NotFound', 'There is no such VirtualMachineSetResourcePolicy');
  if (desired.deleting && !desired.isHeld)
    return done('gone', 'Released', 'It is being deleted, and drover holds nothing of it');
  if (desired.deleting && usedBy.length > 0) {
    const verb = usedBy.length === 1 ? 'it names' : 'they name';
    return wait('Removing', 'InUse', `${listFew(usedBy)} to be deleted: ${verb} this policy`);
  }
  if (inVcenter === null) throw new Error('planned without vCenter');
  const { places, modules } = inVcenter;
  const there = knownModules(situation).filter(({ module }) => modules.includes(module));
  if (desired.deleting) return planRemoval(desired, there, places);
  if (places.length === 0)
    return wait('Making', 'NoZone', 'a zone to put it in: name one in the settings of its vCenter');
  // Before anything is made: what is deleted in between would be left behind. A policy that drover only observes
  // is not held.
  const steps: PolicyStep[] =
    desired.isHeld || settings.mode === 'observe'
      ? []
      : [{ kind: 'addFinalizer', phase: 'Making', summary: 'Add the finalizer of drover' }];
  for (const place of places) {
    const problem = problemOf(desired, place);
    if (problem !== null) return steps.length > 0 ? execute(steps) : wait('Making', 'ParentNotFound', problem);
    // Two zones may have a folder, a pool or a cluster in common.
    steps.push(...missingIn(place, desired, there).filter((step) => !steps.some((other) => isSameThing(step, other))));
  }
  // Of a group that the policy does not have any more; the VMs in it are only no longer kept apart.
  steps.push(...there.filter(({ group }) => !desired.groups.includes(group)).map(removeModule));
  return steps.length > 0 ? execute(steps) : done('reconciled', 'Reconciled', 'All of it is there');
}

function missingIn(
  { zone, cluster, folder: folders, resourcePool: pools }: PolicyPlace,
  { folder, resourcePool, groups }: DesiredPolicy,
  there: readonly RecordedModule[],
): PolicyStep[] {
  const phase = 'Making';
  const steps: PolicyStep[] = [];
  if (folder !== null && folders.parent !== null && folders.child === null) {
    const summary = `Make folder ${below(folders, folder)}`;
    steps.push({ kind: 'makeFolder', phase, summary, parent: folders.parent, name: folder });
  }
  if (resourcePool !== null && pools.parent !== null && (pools.child === null || !pools.isAsWanted)) {
    const { name, ...allocation } = resourcePool;
    const summary = `${pools.child === null ? 'Make' : 'Change'} resource pool ${below(pools, name)}`;
    steps.push({ kind: 'makePool', phase, summary, parent: pools.parent, cluster, name, allocation });
  }
  if (cluster === null) return steps;
  for (const group of groups) {
    if (there.some((made) => made.cluster === cluster && made.group === group)) continue;
    const summary = `Make the cluster module of ${group} in zone ${zone}`;
    steps.push({ kind: 'makeModule', phase, summary, cluster, group });
  }
  return steps;
}

/** Steps differ in their sentences, too. */
function isSameThing(step: PolicyStep, other: PolicyStep): boolean {
  const { summary: _, ...what } = step;
  const { summary: __, ...otherWhat } = other;
  return JSON.stringify(what) === JSON.stringify(otherWhat);
}

/** What a user has to make; null: it is there. */
function problemOf({ folder, resourcePool, groups }: DesiredPolicy, place: PolicyPlace): string | null {
  const { zone, cluster } = place;
  if (folder !== null && place.folder.parent === null)
    return `folder ${place.folder.path} of zone ${zone}: create it in vCenter, or correct the zone’s folder in the settings`;
  if ((resourcePool !== null || groups.length > 0) && place.resourcePool.parent === null)
    return `resource pool ${place.resourcePool.path} of zone ${zone}: create it in vCenter, or correct the zone’s resourcePool in the settings`;
  if (resourcePool !== null && place.resourcePool.lacksSpeed === true)
    return `a host of resource pool ${place.resourcePool.path} of zone ${zone} that says how fast its cores are, as the policy counts in them: add one to its cluster, or let drover’s account read it`;
  if (groups.length > 0 && cluster === null)
    return `the cluster of resource pool ${place.resourcePool.path} of zone ${zone}`;
  return null;
}

const below = ({ path }: PolicyBranch, name: string): string => `${path}/${name}`;

const removeModule = ({ group, module }: RecordedModule): PolicyStep => ({
  kind: 'removeModule',
  phase: 'Removing',
  summary: `Remove cluster module ${module} of ${group}`,
  module,
});

/**
 * The finalizer goes when an observation shows that the rest has gone. What holds something stays: VMs in it may be
 * none of drover's.
 */
function planRemoval(
  { folder, resourcePool }: DesiredPolicy,
  modules: readonly RecordedModule[],
  places: readonly PolicyPlace[],
): PolicyPlan {
  const phase = 'Removing';
  const steps = modules.map(removeModule);
  const remove = (kind: 'removePool' | 'removeFolder', branch: PolicyBranch, named: string | undefined): void => {
    if (named === undefined || branch.child === null || !branch.isEmpty) return;
    const name = below(branch, named);
    const summary = `Remove ${kind === 'removePool' ? 'resource pool' : 'folder'} ${name}`;
    const step: PolicyStep = { kind, phase, summary, id: branch.child, name };
    if (!steps.some((other) => isSameThing(step, other))) steps.push(step);
  };
  for (const place of places) {
    remove('removePool', place.resourcePool, resourcePool?.name);
    remove('removeFolder', place.folder, folder ?? undefined);
  }
  if (steps.length > 0) return execute(steps);
  return execute([{ kind: 'removeFinalizer', phase, summary: 'Remove the finalizer of drover' }]);
}

/** What the object is to say of a plan; null: nothing. */
export function policyStatus(situation: PolicySituation, plan: PolicyPlan): PolicyStatus | null {
  const { desired, observed, settings } = situation;
  if (desired === null || plan.kind === 'execute' || (plan.kind === 'done' && plan.outcome === 'gone')) return null;
  const { generation, groups } = desired;
  const known = knownModules(situation);
  if (plan.kind === 'done' && plan.outcome === 'reconciled') {
    const { places, modules: there } = observed.inVcenter ?? { places: [], modules: [] };
    const modules = known.filter(({ group, module }) => groups.includes(group) && there.includes(module));
    return { modules, pools: poolsOf(places), made: generation, waitsFor: null };
  }
  const waitsFor = plan.message;
  if (settings.mode === 'act')
    return {
      waitsFor,
      ...(plan.reason === 'Cancelled' && { cancelled: generation }),
      ...(situation.memory.modules.length > 0 && { modules: known }),
    };
  // That the observation has failed changes nothing of what drover would do.
  return plan.kind === 'wait' ? null : { waitsFor, observed: generation };
}

/** Whether the object says so. */
export const isPolicySaid = (
  { recorded }: ObservedPolicy,
  { pools = recorded.pools, ...rest }: PolicyStatus,
): boolean =>
  hasSamePools(pools, recorded.pools) &&
  Object.entries(rest).every(
    ([field, value]) => JSON.stringify(recorded[field as keyof typeof recorded]) === JSON.stringify(value),
  );

/** Modules of the policy: what the object records, and what the run has made instead or besides. */
export const knownModules = ({
  observed: { recorded },
  memory,
}: Pick<PolicySituation, 'observed' | 'memory'>): RecordedModule[] => [
  ...recorded.modules.filter(
    ({ cluster, group }) => !memory.modules.some((made) => made.cluster === cluster && made.group === group),
  ),
  ...memory.modules,
];

/** Drops what is recorded by now, and what is gone. */
export const prunePolicy = (
  { modules }: PolicyMemory,
  { observed: { recorded, inVcenter } }: Pick<PolicySituation, 'observed'>,
): PolicyMemory => ({
  modules: modules.filter(
    ({ module }) =>
      !recorded.modules.some((one) => one.module === module) && inVcenter?.modules.includes(module) !== false,
  ),
});

/** Of zones in one cluster, the first. */
const poolsOf = (places: readonly PolicyPlace[]): RecordedPool[] => [
  ...new Map(
    places
      .toReversed()
      .flatMap(({ cluster, resourcePool: { child } }) =>
        cluster === null || child === null ? [] : [[cluster, { cluster, pool: child }] as const],
      ),
  ).values(),
];

const hasSamePools = (pools: readonly RecordedPool[], others: readonly RecordedPool[]): boolean =>
  pools.length === others.length &&
  pools.every(({ cluster, pool }) => others.some((other) => other.cluster === cluster && other.pool === pool));

const fewNames = 3;
const listFew = (names: readonly string[]): string =>
  `${names.slice(0, fewNames).join(', ')}${names.length > fewNames ? ` and ${names.length - fewNames} more` : ''}`;
