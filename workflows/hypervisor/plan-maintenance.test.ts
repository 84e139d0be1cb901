import type {
  DesiredHypervisor,
  HypervisorObservation,
  MaintenanceMode,
} from '../../contracts/hypervisor/hypervisor.ts';
import { nodeMarks } from '../../contracts/ids.ts';
import { beginRollingUpdate, forgetRollingUpdate, planMaintenance } from './plan-maintenance.ts';
import {
  aggregatesWith,
  contextOf,
  disabledFor,
  nodeOf,
  onboarding,
  ownEvictionOf,
} from '../../test/fixtures/workflows/hypervisor.ts';
import { shown } from '../../test/fixtures/workflows/hypervisor-plans.ts';
import type { Step } from './step.ts';

type Mode = Exclude<MaintenanceMode, '' | 'termination'>;
const updating = nodeOf({ cordoned: true, labels: { ...nodeOf().labels, [nodeMarks.selectedForUpdate]: 'true' } });
const empty = { nova: disabledFor('drover: maintenance'), evictions: [ownEvictionOf('succeeded')] };
const clear = 'act patch [{"annotations":{"drover.dev/rolling-update":null},"spec":{"maintenance":""}}]';
const failed = nodeOf({ cordoned: true, labels: { ...nodeOf().labels, [nodeMarks.updateResult]: 'failed' } });

const rows: [
  why: string,
  mode: Mode,
  desired: Partial<DesiredHypervisor>,
  observed: Partial<HypervisorObservation>,
  plan: string | RegExp,
][] = [
  ['an active host is disabled', 'manual', {}, {}, 'act disable "drover: maintenance manual"'],
  ['by whatever mode', 'ha', {}, {}, 'act disable "drover: maintenance ha"'],
  [
    'then emptied',
    'auto',
    {},
    { nova: disabledFor('drover: maintenance auto', { servers: 1 }) },
    'act createEviction node-1 rolling-update',
  ],
  [
    'then it is in maintenance',
    'manual',
    { maintenanceReason: 'disks' },
    empty,
    'done: node-1 is disabled and empty: disks',
  ],
  [
    'somebody else’s auto is theirs to end',
    'auto',
    {},
    { ...empty, node: nodeOf({ bootId: 'boot-2' }) },
    'done: node-1 is disabled and empty',
  ],
  [
    'a host that Nova does not know has nothing to empty',
    'manual',
    {},
    { nova: null },
    /^wait: spec.maintenance to be cleared/,
  ],
  [
    'its aggregates are kept meanwhile',
    'manual',
    {},
    { ...empty, aggregates: aggregatesWith('zone-a') },
    'act +tenants',
  ],
  [
    'a problem with them does not disturb the maintenance',
    'manual',
    { aggregates: ['nowhere'] },
    empty,
    'done: node-1 is disabled and empty',
  ],
  [
    'a rolling update is waited for',
    'auto',
    { rollingUpdateBootId: 'boot-1' },
    { ...empty, node: updating },
    /^wait: Node node-1 to come back from its update, with a new boot id/,
  ],
  ['a Node that is back ends it', 'auto', { rollingUpdateBootId: 'boot-0' }, empty, clear],
  [
    'also when it came back before the host was empty',
    'auto',
    { rollingUpdateBootId: 'boot-0' },
    { nova: disabledFor('drover: maintenance auto', { servers: 1 }), evictions: [ownEvictionOf('failed')] },
    clear,
  ],
  [
    'an update that failed leaves it',
    'auto',
    { rollingUpdateBootId: 'boot-0' },
    { ...empty, node: failed },
    /^rest: .*the update of its Node has failed/,
  ],
  [
    'a person who made it manual ends it',
    'manual',
    { rollingUpdateBootId: 'boot-0' },
    empty,
    'done: node-1 is disabled and empty',
  ],
];

test.each(rows)('%s', (_why, mode, desired, observed, plan) => {
  const text = shown(planMaintenance(contextOf({ maintenance: mode, ...desired }, observed), mode));
  if (typeof plan === 'string') expect(text).toBe(plan);
  else expect(text).toMatch(plan);
});

test('a host that was never onboarded keeps its aggregates', () => {
  expect(
    shown(
      planMaintenance(
        contextOf({ maintenance: 'manual' }, { ...empty, aggregates: aggregatesWith() }, [onboarding('aborted')]),
        'manual',
      ),
    ),
  ).toMatch(/^done/);
});

const step = (one: Step | null): string => (one === null ? 'nothing' : shown({ next: 'act', steps: [one] }));
const begins = 'act patch [{"annotations":{"drover.dev/rolling-update":"boot-1"},"spec":{"maintenance":"auto"}}]';

test.each<[why: string, desired: Partial<DesiredHypervisor>, observed: Partial<HypervisorObservation>, plan: string]>([
  ['an update of the Node begins a maintenance', {}, { node: updating }, begins],
  ['a cordon does not', {}, { node: nodeOf({ cordoned: true }) }, 'nothing'],
  ['not where there is one', { maintenance: 'manual' }, { node: updating }, 'nothing'],
  ['nor where nobody wants drover to drive it', { lifecycleEnabled: false }, { node: updating }, 'nothing'],
  ['nor again after a person ended it', { rollingUpdateBootId: 'boot-1' }, { node: updating }, 'nothing'],
  ['the next update does', { rollingUpdateBootId: 'boot-0' }, { node: updating }, begins],
])('%s', (_why, desired, observed, plan) => {
  expect(step(beginRollingUpdate(contextOf(desired, observed)))).toBe(plan);
});

test.each<[why: string, desired: Partial<DesiredHypervisor>, observed: Partial<HypervisorObservation>, plan: string]>([
  [
    'a maintenance that a person ended is forgotten once the update is over',
    { rollingUpdateBootId: 'boot-0' },
    {},
    'act patch [{"annotations":{"drover.dev/rolling-update":null}}]',
  ],
  ['not before', { rollingUpdateBootId: 'boot-1' }, { node: updating }, 'nothing'],
  ['not while it lasts', { rollingUpdateBootId: 'boot-0', maintenance: 'auto' }, {}, 'nothing'],
  ['there is none', {}, {}, 'nothing'],
])('%s', (_why, desired, observed, plan) => {
  expect(step(forgetRollingUpdate(contextOf(desired, observed)))).toBe(plan);
});
