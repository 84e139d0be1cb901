import type { Condition } from '../../contracts/conditions.ts';
import type { DesiredHypervisor, HypervisorObservation } from '../../contracts/hypervisor/hypervisor.ts';
import { judgeLifecycle, judgeState } from './judge-lifecycle.ts';
import { contextOf, disabledFor, nodeOf, onboarding, ownEvictionOf } from '../../test/fixtures/workflows/hypervisor.ts';
import { act, done, rest, wait } from './step.ts';

const bare = disabledFor('drover: maintenance manual');

const rows: [
  why: string,
  conditions: Condition[],
  desired: Partial<DesiredHypervisor>,
  observed: Partial<HypervisorObservation>,
  state: string,
][] = [
  ['a new Node', [], {}, {}, 'Initial'],
  ['registration, aggregates, traits', [onboarding('initial')], {}, {}, 'Onboarding'],
  ['the checks', [onboarding('testing')], {}, {}, 'Testing'],
  ['they failed', [onboarding('aborted')], {}, {}, 'Aborted'],
  ['they have passed', [onboarding('handover')], {}, {}, 'Ready'],
  ['on its way back from maintenance', [onboarding('succeeded')], {}, { nova: bare }, 'Maintenance'],
  ['not enabled, for another reason', [onboarding('succeeded')], {}, { nova: disabledFor('broken') }, 'Ready'],
  ['enabled', [onboarding('succeeded')], {}, {}, 'Active'],
  ['Nova has lost it', [onboarding('succeeded')], {}, { nova: null }, 'Ready'],
  ['a maintenance begins', [onboarding('succeeded')], { maintenance: 'manual' }, {}, 'Evicting'],
  [
    'and is being emptied',
    [onboarding('succeeded')],
    { maintenance: 'auto' },
    { nova: bare, evictions: [ownEvictionOf('running')] },
    'Evicting',
  ],
  [
    'empty',
    [onboarding('succeeded')],
    { maintenance: 'ha' },
    { nova: bare, evictions: [ownEvictionOf('succeeded')] },
    'Maintenance',
  ],
  [
    'a failed eviction is no maintenance (H10)',
    [onboarding('succeeded')],
    { maintenance: 'manual' },
    { nova: bare, evictions: [ownEvictionOf('failed')] },
    'Evicting',
  ],
  [
    'a maintenance before the tests have ended',
    [onboarding('testing')],
    { maintenance: 'manual' },
    { nova: bare, evictions: [ownEvictionOf('succeeded')] },
    'Maintenance',
  ],
  ['one before Nova knows the host', [onboarding('initial')], { maintenance: 'manual' }, { nova: null }, 'Onboarding'],
  [
    'somebody’s Eviction of an active host',
    [onboarding('succeeded')],
    {},
    { evictions: [ownEvictionOf('running', { ownerUid: null })] },
    'Evicting',
  ],
  [
    'the way out',
    [onboarding('succeeded')],
    {},
    { nova: bare, node: nodeOf({ terminatingSinceMs: 1 }), evictions: [ownEvictionOf('succeeded')] },
    'Evicting',
  ],
];

test.each(rows)('%s', (_why, conditions, desired, observed, state) => {
  expect(judgeState(contextOf(desired, observed, conditions), false)).toBe(state);
});

test('out of Nova it is decommissioned, whatever else', () => {
  expect(judgeState(contextOf({ maintenance: 'termination' }), true)).toBe('Decommissioned');
});

test.each([
  ['where it should be', done('it is in service'), 'True', 'it is in service'],
  ['at rest elsewhere', rest('no room'), 'False', 'no room'],
  ['waiting', wait('a Node'), 'Unknown', 'Waiting for a Node'],
  ['acting', act({ do: 'taintNode', node: 'node-1', words: 'Taint it' }), 'Unknown', 'Taint it'],
] as const)('%s', (_why, plan, status, message) => {
  expect(judgeLifecycle(contextOf(), plan, false)).toEqual({ type: 'Lifecycle', status, reason: 'Active', message });
});
