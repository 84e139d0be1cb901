import type { Condition } from '../../contracts/conditions.ts';
import type {
  DesiredHypervisor,
  HypervisorObservation,
  MaintenanceMode,
} from '../../contracts/hypervisor/hypervisor.ts';
import { planEmptying } from './plan-emptying.ts';
import {
  beginMs,
  conditionOf,
  contextOf,
  disabledFor,
  minute,
  nodeOf,
  novaOf,
  onboarding,
  ownEvictionOf,
} from '../../test/fixtures/workflows/hypervisor.ts';
import { shown } from '../../test/fixtures/workflows/hypervisor-plans.ts';

interface Given extends Partial<HypervisorObservation> {
  mode?: Exclude<MaintenanceMode, ''>;
  before?: Condition;
  desired?: Partial<DesiredHypervisor>;
}
const ours = disabledFor('drover: maintenance manual', { servers: 2 });
const theirs = disabledFor('disk is broken', { servers: 2 });
const terminating = nodeOf({ terminatingSinceMs: beginMs });
const inTime = new Date(beginMs + 120 * minute).toISOString();

const rows: [why: string, given: Given, plan: string | RegExp][] = [
  [
    'scheduling stops first, with the mode and why',
    { desired: { maintenanceReason: 'new disks' } },
    'act disable "drover: maintenance manual: new disks"',
  ],
  [
    'whoever enables it meanwhile, it is disabled again (H11)',
    { nova: novaOf({ servers: 2 }), evictions: [ownEvictionOf('running')] },
    'act disable "drover: maintenance manual"',
  ],
  ['also once it is empty', { evictions: [ownEvictionOf('succeeded')] }, 'act disable "drover: maintenance manual"'],
  ['somebody else’s disable keeps their reason', { nova: theirs }, 'act createEviction node-1 admin'],
  ['servers of the tests are deleted, not moved', { nova: ours, testServers: ['t'] }, 'act deleteTestServers'],
  ['a person’s maintenance stops at obstacles', { nova: ours }, 'act createEviction node-1 admin'],
  ['a rolling update carries them along', { mode: 'auto', nova: ours }, 'act createEviction node-1 rolling-update'],
  ['a failing host too', { mode: 'ha', nova: ours }, 'act createEviction node-1 termination'],
  [
    'and a Node that terminates',
    { mode: 'termination', nova: ours, node: terminating },
    'act createEviction node-1 termination',
  ],
  [
    'a person’s decommissioning stops at them',
    { mode: 'termination', desired: { maintenance: 'termination' }, nova: ours },
    'act createEviction node-1 decommission',
  ],
  [
    'nothing can be moved off a host that is down',
    { mode: 'ha', nova: { ...ours, service: { ...ours.service, state: 'down' } } },
    /^wait: what becomes of a host that is down/,
  ],
  [
    'a name that is taken is left to its owner',
    { nova: ours, evictions: [ownEvictionOf('failed', { ownerUid: null })] },
    'act createEviction node-1-manual-1 admin',
  ],
  [
    'somebody else’s Eviction ends first',
    { nova: ours, evictions: [ownEvictionOf('running', { ownerUid: null, name: 'theirs' })] },
    'wait: Eviction theirs, which somebody else started, to end',
  ],
  [
    'its own is waited for',
    { nova: ours, evictions: [ownEvictionOf('running', { message: '1 of 2 servers have left' })] },
    'wait: Eviction node-1: 1 of 2 servers have left',
  ],
  [
    'a failed one stops',
    { nova: ours, evictions: [ownEvictionOf('failed', { message: 'no room' })] },
    'rest: Eviction node-1 has not emptied node-1: no room',
  ],
  [
    'a retry clears it away',
    { nova: ours, evictions: [ownEvictionOf('failed')], desired: { retry: 'now' } },
    'act deleteEviction',
  ],
  [
    'and makes another, once',
    { nova: ours, before: conditionOf('Evicting', 'Unknown', 'Failed'), desired: { retry: 'now' } },
    'act createEviction node-1 admin, patch [{"annotations":{"drover.dev/retry-handled":"now"}}]',
  ],
  [
    'one that is on its way out is waited for',
    { nova: ours, evictions: [ownEvictionOf('failed', { deleting: true })], desired: { retry: 'now' } },
    'wait: Eviction node-1 to be gone',
  ],
  [
    'a deleted one is not made again',
    { nova: ours, before: conditionOf('Evicting', 'True', 'Running') },
    'rest: The Eviction of node-1 was deleted before it had ended',
  ],
  [
    'unless somebody asks',
    { nova: ours, before: conditionOf('Evicting', 'Unknown', 'Stopped'), desired: { retry: 'now' } },
    /^act createEviction .*retry-handled/,
  ],
  [
    'what came after the Eviction is moved by another',
    { nova: ours, evictions: [ownEvictionOf('succeeded')] },
    'act deleteEviction',
  ],
  ['empty', { nova: disabledFor('drover: maintenance manual'), evictions: [ownEvictionOf('succeeded')] }, 'nothing'],
  ['Nova has no such host', { nova: null }, 'nothing'],
  [
    'the deadline goes along',
    { mode: 'termination', nova: ours, node: terminating, evictions: [ownEvictionOf('running', { deadline: inTime })] },
    'wait: Eviction node-1: running so far',
  ],
  [
    'an Eviction from before is told',
    { mode: 'termination', nova: ours, node: terminating, evictions: [ownEvictionOf('running')] },
    `act deadline ${inTime}`,
  ],
  [
    'and when it comes nearer',
    {
      mode: 'termination',
      nova: ours,
      node: nodeOf({ terminatingSinceMs: beginMs, ready: false, readySinceMs: beginMs + minute }),
      evictions: [ownEvictionOf('running', { deadline: inTime })],
    },
    `act deadline ${new Date(beginMs + 6 * minute).toISOString()}`,
  ],
  [
    'not when it is farther off',
    {
      mode: 'termination',
      nova: ours,
      node: terminating,
      evictions: [ownEvictionOf('running', { deadline: '2026-01-01T00:06:00Z' })],
    },
    'wait: Eviction node-1: running so far',
  ],
];

test.each(rows)('%s', (_why, { mode = 'manual', before, desired, ...observed }, plan) => {
  const context = contextOf({ maintenance: mode, ...desired }, observed, [
    onboarding('succeeded'),
    ...(before === undefined ? [] : [before]),
  ]);
  const text = shown(
    planEmptying(
      mode === 'termination' && desired?.maintenance === undefined
        ? { ...context, desired: { ...context.desired, maintenance: '' } }
        : context,
      mode,
    ),
  );
  if (typeof plan === 'string') expect(text).toBe(plan);
  else expect(text).toMatch(plan);
});

test('an Eviction carries its owner, its deadline and the labels, and does not enable the host', () => {
  const context = contextOf(
    { maintenanceReason: 'gone', labels: { 'kubernetes.io/hostname': 'node-1', other: 'x' } },
    { nova: ours, node: terminating },
  );
  const plan = planEmptying(context, 'termination');
  expect(plan?.next === 'act' && plan.steps[0]?.do === 'createEviction' ? plan.steps[0].eviction : null).toEqual({
    name: 'node-1',
    hypervisor: 'node-1',
    ownerUid: 'hv-1',
    reason: 'Hypervisor node-1: maintenance termination: gone',
    cause: 'termination',
    deadline: inTime,
    reEnable: false,
    labels: { 'kubernetes.io/hostname': 'node-1' },
  });
});
