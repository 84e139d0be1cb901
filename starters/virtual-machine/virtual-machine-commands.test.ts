import {
  machineLifecycle,
  sampleMachine,
  sampleMachineRun,
  unready,
} from '../../test/fixtures/starters/virtual-machine.ts';
import { virtualMachineCommands } from './virtual-machine-commands.ts';
import type { VirtualMachineDescription } from './virtual-machine-description.ts';
import type { VirtualMachineObject } from './virtual-machine-object.ts';

const describe = 'kubectl describe vm -n team web';
const retry = 'drover retry vm team/web';
const commandsOf = (object: VirtualMachineObject | null, run: VirtualMachineDescription['run'], stops: string[] = []) =>
  virtualMachineCommands({ object, run, stops }).map(({ command }) => command);

test.each<[why: string, facts: Partial<VirtualMachineObject>, commands: string[]]>([
  ['as its spec wants it', {}, []],
  ['there is no status yet', { conditions: [] }, [retry, 'drover doctor']],
  ['what was said is of another spec', { generation: 4 }, [retry, 'drover doctor']],
  ['only observed', { conditions: [{ ...machineLifecycle('Observed'), type: 'Observed' }] }, []],
  ['being made', { conditions: [machineLifecycle('Creating', 'Unknown')] }, [retry]],
  [
    'its class and its storage are missing',
    {
      conditions: [
        machineLifecycle('WaitingForPrerequisites', 'Unknown'),
        unready('VirtualMachineClassReady', 'NotFound', 'x'),
        unready('VirtualMachineStorageReady', 'NotFound', 'x'),
      ],
    },
    ['kubectl get virtualmachineclasses -n team', 'kubectl get storageclasses', retry],
  ],
  [
    'its image, its policy and its Secrets',
    {
      conditions: [
        machineLifecycle('WaitingForPrerequisites', 'Unknown'),
        ...[
          'VirtualMachineImageReady',
          'VirtualMachineConditionVMSetResourcePolicyReady',
          'VirtualMachineBootstrapReady',
          'VirtualMachineNetworkReady',
        ].map((type) => unready(type, 'NotReady', 'x')),
      ],
    },
    [
      'kubectl get virtualmachineimages -n team',
      'kubectl get virtualmachinesetresourcepolicies -n team',
      'kubectl get secrets -n team',
      retry,
    ],
  ],
  [
    'its group',
    { group: 'g', conditions: [machineLifecycle('WaitingForGroup', 'Unknown')] },
    ['kubectl describe virtualmachinegroup -n team g', retry],
  ],
  [
    'its power-on is held',
    { powerOnChecks: ['backup'], conditions: [machineLifecycle('PoweringOn', 'Unknown')] },
    ['kubectl annotate vm -n team web poweron.check.vmoperator.vmware.com/backup-', retry],
  ],
  ['its guest cannot be asked', { conditions: [machineLifecycle('GuestRefused', 'Unknown')] }, [retry]],
  [
    'it is suspended, and has another spec',
    { conditions: [machineLifecycle('PowerOffRequired', 'False')] },
    [`kubectl patch vm -n team web --type merge -p '{"spec":{"powerState":"PoweredOff"}}'`],
  ],
  [
    'its deletion is held by many',
    { deleteChecks: ['a', 'b', 'c', 'd'], conditions: [machineLifecycle('DeletionBlocked', 'False')] },
    ['a', 'b', 'c'].map((holder) => `kubectl annotate vm -n team web delete.check.vmoperator.vmware.com/${holder}-`),
  ],
  [
    'paused by its owner',
    { paused: true, conditions: [machineLifecycle('Paused', 'False')] },
    ['kubectl annotate vm -n team web vmoperator.vmware.com/paused-'],
  ],
  ['paused in vCenter', { conditions: [machineLifecycle('Paused', 'False')] }, [retry]],
  ['not its own', { conditions: [machineLifecycle('NotOwned', 'False')] }, [retry]],
  ['two could be it', { conditions: [machineLifecycle('Ambiguous', 'False')] }, [retry]],
  [
    'its spec asks for what drover does not do',
    { conditions: [machineLifecycle('NotSupported', 'False')] },
    ['kubectl edit virtualmachine -n team web'],
  ],
  ['failed', { conditions: [machineLifecycle('Failed', 'False')] }, [retry]],
  ['its run was cancelled', { conditions: [machineLifecycle('Updating', 'False')] }, [retry]],
])('%s', (_why, facts, commands) => {
  expect(commandsOf(sampleMachine(facts), null)).toEqual([...commands, describe]);
});

test('while a run is open, no other one is started', () => {
  expect(commandsOf(sampleMachine({ conditions: [] }), sampleMachineRun())).toEqual([describe]);
});

test('no worker, a stop, and no object any more', () => {
  expect(commandsOf(sampleMachine(), sampleMachineRun({ progress: null }))).toEqual([
    'drover doctor',
    'drover worker',
    describe,
  ]);
  expect(commandsOf(sampleMachine(), null, ['everything'])).toEqual([
    'drover stop --show',
    'drover stop --lift',
    describe,
  ]);
  expect(commandsOf(null, sampleMachineRun({ status: 'Completed' }))).toEqual(['drover vms']);
});
