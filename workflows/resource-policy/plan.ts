import type {
  DesiredResourcePolicy,
  PolicyBranch,
  PolicyNote,
  PolicyPart,
  PolicyPlace,
  PolicyRemains,
  RecordedModule,
  RecordedPool,
  RecordedResourcePolicy,
  ResourcePolicyFacts,
} from '../../contracts/resource-policy/resource-policy.ts';

export interface ResourcePolicySeen {
  /** Null: there is no such object. */
  desired: DesiredResourcePolicy | null;
  recorded: RecordedResourcePolicy;
  /** VirtualMachines that name a policy which is being deleted. */
  usedBy: readonly string[];
  /** Null: vCenter is not needed for what comes next. */
  facts: ResourcePolicyFacts | null;
}

/** `words` and `for` are for people: what is done, and what it waits for. */
export type ResourcePolicyPlan =
  | { next: 'look' }
  | { next: 'make'; part: PolicyPart; words: string }
  | { next: 'remove'; part: PolicyRemains; words: string }
  | { next: 'note'; note: PolicyNote; words: string }
  | { next: 'wait'; for: string }
  | { next: 'done'; outcome: 'Settled' | 'Gone'; message: string };

/** The next step of a policy; each is looked at anew. Pure. */
export function planResourcePolicy({ desired, recorded, usedBy, facts }: ResourcePolicySeen): ResourcePolicyPlan {
  if (desired === null)
    return { next: 'done', outcome: 'Gone', message: 'There is no such VirtualMachineSetResourcePolicy' };
  if (desired.deleting) return planRemoval(desired, recorded, usedBy, facts);
  // Before anything is made: what is deleted in between would be left behind.
  if (!desired.isHeld) return { next: 'note', note: { finalizer: 'add' }, words: 'Put drover’s finalizer on it' };
  if (facts === null) return { next: 'look' };
  return (
    findMissing(desired, recorded, facts) ?? findLeftover(desired, recorded, facts) ?? settle(desired, recorded, facts)
  );
}

function findMissing(
  desired: DesiredResourcePolicy,
  recorded: RecordedResourcePolicy,
  { places, modules }: ResourcePolicyFacts,
): ResourcePolicyPlan | null {
  const { folder, resourcePool, groups } = desired;
  if (places.length === 0) return { next: 'wait', for: 'a zone to put it in: name one in the settings of its vCenter' };
  for (const place of places) {
    const problem = problemOf(desired, place);
    if (problem !== null) return { next: 'wait', for: problem };
    const { zone, cluster } = place;
    if (folder !== null && place.folder.parent !== null && place.folder.child === null)
      return {
        next: 'make',
        part: { make: 'folder', parent: place.folder.parent, name: folder },
        words: `Make folder ${below(place.folder, folder)}`,
      };
    const { parent, child, isAsWanted } = place.resourcePool;
    if (resourcePool !== null && parent !== null && (child === null || !isAsWanted)) {
      const { name, ...allocation } = resourcePool;
      return {
        next: 'make',
        part: { make: 'resourcePool', parent, cluster, name, allocation },
        words: `${child === null ? 'Make' : 'Change'} resource pool ${below(place.resourcePool, name)}`,
      };
    }
    const group =
      cluster === null
        ? undefined
        : groups.find(
            (one) =>
              !recorded.modules.some(
                (made) => made.cluster === cluster && made.group === one && modules.includes(made.module),
              ),
          );
    if (group !== undefined && cluster !== null)
      return {
        next: 'make',
        part: { make: 'module', cluster, group },
        words: `Make the cluster module of ${group} in zone ${zone}`,
      };
  }
  return null;
}

