import type { Condition } from '../../contracts/conditions.ts';
import type {
  DesiredHypervisor,
  HypervisorObservation,
  MaintenanceMode,
} from '../../contracts/hypervisor/hypervisor.ts';
import {
  conditionOf,
  contextOf,
  disabledFor,
  nodeOf,
  onboarding,
  ownEvictionOf,
} from '../../test/fixtures/workflows/hypervisor.ts';
import { judgeLifecycle, judgeReady, judgeState } from './conditions.ts';
import { done, execute, wait } from '../lib/plan.ts';

describe('Lifecycle', () => {
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
    [
      'one before Nova knows the host',
      [onboarding('initial')],
      { maintenance: 'manual' },
      { nova: null },
      'Onboarding',
    ],
    [
      'another party’s Eviction of an active host',
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
    ['where it should be', done('reconciled', 'Active', 'it is in service'), 'True', 'it is in service'],
    ['blocked elsewhere', done('blocked', 'Active', 'no room'), 'False', 'no room'],
    ['waiting', wait('Active', 'Any', 'a Node'), 'Unknown', 'Waiting for a Node'],
    ['acting', execute([{ kind: 'taintNode', summary: 'Taint it', phase: 'Active' }]), 'Unknown', 'Taint it'],
  ] as const)('%s', (_why, plan, status, message) => {
    expect(judgeLifecycle(contextOf(), plan, false)).toEqual({ type: 'Lifecycle', status, reason: 'Active', message });
  });
});

describe('Ready', () => {
  const evicting = (status: Condition['status'], message = ''): Condition =>
    conditionOf('Evicting', status, 'Any', message);
  const offboarded = conditionOf('Offboarded', 'True', 'Offboarded');
  const terminating = conditionOf('Terminating', 'True', 'Terminating');

  type Row = [
    why: string,
    conditions: Condition[],
    mode: MaintenanceMode,
    status: 'True' | 'False',
    reason: string,
    message: string,
  ];
  const rows: Row[] = [
    [
      'offboarded comes before all',
      [offboarded, terminating, onboarding('testing')],
      'termination',
      'False',
      'Offboarded',
      'Hypervisor has been offboarded',
    ],
    [
      'then terminating',
      [terminating, onboarding('testing')],
      'termination',
      'False',
      'Terminating',
      'Hypervisor is terminating',
    ],
    [
      'one that is not terminating after all',
      [conditionOf('Terminating', 'False', 'NotTerminating'), onboarding('succeeded')],
      '',
      'True',
      'Ready',
      'Hypervisor is ready',
    ],
    [
      'then the onboarding, also in maintenance',
      [onboarding('testing', 'Running onboarding tests')],
      'manual',
      'False',
      'Onboarding',
      'Onboarding in progress: Running onboarding tests',
    ],
    [
      'then the maintenance: emptying',
      [onboarding('succeeded'), evicting('True')],
      'manual',
      'False',
      'Evicting',
      'Hypervisor is disabled and evicting',
    ],
    [
      'empty',
      [onboarding('succeeded'), evicting('False')],
      'auto',
      'False',
      'Evicted',
      'Hypervisor is disabled and evicted',
    ],
    [
      'a failed eviction is not evicted (H10)',
      [onboarding('succeeded'), evicting('Unknown', 'no room')],
      'auto',
      'False',
      'Evicting',
      'Hypervisor is disabled and not empty: no room',
    ],
    [
      'nothing known of an eviction',
      [onboarding('succeeded')],
      'ha',
      'False',
      'Maintenance',
      'Hypervisor is in maintenance mode',
    ],
    ['no onboarding yet', [], '', 'False', 'Onboarding', 'Onboarding not started'],
    ['an aborted one', [onboarding('aborted')], '', 'False', 'Onboarding', 'Onboarding was aborted'],
    [
      'one that ended in words that are not known',
      [conditionOf('Onboarding', 'False', 'Odd')],
      '',
      'False',
      'Onboarding',
      'Onboarding not yet completed',
    ],
    ['a finished one', [onboarding('succeeded')], '', 'True', 'Ready', 'Hypervisor is ready'],
  ];

  test.each(rows)('%s', (_why, conditions, mode, status, reason, message) => {
    expect(judgeReady({ conditions, mode, lifecycleEnabled: true, registered: true })).toEqual({
      type: 'Ready',
      status,
      reason,
      message,
    });
  });

  test('an onboarding that has not begun says why', () => {
    const messageOf = (lifecycleEnabled: boolean, registered: boolean) =>
      judgeReady({ conditions: [], mode: '', lifecycleEnabled, registered }).message;
    expect(messageOf(false, false)).toBe('Onboarding not started: lifecycle management is disabled');
    expect(messageOf(true, false)).toBe(
      'Onboarding not started: waiting for nova-compute to register the hypervisor in Nova (HypervisorID/ServiceID not yet available)',
    );
  });
});
