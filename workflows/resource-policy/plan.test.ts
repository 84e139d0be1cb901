import type {
  DesiredPolicy,
  ObservedPolicy,
  PolicyInVcenter,
  PolicyPlace,
  PolicyStatus,
  RecordedPolicy,
} from '../../contracts/resource-policy/resource-policy.ts';
import { done, execute, type Plan, wait } from '../lib/plan.ts';
import {
  isPolicySaid,
  needsVcenter,
  planPolicy,
  type PolicySituation,
  policyStatus,
  type PolicyStep,
  prunePolicy,
} from './plan.ts';

const pool = { name: 'gold', reservationCores: 2, limitCores: null, reservationMiB: 1_024, limitMiB: null };
const { name: _, ...allocation } = pool;
const desired: DesiredPolicy = {
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
const inVcenter: PolicyInVcenter = { places: [place], modules: ['m-web', 'm-db', 'm-foreign'] };
const web = { cluster: 'domain-c1', group: 'web', module: 'm-web' };
const db = { cluster: 'domain-c1', group: 'db', module: 'm-db' };
const pools = [{ cluster: 'domain-c1', pool: 'resgroup-2' }];
const recorded: RecordedPolicy = {
  modules: [web, db],
  pools,
  made: 3,
  observed: null,
  cancelled: null,
  waitsFor: null,
};
const settings = { vcenter: 'vc', mode: 'act', recheckMs: 1, lingerMs: 1, publishMinMs: 1 } as const;

type Change = Partial<Pick<PolicySituation, 'desired' | 'settings' | 'memory'> & ObservedPolicy>;
const situation = ({ recorded: said, usedBy = [], inVcenter: there, ...rest }: Change): PolicySituation => ({
  input: { namespace: 'team', name: 'apart' },
  desired,
  observed: { recorded: said ?? recorded, usedBy, inVcenter: there === undefined ? inVcenter : there },
  settings,
  memory: { modules: [] },
  inFlight: new Set(),
  askedMs: 0,
  nowMs: 0,
  ...rest,
});

const withPlace = (change: Partial<PolicyPlace>): Change => ({
  inVcenter: { ...inVcenter, places: [{ ...place, ...change }] },
});
const noFolder = { ...place.folder, child: null };
const noPool = { ...place.resourcePool, child: null };
const unheld = { ...desired, isHeld: false };
const deleted = { ...desired, deleting: true };
const observing = { ...settings, mode: 'observe' } as const;
const makes = (...steps: [summary: string, change: Omit<PolicyStep, 'phase' | 'summary'>][]): Plan<PolicyStep> =>
  execute(steps.map(([summary, change]) => ({ phase: 'Making', summary, ...change }) as PolicyStep));
const removes = (...steps: [summary: string, change: Omit<PolicyStep, 'phase' | 'summary'>][]): Plan<PolicyStep> =>
  execute(steps.map(([summary, change]) => ({ phase: 'Removing', summary, ...change }) as PolicyStep));

const finalizer: Parameters<typeof makes>[0] = ['Add the finalizer of drover', { kind: 'addFinalizer' }];
const released = removes(['Remove the finalizer of drover', { kind: 'removeFinalizer' }]);
const folder: Parameters<typeof makes>[0] = [
  'Make folder /DC0/vm/team-a/apart',
  { kind: 'makeFolder', parent: 'group-v1', name: 'apart' } as PolicyStep,
];
const poolStep = (verb: string): Parameters<typeof makes>[0] => [
  `${verb} resource pool /DC0/host/C0/Resources/team-a/gold`,
  { kind: 'makePool', parent: 'resgroup-1', cluster: 'domain-c1', name: 'gold', allocation } as PolicyStep,
];
const module = (group: string, zone = 1): Parameters<typeof makes>[0] => [
  `Make the cluster module of ${group} in zone zone-${zone}`,
  { kind: 'makeModule', cluster: `domain-c${zone}`, group } as PolicyStep,
];
const noModule = (group: string): Parameters<typeof makes>[0] => [
  `Remove cluster module m-${group} of ${group}`,
  { kind: 'removeModule', module: `m-${group}` } as PolicyStep,
];
const noPoolStep: Parameters<typeof makes>[0] = [
  'Remove resource pool /DC0/host/C0/Resources/team-a/gold',
  { kind: 'removePool', id: 'resgroup-2', name: '/DC0/host/C0/Resources/team-a/gold' } as PolicyStep,
];
const noFolderStep: Parameters<typeof makes>[0] = [
  'Remove folder /DC0/vm/team-a/apart',
  { kind: 'removeFolder', id: 'group-v2', name: '/DC0/vm/team-a/apart' } as PolicyStep,
];
const removing = (plan: Plan<PolicyStep>): Plan<PolicyStep> =>
  plan.kind === 'execute' ? { ...plan, steps: plan.steps.map((step) => ({ ...step, phase: 'Removing' })) } : plan;
const reconciled = done('reconciled', 'Reconciled', 'All of it is there');
const missing = (problem: string): Plan<PolicyStep> => wait('Making', 'ParentNotFound', problem);
const noParent =
  'folder /DC0/vm/team-a of zone zone-1: create it in vCenter, or correct the zone’s folder in the settings';

test.each<[rule: string, change: Change, plan: Plan<PolicyStep>]>([
  ['all is there', {}, reconciled],
  [
    'no object',
    { desired: null, inVcenter: null },
    done('gone', 'NotFound', 'There is no such VirtualMachineSetResourcePolicy'),
  ],
  ['no finalizer: that first', { desired: unheld, ...withPlace({ folder: noFolder }) }, makes(finalizer, folder)],
  ['… and it alone, where all else is there', { desired: unheld }, makes(finalizer)],
  [
    'a policy that is only observed is not held',
    { desired: unheld, settings: observing, ...withPlace({ folder: noFolder }) },
    makes(folder),
  ],
  [
    'no zones',
    { inVcenter: { ...inVcenter, places: [] } },
    wait('Making', 'NoZone', 'a zone to put it in: name one in the settings of its vCenter'),
  ],
  ['the namespace has no folder', withPlace({ folder: { ...noFolder, parent: null } }), missing(noParent)],
  [
    '… which is not needed',
    { ...withPlace({ folder: { ...noFolder, parent: null } }), desired: { ...desired, folder: null } },
    reconciled,
  ],
  [
    '… in the second zone: the first one is made',
    {
      inVcenter: {
        ...inVcenter,
        places: [
          { ...place, folder: noFolder },
          { ...other, folder: { ...noFolder, parent: null } },
        ],
      },
    },
    makes(folder),
  ],
  [
    'the namespace has no pool',
    withPlace({ resourcePool: { ...noPool, parent: null } }),
    missing(
      'resource pool /DC0/host/C0/Resources/team-a of zone zone-1: create it in vCenter, or correct the zone’s resourcePool in the settings',
    ),
  ],
  [
    'no host says how fast its cores are: 0 MHz is no limit that anybody asked for',
    withPlace({ resourcePool: { ...noPool, lacksSpeed: true } }),
    missing(
      'a host of resource pool /DC0/host/C0/Resources/team-a of zone zone-1 that says how fast its cores are, as the policy counts in them: add one to its cluster, or let drover’s account read it',
    ),
  ],
  [
    'the pool tells no cluster',
    withPlace({ cluster: null }),
    missing('the cluster of resource pool /DC0/host/C0/Resources/team-a of zone zone-1'),
  ],
  ['no folder yet', withPlace({ folder: noFolder }), makes(folder)],
  ['no pool yet', withPlace({ resourcePool: noPool }), makes(poolStep('Make'))],
  [
    'the pool has other amounts',
    withPlace({ resourcePool: { ...place.resourcePool, isAsWanted: false } }),
    makes(poolStep('Change')),
  ],
  ['a group without a module', { recorded: { ...recorded, modules: [web] } }, makes(module('db'))],
  ['… which this run has made', { recorded: { ...recorded, modules: [web] }, memory: { modules: [db] } }, reconciled],
  ['a module that is gone is made anew', { inVcenter: { ...inVcenter, modules: ['m-web'] } }, makes(module('db'))],
  [
    'nothing yet: all of it, one after the other',
    {
      desired: unheld,
      recorded: { ...recorded, modules: [] },
      ...withPlace({ folder: noFolder, resourcePool: noPool }),
    },
    makes(finalizer, folder, poolStep('Make'), module('web'), module('db')),
  ],
  ['the next zone', { inVcenter: { ...inVcenter, places: [place, other] } }, makes(module('web', 2), module('db', 2))],
  [
    'two zones of one cluster share its modules',
    { inVcenter: { ...inVcenter, places: [place, { ...place, zone: 'zone-2' }] } },
    reconciled,
  ],
  [
    '… and what they have in common is made once',
    {
      recorded: { ...recorded, modules: [] },
      inVcenter: {
        ...inVcenter,
        places: ['zone-1', 'zone-2'].map((zone) => ({ ...place, zone, folder: noFolder, resourcePool: noPool })),
      },
    },
    makes(folder, poolStep('Make'), module('web'), module('db')),
  ],
  ['a group that is no more', { desired: { ...desired, groups: ['web'] } }, removing(makes(noModule('db')))],
  [
    '… and whose module is gone',
    { desired: { ...desired, groups: ['web'] }, inVcenter: { ...inVcenter, modules: ['m-web'] } },
    reconciled,
  ],
  [
    'deleted, and not held',
    { desired: { ...deleted, isHeld: false }, inVcenter: null },
    done('gone', 'Released', 'It is being deleted, and drover holds nothing of it'),
  ],
  [
    'deleted, and named by a VM',
    { desired: deleted, usedBy: ['web-1'], inVcenter: null },
    wait('Removing', 'InUse', 'web-1 to be deleted: it names this policy'),
  ],
  [
    'deleted, and named by many',
    { desired: deleted, usedBy: ['a', 'b', 'c', 'd'], inVcenter: null },
    wait('Removing', 'InUse', 'a, b, c and 1 more to be deleted: they name this policy'),
  ],
  [
    'deleted: its modules, its pool, its folder',
    { desired: deleted },
    removes(noModule('web'), noModule('db'), noPoolStep, noFolderStep),
  ],
  [
    'deleted: a module that is not recorded, too',
    { desired: deleted, recorded: { ...recorded, modules: [web] }, memory: { modules: [db] } },
    removes(noModule('web'), noModule('db'), noPoolStep, noFolderStep),
  ],
  [
    'deleted: what two zones have in common goes once',
    { desired: deleted, inVcenter: { modules: [], places: [place, { ...place, zone: 'zone-2' }] } },
    removes(noPoolStep, noFolderStep),
  ],
  [
    'deleted: what holds something stays',
    {
      desired: deleted,
      inVcenter: {
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
    released,
  ],
  [
    'deleted, and what another policy names too',
    {
      desired: { ...deleted, folder: null, resourcePool: null },
      inVcenter: { modules: [], places: [{ ...place, folder: noFolder, resourcePool: noPool }] },
    },
    released,
  ],
  [
    'deleted, and all of it gone',
    {
      desired: deleted,
      inVcenter: { modules: [], places: [{ ...place, folder: noFolder, resourcePool: noPool }] },
    },
    released,
  ],
  ['deleted, and no zone left', { desired: deleted, inVcenter: { modules: [], places: [] } }, released],
])('%s', (_rule, change, plan) => {
  expect(planPolicy(situation(change))).toEqual(plan);
});

test.each<[rule: string, change: Change, isNeeded: boolean]>([
  ['no object', { desired: null }, false],
  ['an object', {}, true],
  ['an object without a finalizer', { desired: unheld }, true],
  ['a deleted one', { desired: deleted }, true],
  ['a deleted one that is in use', { desired: deleted, usedBy: ['web-1'] }, false],
  ['a deleted one that is not held', { desired: { ...deleted, isHeld: false } }, false],
])('vCenter is observed for %s: %p', (_rule, change, isNeeded) => {
  expect(needsVcenter(situation(change))).toBe(isNeeded);
});

const madeStatus = { modules: [web, db], pools, made: 3, waitsFor: null };
const waits = wait('Making', 'NoZone', 'a zone');
const cancelled = done('blocked', 'Cancelled', 'The run was cancelled');
const intent = done('blocked', 'ObserveOnly', 'drover only observes. It would: Make folder');

test.each<[rule: string, plan: Plan<PolicyStep>, change: Change, status: PolicyStatus | null, isSaid: boolean | null]>([
  ['all is there', reconciled, {}, madeStatus, true],
  ['another generation', reconciled, { recorded: { ...recorded, made: 2 } }, madeStatus, false],
  ['another pool than is said', reconciled, { recorded: { ...recorded, pools: [] } }, madeStatus, false],
  ['it waits for nothing any more', reconciled, { recorded: { ...recorded, waitsFor: 'a zone' } }, madeStatus, false],
  ['it was cancelled before', reconciled, { recorded: { ...recorded, made: null, cancelled: 3 } }, madeStatus, false],
  [
    'a module of a group that is no more is gone',
    reconciled,
    { desired: { ...desired, groups: ['web'] }, inVcenter: { ...inVcenter, modules: ['m-web'] } },
    { ...madeStatus, modules: [web] },
    false,
  ],
  [
    'a module whose record failed',
    reconciled,
    { recorded: { ...recorded, modules: [web] }, memory: { modules: [db] } },
    madeStatus,
    false,
  ],
  ['it executes', makes(finalizer), {}, null, null],
  ['there is no object', reconciled, { desired: null }, null, null],
  ['it is gone', done('gone', 'Released', 'Gone'), { desired: deleted }, null, null],
  ['it waits', waits, {}, { waitsFor: 'a zone' }, false],
  ['it waits as before', waits, { recorded: { ...recorded, waitsFor: 'a zone' } }, { waitsFor: 'a zone' }, true],
  [
    'it waits, and a record has failed',
    waits,
    { recorded: { ...recorded, modules: [web] }, memory: { modules: [db] } },
    { waitsFor: 'a zone', modules: [web, db] },
    false,
  ],
  ['it is cancelled', cancelled, {}, { waitsFor: 'The run was cancelled', cancelled: 3 }, false],
  [
    'it is cancelled, and a record has failed',
    cancelled,
    { recorded: { ...recorded, modules: [{ ...web, module: 'm-gone' }] }, memory: { modules: [web] } },
    { waitsFor: 'The run was cancelled', cancelled: 3, modules: [web] },
    false,
  ],
  ['it is only observed', intent, { settings: observing }, { waitsFor: intent.message, observed: 3 }, false],
  [
    '… and says so',
    intent,
    { settings: observing, recorded: { ...recorded, made: null, observed: 3, waitsFor: intent.message } },
    { waitsFor: intent.message, observed: 3 },
    true,
  ],
  ['… and its observation has failed', waits, { settings: observing }, null, null],
])('status, where %s', (_rule, plan, change, status, isSaid) => {
  const given = situation(change);
  expect(policyStatus(given, plan)).toEqual(status);
  expect(status === null ? null : isPolicySaid(given.observed, status)).toBe(isSaid);
});

test.each<[rule: string, change: Change, modules: string[]]>([
  ['a module that is not recorded stays', { recorded: { ...recorded, modules: [web] } }, ['m-db']],
  ['one that is recorded goes', {}, []],
  [
    'one that is gone from vCenter goes',
    { recorded: { ...recorded, modules: [web] }, inVcenter: { ...inVcenter, modules: ['m-web'] } },
    [],
  ],
  ['where vCenter was not asked it stays', { recorded: { ...recorded, modules: [web] }, inVcenter: null }, ['m-db']],
])('memory: %s', (_rule, change, modules) => {
  expect(prunePolicy({ modules: [db] }, situation(change)).modules.map((one) => one.module)).toEqual(modules);
});
