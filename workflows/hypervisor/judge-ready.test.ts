import type { Condition } from '../../contracts/conditions.ts';
import type { MaintenanceMode } from '../../contracts/hypervisor/hypervisor.ts';
import { judgeReady } from './judge-ready.ts';
import { conditionOf, onboarding } from '../../test/fixtures/workflows/hypervisor.ts';

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
