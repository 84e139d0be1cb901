import {
  machineLifecycle,
  sampleMachine,
  sampleMachineProgress,
  sampleMachineRun,
  unready,
} from '../../test/fixtures/starters/virtual-machine.ts';
import type { RunStep } from '../command/run-steps.ts';
import type { VirtualMachineDescription } from '../virtual-machine/virtual-machine-description.ts';
import { plain } from './paint.ts';
import { ago, now } from '../../test/fixtures/starters/progress.ts';
import { renderVirtualMachine } from './virtual-machine.ts';

const render = (facts: Partial<VirtualMachineDescription> = {}) =>
  renderVirtualMachine(
    { namespace: 'team', name: 'web', object: sampleMachine(), run: null, stops: [], problems: [], ...facts },
    now,
    plain,
    200,
  );
const step = (facts: Partial<RunStep>): RunStep => ({
  summary: 'Look at VM web',
  activity: 'observeVirtualMachineInVcenter',
  at: ago(20),
  endedAt: ago(19),
  end: 'done',
  attempts: 1,
  message: null,
  ...facts,
});

test('one that cannot be made', () => {
  const object = sampleMachine({
    vmId: null,
    powerState: null,
    node: null,
    ip: null,
    guest: null,
    hardwareVersion: null,
    conditions: [
      machineLifecycle('Failed', 'Unknown', 'Waiting for another try: no room', 1_200),
      unready('VirtualMachineCreated', 'Error', 'no room'),
    ],
  });
  const progress = sampleMachineProgress({
    waiting: { reason: 'NoRoom', message: 'another try: no room', untilMs: now + 20_000 },
    failed: [
      { stage: 'create', message: 'no room', attempts: 3, retryAtMs: now + 20_000 },
      { stage: 'config', message: 'bad', attempts: 1, retryAtMs: null },
    ],
  });
  const steps = [
    step({}),
    step({
      summary: 'Make VM web',
      at: ago(15),
      endedAt: new Date(now - 14_600).toISOString(),
      end: 'failed',
      attempts: 2,
      message: 'no\nroom',
    }),
    step({ summary: 'Write the status', at: ago(1), endedAt: null, end: null }),
  ];
  expect(
    render({
      object,
      run: sampleMachineRun({ progress, steps, webUi: 'http://ui/run' }),
      stops: ['everything, by bob: power work'],
      problems: ['x'],
    }),
  ).toEqual([
    'team/web: Failed for 20m, and needs attention',
    '  says         Waiting for another try: no room',
    '  waiting      for another try: no room; observes again in 20s',
    '  VM           none in vCenter yet',
    '  power        not known, wanted PoweredOn',
    '  class        small',
    '  image        vmi-1',
    '  storage      fast',
    '  instance     uuid-web',
    '  drover stop  everything, by bob: power work',
    '  run          virtualmachine/team/web r-1',
    '  web UI       http://ui/run',
    '',
    'Failures',
    'STEP    ATTEMPTS  AGAIN                   MESSAGE',
    'create         3  in 20s                  no room',
    'config         1  when something changes  bad',
    '',
    'Conditions of VirtualMachine team/web',
    'TYPE                   STATUS   REASON  SINCE  MESSAGE',
    'Lifecycle              Unknown  Failed  20m    Waiting for another try: no room',
    'VirtualMachineCreated  False    Error   1m     no room',
    '',
    'Steps of the run',
    'BEGAN     TOOK  ATTEMPTS  END        STEP',
    '20s ago     1s         1  done       Look at VM web',
    '15s ago  400ms         2  failed     Make VM web: no room',
    '1s ago       -         1  under way  Write the status',
    '',
    'Could not be read',
    'x',
    '',
    'What you can do',
    expect.stringMatching(/^ {2}drover stop --show/),
    expect.stringMatching(/^ {2}drover stop --lift/),
    expect.stringMatching(/^ {2}drover retry vm team\/web /),
    expect.stringMatching(/^ {2}kubectl describe vm -n team web /),
  ]);
});

test.each<[why: string, facts: Partial<VirtualMachineDescription>, headline: string, others?: string[]]>([
  [
    'as its spec wants it',
    {},
    'Reconciled for 2m',
    [
      '  VM           vm-61 on esx-4, in zone-a',
      '  power        PoweredOn',
      '  address      192.0.2.10',
      '  guest        Other',
      '  hardware     version 21',
    ],
  ],
  [
    'its power is on its way',
    {
      object: sampleMachine({
        wantedPowerState: 'PoweredOff',
        conditions: [machineLifecycle('PoweringOff', 'Unknown')],
      }),
    },
    'PoweringOff for 2m',
    ['  power        PoweredOn, wanted PoweredOff'],
  ],
  [
    'its spec has changed',
    { object: sampleMachine({ generation: 4 }) },
    'was Reconciled, and its spec has changed since',
  ],
  [
    'nothing was said',
    { object: sampleMachine({ conditions: [] }) },
    'drover has said nothing of this virtual machine yet',
    ['none yet'],
  ],
  [
    'only observed',
    {
      object: sampleMachine({
        observed: true,
        conditions: [{ ...machineLifecycle('Observed', 'True', 'Would now: x'), type: 'Observed' }],
      }),
    },
    'drover only observes this virtual machine',
    ['  says         Would now: x', '  mode         only looked at (drover.dev/mode)'],
  ],
  [
    'paused',
    { object: sampleMachine({ paused: true, pausedBy: 'admin', conditions: [machineLifecycle('Paused', 'False')] }) },
    'Paused for 2m',
    ['  paused       by admin'],
  ],
  [
    'held',
    {
      object: sampleMachine({
        deleting: true,
        deleteChecks: ['a', 'b'],
        powerOnChecks: ['c'],
        conditions: [machineLifecycle('DeletionBlocked', 'False')],
      }),
    },
    'DeletionBlocked for 2m, and needs attention',
    ['  deletion     requested; held by a, b', '  power-on     held by c'],
  ],
  [
    'no worker',
    { run: sampleMachineRun({ progress: null }) },
    'Reconciled for 2m',
    ['  run          virtualmachine/team/web r-1, and no worker answers for it'],
  ],
  [
    'its run has ended',
    {
      run: sampleMachineRun({
        status: 'Completed',
        endedAt: ago(60),
        progress: null,
        ending: { outcome: 'Reconciled', message: 'as wanted' },
        steps: [step({})],
      }),
    },
    'Reconciled for 2m',
    ['  run          virtualmachine/team/web r-1, Reconciled 1m ago: as wanted', 'Last steps of the last run'],
  ],
  [
    'it is gone',
    {
      object: null,
      run: sampleMachineRun({
        status: 'Cancelled',
        endedAt: ago(60),
        progress: null,
        ending: { outcome: 'Cancelled', message: '' },
      }),
    },
    'there is no such VirtualMachine any more',
    ['  run          virtualmachine/team/web r-1, Cancelled 1m ago'],
  ],
  [
    'Kubernetes is away',
    {
      object: null,
      run: sampleMachineRun({ progress: sampleMachineProgress({ message: 'Power web on' }) }),
      problems: ['kube-apiserver: connection refused'],
    },
    'the object cannot be read',
    ['  says         Power web on', 'kube-apiserver: connection refused'],
  ],
])('%s', (_why, facts, headline, others = []) => {
  const lines = render(facts);
  expect(lines[0]).toBe(`team/web: ${headline}`);
  expect(lines).toEqual(expect.arrayContaining(others));
});
