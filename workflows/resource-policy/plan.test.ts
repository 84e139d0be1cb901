import type {
  DesiredResourcePolicy,
  PolicyPart,
  PolicyPlace,
  PolicyRemains,
  RecordedResourcePolicy,
  ResourcePolicyFacts,
} from '../../contracts/resource-policy/resource-policy.ts';
import { planResourcePolicy, type ResourcePolicyPlan, type ResourcePolicySeen } from './plan.ts';

const pool = { name: 'gold', reservationCores: 2, limitCores: null, reservationMiB: 1_024, limitMiB: null };
const { name: _, ...allocation } = pool;
const desired: DesiredResourcePolicy = {
  uid: 'uid-1',
  generation: 3,
  deleting: false,
  isHeld: true,
  folder: 'apart',
  resourcePool: pool,
  groups: ['web', 'db'],
};
const place: PolicyPlace = {
  zone: 'zone-1',
  cluster: 'domain-c1',
  folder: { path: '/DC0/vm/team-a', parent: 'group-v1', child: 'group-v2', isEmpty: true },
  resourcePool: {
    path: '/DC0/host/C0/Resources/team-a',
    parent: 'resgroup-1',
    child: 'resgroup-2',
    isEmpty: true,
    isAsWanted: true,
  },
};
const other: PolicyPlace = {
  ...place,
  zone: 'zone-2',
  cluster: 'domain-c2',
  resourcePool: { ...place.resourcePool, child: 'resgroup-4', parent: 'resgroup-3' },
};
const facts: ResourcePolicyFacts = { places: [place], modules: ['m-web', 'm-db', 'm-somebody'] };
const web = { cluster: 'domain-c1', group: 'web', module: 'm-web' };
const db = { cluster: 'domain-c1', group: 'db', module: 'm-db' };
const pools = [{ cluster: 'domain-c1', pool: 'resgroup-2' }];
const recorded: RecordedResourcePolicy = { modules: [web, db], pools, made: 3, observed: null, waitsFor: null };
const all: ResourcePolicySeen = { desired, recorded, usedBy: [], facts };

const withPlace = (change: Partial<PolicyPlace>): Partial<ResourcePolicySeen> => ({
  facts: { ...facts, places: [{ ...place, ...change }] },
});
const noFolder = { ...place.folder, child: null };
const noPool = { ...place.resourcePool, child: null };
const deleted = { ...desired, deleting: true };
const make = (part: PolicyPart, words: string): ResourcePolicyPlan => ({ next: 'make', part, words });
const remove = (part: PolicyRemains, words: string): ResourcePolicyPlan => ({ next: 'remove', part, words });