/** What somebody else has to make, in words; null: it is there. */
function problemOf({ folder, resourcePool, groups }: DesiredResourcePolicy, place: PolicyPlace): string | null {
  const { zone, cluster } = place;
  if (folder !== null && place.folder.parent === null)
    return `folder ${place.folder.path} of zone ${zone}: create it in vCenter, or correct the zone’s folder in the settings`;
  if ((resourcePool !== null || groups.length > 0) && place.resourcePool.parent === null)
    return `resource pool ${place.resourcePool.path} of zone ${zone}: create it in vCenter, or correct the zone’s resourcePool in the settings`;
  if (groups.length > 0 && cluster === null)
    return `the cluster of resource pool ${place.resourcePool.path} of zone ${zone}`;
  return null;
}

const below = ({ path }: PolicyBranch, name: string): string => `${path}/${name}`;

/** A module of a group that the policy does not have any more; the VMs in it are only no longer kept apart. */
function findLeftover(
  { groups }: DesiredResourcePolicy,
  { modules: recorded }: RecordedResourcePolicy,
  { modules }: ResourcePolicyFacts,
): ResourcePolicyPlan | null {
  const leftover = recorded.find(({ group, module }) => !groups.includes(group) && modules.includes(module));
  return leftover === undefined ? null : removeModule(leftover);
}

const removeModule = ({ group, module }: RecordedModule): ResourcePolicyPlan => ({
  next: 'remove',
  part: { remove: 'module', module },
  words: `Remove cluster module ${module} of ${group}`,
});

/** All is there: the object says so. */
function settle(
  { generation, groups }: DesiredResourcePolicy,
  recorded: RecordedResourcePolicy,
  { places, modules: there }: ResourcePolicyFacts,
): ResourcePolicyPlan {
  const modules = recorded.modules.filter(({ group, module }) => groups.includes(group) && there.includes(module));
  const pools = poolsOf(places);
  if (
    modules.length !== recorded.modules.length ||
    !isSame(pools, recorded.pools) ||
    recorded.made !== generation ||
    recorded.waitsFor !== null
  ) {
    return {
      next: 'note',
      note: { modules, pools, made: generation, waitsFor: null },
      words: 'Say in it that all is there',
    };
  }
  return { next: 'done', outcome: 'Settled', message: 'All of it is there' };
}

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

const isSame = (pools: readonly RecordedPool[], others: readonly RecordedPool[]): boolean =>
  pools.length === others.length &&
  pools.every(({ cluster, pool }) => others.some((other) => other.cluster === cluster && other.pool === pool));

/** Nothing that holds something is removed: in a folder or a pool there may be VMs that are none of drover's. */
function planRemoval(
  { isHeld, folder, resourcePool }: DesiredResourcePolicy,
  recorded: RecordedResourcePolicy,
  usedBy: readonly string[],
  facts: ResourcePolicyFacts | null,
): ResourcePolicyPlan {
  if (!isHeld) return { next: 'done', outcome: 'Gone', message: 'It is being deleted, and drover holds nothing of it' };
  if (usedBy.length > 0)
    return {
      next: 'wait',
      for: `${few(usedBy)} to be deleted: ${usedBy.length === 1 ? 'it names' : 'they name'} this policy`,
    };
  if (facts === null) return { next: 'look' };
  const module = recorded.modules.find((one) => facts.modules.includes(one.module));
  if (module !== undefined) return removeModule(module);
  for (const { resourcePool: pool, folder: made } of facts.places) {
    if (resourcePool !== null && pool.child !== null && pool.isEmpty)
      return {
        next: 'remove',
        part: { remove: 'resourcePool', id: pool.child, name: below(pool, resourcePool.name) },
        words: `Remove resource pool ${below(pool, resourcePool.name)}`,
      };
    if (folder !== null && made.child !== null && made.isEmpty)
      return {
        next: 'remove',
        part: { remove: 'folder', id: made.child, name: below(made, folder) },
        words: `Remove folder ${below(made, folder)}`,
      };
  }
  return { next: 'note', note: { finalizer: 'remove' }, words: 'Take drover’s finalizer off' };
}

const named = 3;
const few = (names: readonly string[]): string =>
  `${names.slice(0, named).join(', ')}${names.length > named ? ` and ${names.length - named} more` : ''}`;
