import type { Phase } from '../../../contracts/virtual-machine/observation.ts';
import { phases } from '../../../contracts/virtual-machine/observation.ts';
import type { Outcome } from '../../../contracts/virtual-machine/plan.ts';
import { planUpdate, updatePhases } from './plan-update.ts';
import type { Given } from '../../../test/fixtures/workflows/virtual-machine.ts';
import { failureIn, inShort, vmContextOf } from '../../../test/fixtures/workflows/virtual-machine.ts';
import { act, success } from '../step.ts';

const requeue: Outcome = { kind: 'failed', requeue: true, reason: 'Again', message: 'again', retryAtMs: 7 };
const noRequeue: Outcome = { kind: 'failed', requeue: false, reason: 'Never', message: 'never', retryAtMs: null };
const waits: Outcome = { kind: 'wait', state: 'Updating', for: 'it', untilMs: 9 };
const works = act('config', ['work', { do: 'destroy', moId: 'vm-1' }]);

/** What came of the phases that were gone through, in their order. */
function go(outcomes: Partial<Record<Phase, Outcome>>, given: Given = {}): { seen: Phase[]; result: string } {
  const seen: Phase[] = [];
  const order = phases.map((phase) => ({ phase, plan: () => (seen.push(phase), outcomes[phase] ?? success) }));
  return { seen, result: inShort(planUpdate(vmContextOf(given), order)) };
}

const upTo = (phase: Phase): Phase[] => phases.slice(0, phases.findIndex((one) => one === phase) + 1);
const all = [...phases];
const poweringOff: Given = { desired: { powerState: 'PoweredOff' } };

test('the order is the seed’s', () => {
  expect(updatePhases.map(({ phase }) => phase)).toEqual([
    'schemaUpgrade',
    'status',
    'backup',
    'config',
    'power',
    'snapshot',
  ]);
});

const rows: [why: string, outcomes: Partial<Record<Phase, Outcome>>, seen: Phase[], result: string, given?: Given][] = [
  ['SchemaErr NoRequeue: it stops', { schemaUpgrade: noRequeue }, upTo('schemaUpgrade'), 'stop Never'],
  ['SchemaErr Requeue: it is added, and the rest goes on', { schemaUpgrade: requeue }, all, 'requeue Again'],
  ['SchemaErr Success', {}, all, 'success'],
  ['StatusErr NoRequeue: it stops', { status: noRequeue }, upTo('status'), 'stop Never'],
  ['StatusErr Requeue: it is added, and the rest goes on', { status: requeue }, all, 'requeue Again'],
  ['BackupErr NoRequeue: it stops', { backup: noRequeue }, upTo('backup'), 'stop Never'],
  ['BackupErr Requeue: it is added, and the rest goes on', { backup: requeue }, all, 'requeue Again'],
  ['ConfigErr NoRequeue and not power off: it stops', { config: noRequeue }, upTo('config'), 'stop Never'],
  ['ConfigErr NoRequeue and power off: it goes on to power', { config: noRequeue }, all, 'stop Never', poweringOff],
  ['and powers off', { config: noRequeue, power: works }, upTo('power'), 'destroy', poweringOff],
  [
    'what is off is not being powered off',
    { config: noRequeue },
    upTo('config'),
    'stop Never',
    { ...poweringOff, vm: { powerState: 'poweredOff' } },
  ],
  ['ConfigErr Requeue: it is added, and power comes next', { config: requeue, power: works }, upTo('power'), 'destroy'],
  ['PowerErr NoRequeue: it stops', { power: noRequeue }, upTo('power'), 'stop Never'],
  ['PowerErr Requeue: it is added, and the snapshot comes next', { power: requeue }, all, 'requeue Again'],
  ['SnapshotErr Yes: it is returned', { snapshot: noRequeue }, all, 'stop Never'],
  [
    'SnapshotErr Yes: told before what was added, which is tried again all the same',
    { config: requeue, snapshot: noRequeue },
    all,
    'requeue Never',
  ],
  ['SnapshotErr No, aggregate error Yes', { backup: requeue, config: requeue }, all, 'requeue Again'],
  ['SnapshotErr No, aggregate error No: successful', {}, all, 'success'],
  [
    'a step that stops says what was added before it, which is tried again',
    { backup: requeue, power: noRequeue },
    upTo('power'),
    'requeue Never',
  ],
  ['what is waited for holds nothing up', { config: waits, snapshot: works }, all, 'destroy'],
  ['and is waited for in the end', { config: waits, power: waits }, all, 'wait Updating'],
  [
    'one step at a time: what is done is looked at first',
    { backup: works, config: noRequeue },
    upTo('backup'),
    'destroy',
  ],
];

