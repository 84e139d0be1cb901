import { readFileSync } from 'node:fs';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { fileURLToPath } from 'node:url';
import { readCorpus } from '../replay/corpus.ts';
import { workflowTypes } from '../../contracts/ids.ts';
import { budgetOf, largestBudget } from './budget-of.ts';
import { budgets } from './budgets.ts';
import { costOf, countCalls, countsOf, excesses } from './cost.ts';
import { renderBudgets } from './render.ts';

test('every recorded run is within its budget', () => {
  const used = new Set<string>();
  for (const { name: run, history, calls } of readCorpus()) {
    const name = budgetOf(history);
    if (name === null) throw new Error(`${run} is of a workflow without a budget`);
    used.add(name);
    expect({
      run,
      excesses: excesses(costOf(history, calls === undefined ? undefined : countsOf(calls)), budgets[name]),
    }).toEqual({ run, excesses: [] });
  }
  // The flows have bigger ones of the first; a migration that went well at once is within the budget of one that did
  // not; of the last none is recorded: every flow is held to them by the invariants.
  const isElsewhere = (name: string): boolean => ['largeEviction', 'migration', 'librarySync'].includes(name);
  expect([...used].filter((name) => !isElsewhere(name)).toSorted()).toEqual(
    Object.keys(budgets)
      .filter((name) => !isElsewhere(name))
      .toSorted(),
  );
});

test('what is above the budget is named', () => {
  const budget = { title: 'a run', events: 10, activityCalls: 2, calls: { nova: 3 } };
  expect(excesses({ events: 10, activityCalls: 2, calls: new Map([['nova', 3]]) }, budget)).toEqual([]);
  expect(excesses({ events: 11, activityCalls: 2, writesDigest: true }, budget)).toEqual([]);
  expect(excesses({ events: 12, activityCalls: 2, writesDigest: true }, budget)).toEqual([
    '12 events, 11 are in the budget',
  ]);
  expect(
    excesses(
      {
        events: 11,
        activityCalls: 3,
        calls: new Map([
          ['nova', 4],
          ['placement', 1],
        ]),
      },
      budget,
    ),
  ).toEqual([
    '11 events, 10 are in the budget',
    '3 activity calls, 2 are in the budget',
    '4 calls of nova, 3 are in the budget',
    '1 calls of placement, 0 are in the budget',
  ]);
  expect(
    excesses({ events: 10, activityCalls: 2, calls: new Map([['nova', 400]]) }, { ...budget, calls: null }),
  ).toEqual([]);
});