test.each<[rule: string, change: Partial<ResourcePolicySeen>, plan: ResourcePolicyPlan]>([
  ['all is there', {}, { next: 'done', outcome: 'Settled', message: 'All of it is there' }],
  [
    'no object',
    { desired: null },
    { next: 'done', outcome: 'Gone', message: 'There is no such VirtualMachineSetResourcePolicy' },
  ],
  [
    'no finalizer: that first, without a look',
    { desired: { ...desired, isHeld: false }, facts: null },
    { next: 'note', note: { finalizer: 'add' }, words: 'Put drover’s finalizer on it' },
  ],
  ['vCenter is looked at', { facts: null }, { next: 'look' }],
  [
    'no zones',
    { facts: { ...facts, places: [] } },
    { next: 'wait', for: 'a zone to put it in: name one in the settings of its vCenter' },
  ],
  [
    'the namespace has no folder',
    withPlace({ folder: { ...noFolder, parent: null } }),
    {
      next: 'wait',
      for: 'folder /DC0/vm/team-a of zone zone-1: create it in vCenter, or correct the zone’s folder in the settings',
    },
  ],
  [
    '… which is not needed',
    { ...withPlace({ folder: { ...noFolder, parent: null } }), desired: { ...desired, folder: null } },
    { next: 'done', outcome: 'Settled', message: 'All of it is there' },
  ],
  [
    'the namespace has no pool',
    withPlace({ resourcePool: { ...noPool, parent: null } }),
    {
      next: 'wait',
      for: 'resource pool /DC0/host/C0/Resources/team-a of zone zone-1: create it in vCenter, or correct the zone’s resourcePool in the settings',
    },
  ],
  [
    'the pool tells no cluster',
    withPlace({ cluster: null }),
    { next: 'wait', for: 'the cluster of resource pool /DC0/host/C0/Resources/team-a of zone zone-1' },
  ],
  [
    'no folder yet',
    withPlace({ folder: noFolder }),
    make({ make: 'folder', parent: 'group-v1', name: 'apart' }, 'Make folder /DC0/vm/team-a/apart'),
  ],
  [
    'no pool yet',
    withPlace({ resourcePool: noPool }),
    make(
      { make: 'resourcePool', parent: 'resgroup-1', cluster: 'domain-c1', name: 'gold', allocation },
      'Make resource pool /DC0/host/C0/Resources/team-a/gold',
    ),
  ],
  [
    'the pool has other amounts',
    withPlace({ resourcePool: { ...place.resourcePool, isAsWanted: false } }),
    make(
      { make: 'resourcePool', parent: 'resgroup-1', cluster: 'domain-c1', name: 'gold', allocation },
      'Change resource pool /DC0/host/C0/Resources/team-a/gold',
    ),
  ],
  [
    'a group without a module',
    { recorded: { ...recorded, modules: [web] } },
    make({ make: 'module', cluster: 'domain-c1', group: 'db' }, 'Make the cluster module of db in zone zone-1'),
  ],
  [
    'a module that is gone is made anew',
    { facts: { ...facts, modules: ['m-web'] } },
    make({ make: 'module', cluster: 'domain-c1', group: 'db' }, 'Make the cluster module of db in zone zone-1'),
  ],
  [
    'the next zone',
    { facts: { ...facts, places: [place, other] } },
    make({ make: 'module', cluster: 'domain-c2', group: 'web' }, 'Make the cluster module of web in zone zone-2'),
  ],
  [
    'two zones of one cluster share its modules',
    { facts: { ...facts, places: [place, { ...place, zone: 'zone-2' }] } },
    { next: 'done', outcome: 'Settled', message: 'All of it is there' },
  ],
  [
    'a group that is no more',
    { desired: { ...desired, groups: ['web'] } },
    remove({ remove: 'module', module: 'm-db' }, 'Remove cluster module m-db of db'),
  ],
  [
    '… and whose module is gone',
    { desired: { ...desired, groups: ['web'] }, facts: { ...facts, modules: ['m-web'] } },
    { next: 'note', note: { modules: [web], pools, made: 3, waitsFor: null }, words: 'Say in it that all is there' },
  ],
  [
    'another generation',
    { recorded: { ...recorded, made: 2 } },
    {
      next: 'note',
      note: { modules: [web, db], pools, made: 3, waitsFor: null },
      words: 'Say in it that all is there',
    },
  ],
  [
    'another pool than is said',
    { recorded: { ...recorded, pools: [] } },
    {
      next: 'note',
      note: { modules: [web, db], pools, made: 3, waitsFor: null },
      words: 'Say in it that all is there',
    },
  ],
  [
    'it waits for nothing any more',
    { recorded: { ...recorded, waitsFor: 'a zone' } },
    {
      next: 'note',
      note: { modules: [web, db], pools, made: 3, waitsFor: null },
      words: 'Say in it that all is there',
    },
  ],
  [
    'deleted, and not held',
    { desired: { ...deleted, isHeld: false } },
    { next: 'done', outcome: 'Gone', message: 'It is being deleted, and drover holds nothing of it' },
  ],
  [
    'deleted, and named by a VM',
    { desired: deleted, usedBy: ['web-1'], facts: null },
    { next: 'wait', for: 'web-1 to be deleted: it names this policy' },
  ],
  [
    'deleted, and named by many',
    { desired: deleted, usedBy: ['a', 'b', 'c', 'd'], facts: null },
    { next: 'wait', for: 'a, b, c and 1 more to be deleted: they name this policy' },
  ],
  ['deleted: looks', { desired: deleted, facts: null }, { next: 'look' }],
  [
    'deleted: its modules',
    { desired: deleted },
    remove({ remove: 'module', module: 'm-web' }, 'Remove cluster module m-web of web'),
  ],
  [
    'deleted: its pool',
    { desired: deleted, facts: { ...facts, modules: ['m-somebody'] } },
    remove(
      { remove: 'resourcePool', id: 'resgroup-2', name: '/DC0/host/C0/Resources/team-a/gold' },
      'Remove resource pool /DC0/host/C0/Resources/team-a/gold',
    ),
  ],
  [
    'deleted: its folder',
    { desired: deleted, facts: { modules: [], places: [{ ...place, resourcePool: noPool }] } },
    remove({ remove: 'folder', id: 'group-v2', name: '/DC0/vm/team-a/apart' }, 'Remove folder /DC0/vm/team-a/apart'),
  ],
  [
    'deleted: what holds something stays',
    {
      desired: deleted,
      facts: {
        modules: [],
        places: [
          {
            ...place,
            folder: { ...place.folder, isEmpty: false },
            resourcePool: { ...place.resourcePool, isEmpty: false },
          },
        ],
      },
    },
    { next: 'note', note: { finalizer: 'remove' }, words: 'Take drover’s finalizer off' },
  ],
  [
    'deleted, and all of it gone',
    { desired: deleted, facts: { modules: [], places: [{ ...place, folder: noFolder, resourcePool: noPool }] } },
    { next: 'note', note: { finalizer: 'remove' }, words: 'Take drover’s finalizer off' },
  ],
  [
    'deleted, and no zone left',
    { desired: deleted, facts: { modules: [], places: [] } },
    { next: 'note', note: { finalizer: 'remove' }, words: 'Take drover’s finalizer off' },
  ],
])('%s', (_rule, change, plan) => {
  expect(planResourcePolicy({ ...all, ...change })).toEqual(plan);
});