test.each(rows)('Update: %s', (_why, outcomes, seen, result, given = {}) => {
  expect(go(outcomes, given)).toEqual({ seen, result });
});

test('all errors are told, newest first, and tried again at the first of their times', () => {
  const order = [
    { phase: 'backup' as const, plan: () => requeue },
    { phase: 'config' as const, plan: () => ({ ...requeue, message: 'later', retryAtMs: 5 }) },
    { phase: 'power' as const, plan: () => waits },
  ];
  expect(planUpdate(vmContextOf(), order)).toEqual({
    kind: 'failed',
    requeue: true,
    reason: 'Again',
    message: 'config: later, backup: again',
    retryAtMs: 5,
  });
  expect(
    planUpdate(vmContextOf(), [
      { phase: 'config', plan: () => waits },
      { phase: 'power', plan: () => ({ ...waits, for: 'that', untilMs: 3 }) },
    ]),
  ).toEqual({ ...waits, for: 'it, and for that', untilMs: 3 });
});

const real: [why: string, given: Given, result: string][] = [
  ['nothing is to be done', {}, 'success'],
  [
    'an older release left the spec as it was',
    { desired: { upgradedTo: { build: null, schema: null, feature: null } } },
    'patchVirtualMachine',
  ],
  ['the UUIDs of vCenter go into the spec', { desired: { biosUuid: null } }, 'patchVirtualMachine'],
  [
    'so does the instance id of CloudInit',
    { desired: { bootstrap: { kind: 'CloudInit', disabled: false, atNextPowerOn: null, instanceId: null } } },
    'patchVirtualMachine',
  ],
  ['the zone is noted where it is not', { desired: { zone: null } }, 'patchVirtualMachine'],
  [
    'FetchProps: a report that failed is tried again',
    { memory: { failures: [failureIn('status')] } },
    'requeue VcenterRefused',
  ],
  ['the backup is written', { settings: { backup: true } }, 'writeBackup'],
  [
    'once per generation',
    {
      settings: { backup: true },
      config: { extraConfig: { ...vmContextOf().vm.config?.extraConfig, 'drover.backupVersion': '1' } },
    },
    'success',
  ],
  ['not of a node of a Kubernetes cluster', { settings: { backup: true }, desired: { clusterNode: true } }, 'success'],
  [
    'unless it is asked for',
    { settings: { backup: true }, desired: { clusterNode: true, forceBackup: true } },
    'writeBackup',
  ],
  [
    'a backup that failed holds nothing up',
    { settings: { backup: true }, memory: { failures: [failureIn('backup')] }, vm: { powerState: 'poweredOff' } },
    'powerOn',
  ],
  [
    'a snapshot’s own run is waited for',
    { observed: { snapshots: { inProgress: 's1', problem: null } } },
    'wait Updating',
  ],
  [
    'a snapshot that went wrong is told',
    { observed: { snapshots: { inProgress: null, problem: 'no space' } } },
    'requeue VirtualMachineSnapshotFailed',
  ],
  [
    'a revert that was left behind stops it',
    { desired: { revertInProgress: true } },
    'stop VirtualMachineSnapshotRevertInProgress',
  ],
  [
    'a VM that cannot be reconfigured can be powered off',
    { desired: { powerState: 'PoweredOff', powerOffMode: 'Hard' }, config: null },
    'powerOff',
  ],
  ['but not be powered on', { vm: { powerState: 'poweredOff' }, config: null }, 'stop InvalidConfig'],
];

test.each(real)('Update, with its real steps: %s', (_why, given, result) => {
  expect(inShort(planUpdate(vmContextOf(given)))).toBe(result);
});