const history = (
  type: string,
  activities: readonly string[],
  { signals = 1, fails = false, moves = 0, outcome = 'Succeeded' } = {},
): History => ({
  events: [
    { workflowExecutionStartedEventAttributes: { workflowType: { name: type } } },
    ...Array.from({ length: signals }, () => ({ workflowExecutionSignaledEventAttributes: {} })),
    ...activities.map((name) => ({ activityTaskScheduledEventAttributes: { activityType: { name } } })),
    ...(fails ? [{ activityTaskFailedEventAttributes: {} }] : []),
    ...Array.from({ length: moves }, () => ({ startChildWorkflowExecutionInitiatedEventAttributes: {} })),
    {
      workflowExecutionCompletedEventAttributes: {
        result: { payloads: [{ data: Buffer.from(JSON.stringify({ outcome })) }] },
      },
    },
  ],
});
const vm = 'reconcileVirtualMachine';
test.each<[what: string, run: History, budget: string | null]>([
  [
    'a VM is made',
    history(vm, ['observeVirtualMachine', 'patchVirtualMachine', 'submitNewVm', 'submitPower']),
    'vmCreate',
  ],
  [
    'a VM is made when its class has come',
    history(vm, ['patchVirtualMachine', 'submitNewVm'], { signals: 2 }),
    'vmAwaited',
  ],
  ['a VM is powered off', history(vm, ['observeVirtualMachine', 'submitPower']), 'vmUpdate'],
  [
    'a VM is powered off, and gets another class',
    history(vm, ['observeVirtualMachine', 'submitPower', 'submitReconfigure']),
    'vmLargeUpdate',
  ],
  ['its guest refuses', history(vm, ['observeVirtualMachine', 'submitPower'], { fails: true }), 'vmRefused'],
  ['its guest is asked again', history(vm, ['submitPower', 'submitPower'], { fails: true }), 'vmAsked'],
  ['its guest is set up as it is made', history(vm, ['submitNewVm', 'submitBootstrap']), 'vmCustomized'],
  ['its guest is set up anew', history(vm, ['submitBootstrap', 'submitPower']), 'vmSetUp'],
  ['it gets a volume', history(vm, ['submitNewVm', 'changeVolumes']), 'vmVolumes'],
  ['it gets it anew', history(vm, ['submitNewVm', 'changeVolumes', 'changeVolumes']), 'vmVolumesAgain'],
  [
    'a VM with instance storage is made',
    history(vm, ['changeVolumes', 'patchVirtualMachine', 'changeVolumes', 'submitNewVm']),
    'vmInstanceStorage',
  ],
  ['vCenter is away', history(vm, ['readVirtualMachine', 'readVirtualMachine', 'submitDestroy']), 'vmOutage'],
  ['a VM is taken over', history(vm, ['submitAdoption', 'submitPower']), 'vmAdopted'],
  ['a VM is deleted', history(vm, ['submitPower', 'submitDestroy']), 'vmDelete'],
  [
    'a VM is not wanted any more',
    history(vm, ['submitNewVm', 'stopCreate', 'submitDestroy'], { signals: 2 }),
    'vmUnwanted',
  ],
  ['a VM is only observed', history(vm, ['observeVirtualMachine']), 'vmObservation'],
  [
    'a VM is made of cached files',
    history(vm, ['observeVirtualMachine', 'submitFileOperation', 'submitNewVm']),
    'vmCopied',
  ],
  ['a VM acquires a slot', history('allocateAllowance', ['observeSlots']), 'slots'],
  ['migrations are allocated', history('allocateAllowance', ['observeAllowance']), 'allowance'],
  [
    'a host is taken into service',
    history('reconcileHypervisor', ['observeHypervisor', 'createHypervisor', 'changeAggregates']),
    'onboarding',
  ],
  [
    'a host is taken into service by a second run',
    history('reconcileHypervisor', ['observeHypervisor', 'changeAggregates', 'changeAggregates']),
    'onboarding',
  ],
  [
    'a host is put into an aggregate again',
    history('reconcileHypervisor', ['observeHypervisor', 'changeAggregates']),
    'mended',
  ],
  ['a retry is taken up', history('reconcileHypervisor', ['observeHypervisor', 'observeHypervisor']), 'mended'],
  ['hosts are compared with what they say', history('findDrift', ['findDrift']), 'drift'],
  ['guests are listened to', history('watchGuests', ['watchGuests', 'watchGuests']), 'guestWatch'],
  ['an eviction', history('evictHypervisor', ['openEviction']), 'eviction'],
  [
    'an eviction that moves one server of two',
    history('evictHypervisor', ['openEviction', 'preflightEviction'], { moves: 2, outcome: 'blocked' }),
    'eviction',
  ],
  [
    'an eviction of a host that holds something which never goes',
    history('evictHypervisor', ['openEviction', 'preflightEviction'], { outcome: 'blocked' }),
    'vainEviction',
  ],
  [
    'a stopped server moves',
    history('migrateInstance', ['startColdMigration', 'confirmMigration']),
    'retriedMigration',
  ],
  [
    'a running one moves cold at last',
    history('migrateInstance', ['startLiveMigration', 'startColdMigration', 'confirmMigration']),
    'consentedMigration',
  ],
  [
    'a migration is forced to finish',
    history('migrateInstance', [
      'startLiveMigration',
      'abortMigration',
      'startLiveMigration',
      'forceCompleteMigration',
    ]),
    'consentedMigration',
  ],
  [
    'a host goes for good as it is emptied for maintenance',
    history('reconcileHypervisor', ['createEviction', 'setEvictionDeadline', 'ensureServiceDeleted']),
    'terminatedWhileEmptied',
  ],
  [
    'a host goes for good, with what was left of it',
    history('reconcileHypervisor', ['releaseAllocations', 'ensureServiceDeleted']),
    'leftovers',
  ],
  [
    'a policy gets what it names',
    history('reconcileSetResourcePolicy', ['observeResourcePolicy', 'changePolicyInVcenter']),
    'policyMade',
  ],
  [
    'a policy goes',
    history('reconcileSetResourcePolicy', ['changePolicyInVcenter', 'patchPolicyFinalizer', 'patchPolicyFinalizer']),
    'policyRemoved',
  ],
  ['a sweep finds nothing', history('sweepOrphans', ['observeSweep']), 'sweepObservation'],
  ['a sweep marks Nodes', history('sweepOrphans', ['observeSweep', 'annotateNodes']), 'sweepNodes'],
  ['a sweep looks again', history('sweepOrphans', ['observeSweep', 'observeSweep']), 'sweepRetried'],
  ['orphans are deleted', history('sweepOrphans', ['observeSweep', 'deleteOrphan', 'observeSweep']), 'sweepDeletion'],
  [
    'many orphans are deleted, which a user has approved of',
    history('sweepOrphans', ['observeSweep', 'publishSweep', 'observeSweep', 'deleteOrphan', 'observeSweep']),
    'sweepApproval',
  ],
  ['an unknown workflow', history('somethingElse', []), null],
])('%s: by that it is known which budget it has', (_, run, budget) => {
  expect(budgetOf(run)).toBe(budget);
});

test('calls are counted by run and system', () => {
  const line = (workflowId: string | undefined, system: string, runId = 'r1'): string =>
    JSON.stringify({ level: 'debug', workflowId, runId, system, verb: 'GET /servers/{id}', outcome: 'ok' });
  const log = [
    line('eviction/a', 'nova'),
    line('eviction/a', 'nova', 'r2'),
    line('migration/b', 'kubernetes'),
    line(undefined, 'nova'),
    '{"msg":"ready"}',
    '',
  ].join('\n');
  expect(countCalls(log)).toEqual(
    new Map([
      ['eviction/a', new Map([['nova', 2]])],
      ['migration/b', new Map([['kubernetes', 1]])],
    ]),
  );
  expect(countCalls(log, 'runId')).toEqual(
    new Map([
      [
        'r1',
        new Map([
          ['nova', 1],
          ['kubernetes', 1],
        ]),
      ],
      ['r2', new Map([['nova', 1]])],
    ]),
  );
});

test('every type of workflow has a budget', () => {
  const limits = Object.values(workflowTypes).map((type) => [type, largestBudget(type)] as const);
  expect(limits.filter(([, events]) => events === null)).toEqual([]);
  expect(Object.fromEntries(limits)).toMatchObject({
    reconcileHypervisor: 345,
    reconcileVirtualMachine: 190,
    findDrift: 14,
    requestSweep: 13,
    sweepOrphans: 150,
  });
  expect(largestBudget('somethingElse')).toBeNull();
});

test('docs/limits.md shows them', () => {
  const page = readFileSync(fileURLToPath(new URL('../../docs/limits.md', import.meta.url)), 'utf8');
  expect(page).toContain(renderBudgets(Object.values(budgets)));
});
