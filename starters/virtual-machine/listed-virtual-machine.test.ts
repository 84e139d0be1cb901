import type { VirtualMachineFilter } from './listed-virtual-machine.ts';
import { listVirtualMachines, needsAttention } from './listed-virtual-machine.ts';
import { coloured, plain } from '../render/paint.ts';
import { now } from '../../test/fixtures/starters/progress.ts';
import { renderVirtualMachines } from '../render/virtual-machine.ts';
import { machineLifecycle, sampleMachine } from '../../test/fixtures/starters/virtual-machine.ts';
import type { VirtualMachineObject } from './virtual-machine-object.ts';

const hour = 3_600;
const observed = { ...machineLifecycle('Observed', 'True', 'team/web: Would now: Power web on'), type: 'Observed' };

test.each<[why: string, facts: Partial<VirtualMachineObject>, needs: boolean]>([
  ['as its spec wants it', {}, false],
  ['on its way', { conditions: [machineLifecycle('Creating', 'Unknown', 'x', hour)] }, false],
  [
    'waits for its class, since a moment ago',
    { conditions: [machineLifecycle('WaitingForPrerequisites', 'Unknown')] },
    false,
  ],
  [
    'waits for its class, for long',
    { conditions: [machineLifecycle('WaitingForPrerequisites', 'Unknown', 'x', hour)] },
    true,
  ],
  [
    'its group does not list it, for long',
    { conditions: [machineLifecycle('WaitingForGroup', 'Unknown', 'x', hour)] },
    true,
  ],
  ['its host is away, for long', { conditions: [machineLifecycle('NotConnected', 'Unknown', 'x', hour)] }, true],
  ['tries again', { conditions: [machineLifecycle('Failed', 'Unknown')] }, false],
  ['tries again and again', { conditions: [machineLifecycle('Failed', 'Unknown', 'x', hour)] }, true],
  ['failed for good', { conditions: [machineLifecycle('Failed', 'False')] }, true],
  ['another’s VM has its name', { conditions: [machineLifecycle('NotOwned', 'False')] }, true],
  ['its run was cancelled', { conditions: [machineLifecycle('Creating', 'False')] }, true],
  ['paused', { conditions: [machineLifecycle('Paused', 'False')] }, false],
  ['paused, and deleted', { deleting: true, conditions: [machineLifecycle('Paused', 'False')] }, true],
  ['its deletion is held', { deleting: true, conditions: [machineLifecycle('DeletionBlocked', 'False')] }, true],
  ['what was said of another spec', { generation: 4, conditions: [machineLifecycle('Failed', 'False')] }, false],
  ['nothing was said', { conditions: [] }, false],
  ['only observed', { conditions: [observed] }, false],
])('needs attention: %s', (_why, facts, needs) => {
  expect(needsAttention(sampleMachine(facts), now)).toBe(needs);
});

const unmade = { vmId: null, powerState: null, node: null, ip: null };
const fleet = [
  sampleMachine({ name: 'web-10', conditions: [], ...unmade, class: null, image: null }),
  sampleMachine({
    name: 'web-2',
    generation: 4,
    wantedPowerState: 'PoweredOff',
    conditions: [machineLifecycle('Reconciled')],
  }),
  sampleMachine({
    namespace: 'other',
    name: 'ci',
    wantedPowerState: 'PoweredOff',
    node: 'esx-\u001b[2J4',
    conditions: [machineLifecycle('PoweringOff', 'Unknown', 'Waiting for the guest to shut down')],
  }),
  sampleMachine({
    name: 'db',
    ...unmade,
    conditions: [machineLifecycle('WaitingForPrerequisites', 'Unknown', 'Waiting for VirtualMachineClass small', hour)],
  }),
  sampleMachine({
    name: 'old',
    deleting: true,
    powerState: 'PoweredOff',
    conditions: [machineLifecycle('Deleting', 'Unknown', 'Destroy VM old')],
  }),
  sampleMachine({ name: 'seen', conditions: [observed] }),
];
const list = (filter: Partial<VirtualMachineFilter> = {}) =>
  listVirtualMachines(fleet, { states: [], attention: false, ...filter }, now);
const table = (widthColumns: number) => renderVirtualMachines(list(), now, plain, widthColumns);

test('the table', () => {
  expect(table(Infinity)).toEqual([
    'VM           STATE                      STATUS       SINCE  POWER                   ID     HOST   IP          CLASS  IMAGE  WHY',
    'team/db      WaitingForPrerequisites !  progressing     1h  - → PoweredOn           -      -      -           small  vmi-1  Waiting for VirtualMachineClass small',
    'other/ci     PoweringOff                progressing     2m  PoweredOn → PoweredOff  vm-61  esx-4  192.0.2.10  small  vmi-1  Waiting for the guest to shut down',
    'team/old     Deleting                   progressing     2m  PoweredOff              vm-61  esx-4  192.0.2.10  small  vmi-1  Destroy VM old',
    'team/seen    -                          unknown          -  PoweredOn               vm-61  esx-4  192.0.2.10  small  vmi-1  team/web: Would now: Power web on',
    'team/web-2   Reconciled                 unknown         2m  PoweredOn → PoweredOff  vm-61  esx-4  192.0.2.10  small  vmi-1  its spec has changed since',
    'team/web-10  -                          unknown          -  - → PoweredOn           -      -      -           -      -      no run has said anything yet',
  ]);
});

test.each<[columns: number, titles: string[]]>([
  [200, ['VM', 'STATE', 'STATUS', 'SINCE', 'POWER', 'ID', 'HOST', 'IP', 'CLASS', 'IMAGE', 'WHY']],
  [159, ['VM', 'STATE', 'STATUS', 'SINCE', 'POWER', 'ID', 'HOST', 'IP', 'CLASS', 'WHY']],
  [130, ['VM', 'STATE', 'SINCE', 'POWER', 'ID', 'IP', 'WHY']],
  [80, ['VM', 'STATE', 'SINCE', 'POWER', 'WHY']],
])('a window of %i columns has room to say why', (columns, titles) => {
  const [head = '', ...rows] = table(columns);
  expect(head.split(/ +/u)).toEqual(titles);
  for (const row of rows) expect(row.length).toBeLessThanOrEqual(columns);
});

test('what needs attention stands out in colours, too', () => {
  const [, waiting = '', moving = ''] = renderVirtualMachines(list(), now, coloured, Infinity);
  expect([waiting, moving]).toEqual([
    expect.stringContaining('\u001b[31mWaitingForPrerequisites !'),
    expect.stringContaining('\u001b[36mPoweringOff'),
  ]);
});

test.each<[why: string, filter: Partial<VirtualMachineFilter>, names: string[]]>([
  ['all', {}, ['db', 'ci', 'old', 'seen', 'web-2', 'web-10']],
  ['in some states', { states: ['Reconciled', 'PoweringOff'] }, ['ci', 'web-2']],
  ['that need attention', { attention: true }, ['db']],
  ['both', { attention: true, states: ['Reconciled'] }, []],
])('the filter: %s', (_why, filter, names) => {
  expect(list(filter).map(({ name }) => name)).toEqual(names);
});
