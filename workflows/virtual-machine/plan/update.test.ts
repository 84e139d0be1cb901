import { stages, type Stage } from '../../../contracts/virtual-machine/observation.ts';
import type { Outcome } from './context.ts';
import { planUpdate, updateStages } from './update.ts';
import { failureIn, inShort, uid, vmContextOf, type Given } from '../../../test/fixtures/workflows/virtual-machine.ts';
import { execute, lack, success } from './context.ts';

const requeue: Outcome = { kind: 'failed', requeue: true, reason: 'Again', message: 'again', retryAtMs: 7 };
const noRequeue: Outcome = { kind: 'failed', requeue: false, reason: 'Never', message: 'never', retryAtMs: null };
const lacks = lack('Lacks', 'what it lacks');
const waits: Outcome = { kind: 'wait', phase: 'Updating', message: 'it', untilMs: 9 };
const works = execute('config', ['work', { kind: 'destroy', moId: 'vm-1' }]);

/** What came of the stages that were gone through, in their order. */
function go(outcomes: Partial<Record<Stage, Outcome>>, given: Given = {}): { stagesRun: Stage[]; result: string } {
  const stagesRun: Stage[] = [];
  const order = stages.map((stage) => ({ stage, plan: () => (stagesRun.push(stage), outcomes[stage] ?? success) }));
  return { stagesRun, result: inShort(planUpdate(vmContextOf(given), order)) };
}

const upTo = (stage: Stage): Stage[] => stages.slice(0, stages.findIndex((one) => one === stage) + 1);
const all = [...stages];
const poweringOff: Given = { desired: { powerState: 'PoweredOff' } };

test('the order is the chart’s, with policies before the configuration, and volumes and promoted disks before the power', () => {
  expect(updateStages.map(({ stage }) => stage)).toEqual([
    'schemaUpgrade',
    'status',
    'backup',
    'policies',
    'config',
    'volumes',
    'promotion',
    'power',
    'snapshot',
  ]);
});

const rows: [
  why: string,
  outcomes: Partial<Record<Stage, Outcome>>,
  stagesRun: Stage[],
  result: string,
  given?: Given,
][] = [
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
  ['volumes that cannot be attached hold nothing up', { volumes: noRequeue, power: works }, upTo('power'), 'destroy'],
  ['and are said in the end', { volumes: noRequeue }, all, 'stop Never'],
  ['PowerErr NoRequeue: it stops', { power: noRequeue }, upTo('power'), 'stop Never'],
  ['PowerErr Requeue: it is added, and the snapshot comes next', { power: requeue }, all, 'requeue Again'],
  ['SnapshotErr Yes: it is returned', { snapshot: noRequeue }, all, 'stop Never'],
  [
    'SnapshotErr Yes: reported before what was added, which is retried all the same',
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
  ['what is lacked holds nothing up', { config: lacks, power: works }, upTo('power'), 'destroy'],
  ['and is said in the end', { config: lacks }, all, 'lack Lacks'],
  ['but not while something is waited for', { config: lacks, power: waits }, all, 'wait Updating'],
  ['or is tried again', { config: lacks, power: requeue }, all, 'requeue Again'],
  ['or has to be put right by a user', { config: lacks, volumes: noRequeue }, all, 'stop Never'],
  [
    'one step at a time: what is done is observed first',
    { backup: works, config: noRequeue },
    upTo('backup'),
    'destroy',
  ],
];

test.each(rows)('Update: %s', (_why, outcomes, stagesRun, result, given = {}) => {
  expect(go(outcomes, given)).toEqual({ stagesRun, result });
});

test('all errors are reported, newest first, and retried at the first of their times', () => {
  const order = [
    { stage: 'backup' as const, plan: () => requeue },
    { stage: 'config' as const, plan: () => ({ ...requeue, message: 'later', retryAtMs: 5 }) },
    { stage: 'power' as const, plan: () => waits },
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
      { stage: 'config', plan: () => waits },
      { stage: 'power', plan: () => ({ ...waits, message: 'that', untilMs: 3 }) },
    ]),
  ).toEqual({ ...waits, message: 'it, and for that', untilMs: 3 });
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
    'a snapshot that failed is reported',
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

test.each<[whose: string, formerInstanceId: string | null, is: string]>([
  ['that which upstream has noted', 'i-0', 'i-0'],
  ['else the uid, as upstream gave it', null, uid],
])('an object of before CloudInit had an instance id in its spec gets %s', (_, formerInstanceId, is) => {
  const bootstrap = { kind: 'CloudInit' as const, disabled: false, atNextPowerOn: null, instanceId: null };
  expect(planUpdate(vmContextOf({ desired: { bootstrap, formerInstanceId, biosUuid: 'b' } }))).toMatchObject({
    steps: [{ patches: [{ spec: { bootstrap: { cloudInit: { instanceID: is } } } }] }],
  });
});
