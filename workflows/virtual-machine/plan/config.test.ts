import { planConfig } from './config.ts';
import {
  classOf,
  failureIn,
  inShort,
  vmContextOf,
  type Given,
} from '../../../test/fixtures/workflows/virtual-machine.ts';
import { unlessFailed } from './no-progress.ts';

const off = { powerState: 'poweredOff' as const };
const policy = {
  resourcePolicy: {
    kind: 'found' as const,
    value: { name: 'p', deleting: false, folder: null, resourcePool: null, modules: { web: 'module-1' } },
  },
};
const asks = (key: string) => ({ config: { ...vmContextOf().desired.config, extraConfig: { [key]: 'x' } } });
const drive = { cdroms: [{ name: 'cd1', connected: true, allowGuestControl: true }] };
const large = {
  class: {
    kind: 'found' as const,
    value: classOf({ name: 'large', uid: 'class-2', compute: { ...classOf().compute, numCPUs: 8 } }),
  },
};
const isLarge = { className: 'large', lastResizedClass: { name: 'large', uid: 'class-2', generation: 1 } };
const task = { id: 'task-1', descriptionId: 'VirtualMachine.createSnapshot', progress: 10 };
const cloudInit = { kind: 'CloudInit' as const, disabled: false, atNextPowerOn: null, instanceId: 'i' };
const linuxPrep = { ...cloudInit, kind: 'LinuxPrep' as const, instanceId: null };
const sysprep = { ...linuxPrep, kind: 'Sysprep' as const };
const mac = '00:50:56:00:00:01';
/** Without a bootstrap in the spec. */
const byDefault = {
  bootstrap: {
    kind: 'found' as const,
    value: { missingKeys: [], configHash: null, customHash: 'c1', isDefault: true },
  },
};
const beforeFirstStart = { creatingSince: '2026-01-01T00:00:00Z', firstBootDone: false };
const secrets = (configHash: string | null, customHash: string | null, ...missingKeys: string[]) => ({
  bootstrap: { kind: 'found' as const, value: { missingKeys, configHash, customHash, isDefault: false } },
});

const takenOver = { config: 'taken-over', custom: 'taken-over' };
const rows: [why: string, given: Given, does: string][] = [
  ['Verify config info: there is none', { config: null }, 'stop InvalidConfig'],
  ['Verify connection state: not connected', { vm: { connectionState: 'disconnected' } }, 'stop NotConnected'],
  ['Verify connection state: not known is not refused', { vm: { connectionState: null } }, 'success'],
  ['Verify resource pool: it is in none', { vm: { resourcePool: null } }, 'stop NoResourcePool'],
  ['nothing differs', {}, 'success'],
  ['what is asked for and no observation shows is not set', { desired: asks('guestinfo.vendordata') }, 'success'],
  ['a drive has no ISO, and it is no VM as its spec wants it', { desired: drive }, 'lack NotReady'],
  ['nor is one that is left alone', { desired: drive, vm: { powerState: 'suspended' } }, 'lack NotReady'],
  [
    'Get VM update arguments: without its class, what is there stays',
    { prerequisites: { class: { kind: 'notFound', message: '' } } },
    'success',
  ],
  [
    'Needs resize Yes: another class, while it is off',
    { desired: { className: 'large', powerState: 'PoweredOff' }, prerequisites: large, vm: off },
    'reconfigure',
  ],
  [
    'ResizeVM: what was applied is noted',
    {
      desired: { className: 'large', powerState: 'PoweredOff' },
      prerequisites: large,
      vm: off,
      config: { numCPUs: 8 },
    },
    'patchVirtualMachine',
  ],
  ['Needs resize Yes, but it is on', { desired: { className: 'large' }, prerequisites: large }, 'success'],
  [
    'Needs resize No: resizing is off',
    {
      desired: { className: 'large', powerState: 'PoweredOff' },
      prerequisites: large,
      vm: off,
      settings: { resize: 'off' },
    },
    'success',
  ],
  [
    'Needs resize No: it has that size',
    { desired: { ...isLarge, powerState: 'PoweredOff' }, prerequisites: large, vm: off, config: { numCPUs: 8 } },
    'success',
  ],
  [
    'UpdateConfig: what differs',
    {
      desired: {
        size: {
          cpus: null,
          memoryMiB: null,
          cpuRequestCores: 1,
          cpuLimitCores: null,
          memoryRequestMiB: null,
          memoryLimitMiB: null,
        },
      },
    },
    'reconfigure',
  ],
  ['an owner that another user removed comes back', { config: { extraConfig: {} } }, 'reconfigure'],
  ['so does a suspended one', { vm: { powerState: 'suspended' }, config: { extraConfig: {} } }, 'reconfigure'],
  ['and nothing else', { vm: { powerState: 'suspended' }, desired: { networkCards: [] } }, 'success'],
  [
    'nor one that an administrator has paused',
    {
      vm: off,
      config: {
        extraConfig: {
          'vmservice.virtualmachine.pause': 'true',
          'vmservice.namespacedName': 'team/web',
          'drover.uid': '11111111-1111-4111-8111-111111111111',
        },
        numCPUs: 1,
      },
      desired: { lastResizedClass: null, sameClassResize: true },
    },
    'success',
  ],
  ['a task that is running is waited for first', { vm: { task }, config: { extraConfig: {} } }, 'awaitTask'],
  ['unless there is nothing to do', { vm: { task } }, 'success'],
  [
    'older hardware is upgraded while it is off',
    {
      vm: off,
      desired: { powerState: 'PoweredOff', config: { ...vmContextOf().desired.config, minHardwareVersion: 22 } },
    },
    'upgradeHardware',
  ],
  [
    'and not while it is on',
    { desired: { config: { ...vmContextOf().desired.config, minHardwareVersion: 22 } } },
    'success',
  ],
  [
    'it is put into its cluster module',
    { desired: { clusterModule: 'web' }, prerequisites: policy },
    'attachClusterModule, patchVirtualMachine',
  ],
  ['once', { desired: { clusterModule: 'web' }, prerequisites: policy, vm: { clusterModule: 'module-1' } }, 'success'],
  [
    'not where vCenter does not say whether it is in it: that is looked at again, and holds nothing up',
    {
      desired: { clusterModule: 'web' },
      prerequisites: policy,
      vm: { unknownModule: { reason: 'VsphereNotPermitted', message: 'm' } },
    },
    'lack VsphereNotPermitted',
  ],
  [
    'bootstrap: data that have changed are written',
    { prerequisites: secrets('h2', null), desired: { bootstrapHashes: { config: 'h1', custom: null } } },
    'bootstrap, patchVirtualMachine',
  ],
  [
    'bootstrap: once',
    { prerequisites: secrets('h1', null), desired: { bootstrapHashes: { config: 'h1', custom: null } } },
    'success',
  ],
  [
    'bootstrap: the addresses of the cards belong to what cloud-init is given',
    {
      prerequisites: secrets('h1', null),
      desired: { bootstrap: cloudInit, bootstrapHashes: { config: `h1@${mac}`, custom: null } },
    },
    'success',
  ],
  [
    'bootstrap: a card that was replaced has another one, and the guest would not know it',
    {
      prerequisites: secrets('h1', null),
      desired: { bootstrap: cloudInit, bootstrapHashes: { config: 'h1@00:50:56:00:00:99', custom: null } },
    },
    'bootstrap, patchVirtualMachine',
  ],
  [
    'bootstrap: addresses that were not noted are not doubted',
    {
      prerequisites: secrets('h1', null),
      desired: { bootstrap: cloudInit, bootstrapHashes: { config: 'h1', custom: null } },
    },
    'success',
  ],
  [
    'bootstrap: vApp properties have no addresses in them',
    {
      prerequisites: secrets('h1', null),
      desired: { bootstrapHashes: { config: 'h1@00:50:56:00:00:99', custom: null } },
    },
    'success',
  ],
  [
    'bootstrap: a Linux whose card was replaced is customized again',
    {
      vm: off,
      prerequisites: secrets(null, 'c1'),
      desired: { bootstrap: linuxPrep, bootstrapHashes: { config: null, custom: 'c1@00:50:56:00:00:99' } },
    },
    'bootstrap, patchVirtualMachine',
  ],
  [
    'bootstrap: a Windows is not, as Sysprep would make it anew',
    {
      vm: off,
      prerequisites: secrets(null, 'c1'),
      desired: { bootstrap: sysprep, bootstrapHashes: { config: null, custom: 'c1@00:50:56:00:00:99' } },
    },
    'success',
  ],
  [
    'bootstrap: no guest is customized without one of its cards',
    {
      vm: off,
      prerequisites: {
        ...secrets(null, 'c1'),
        network: { interfaces: [{ name: 'eth0', backing: null, message: '' }] },
      },
      config: { networkCards: [] },
      desired: { bootstrap: linuxPrep },
    },
    'requeue NetworkNotReady',
  ],
  [
    'no bootstrap: a Linux that has not run yet gets its name and its addresses',
    { vm: off, config: { guestId: 'ubuntu64Guest' }, prerequisites: byDefault, desired: beforeFirstStart },
    'bootstrap, patchVirtualMachine',
  ],
  [
    'no bootstrap: once',
    {
      vm: off,
      config: { guestId: 'ubuntu64Guest' },
      prerequisites: byDefault,
      desired: { ...beforeFirstStart, bootstrapHashes: { config: null, custom: `c1@${mac}` } },
    },
    'success',
  ],
  [
    'no bootstrap: no other system',
    { vm: off, config: { guestId: 'windows2022srvNext_64Guest' }, prerequisites: byDefault, desired: beforeFirstStart },
    'success',
  ],
  [
    'no bootstrap: none that has run',
    {
      vm: off,
      config: { guestId: 'ubuntu64Guest' },
      prerequisites: byDefault,
      desired: { ...beforeFirstStart, firstBootDone: true },
    },
    'success',
  ],
  [
    'no bootstrap: none that drover has not made',
    {
      vm: off,
      config: { guestId: 'ubuntu64Guest' },
      prerequisites: byDefault,
      desired: { ...beforeFirstStart, creatingSince: null },
    },
    'success',
  ],
  ['bootstrap: a key is missing', { prerequisites: secrets('h2', null, 's/user-data') }, 'lack BootstrapNotReady'],
  [
    'bootstrap: a Secret is missing',
    { prerequisites: { bootstrap: { kind: 'notFound', message: '' } } },
    'lack BootstrapNotReady',
  ],
  [
    'bootstrap: of a VM that was taken over, what can be made is noted, and nothing applied',
    { prerequisites: secrets('h2', 'c2'), desired: { bootstrapHashes: takenOver }, vm: off },
    'patchVirtualMachine',
  ],
  [
    'bootstrap: its Secrets may be gone',
    { prerequisites: { bootstrap: { kind: 'notFound', message: '' } }, desired: { bootstrapHashes: takenOver } },
    'success',
  ],
  [
    'bootstrap: or a key of them',
    { prerequisites: secrets('h2', null, 's/user-data'), desired: { bootstrapHashes: takenOver } },
    'success',
  ],
  [
    'bootstrap: switched off',
    {
      prerequisites: secrets('h2', 'c2'),
      desired: { bootstrap: { kind: 'LinuxPrep', disabled: true, atNextPowerOn: null, instanceId: null } },
    },
    'success',
  ],
  [
    'bootstrap: a customization while it is off',
    { vm: off, prerequisites: secrets(null, 'c1') },
    'bootstrap, patchVirtualMachine',
  ],
  ['bootstrap: it waits while it is on', { prerequisites: secrets(null, 'c1') }, 'success'],
  [
    'bootstrap: once per change',
    { vm: off, prerequisites: secrets(null, 'c1'), desired: { bootstrapHashes: { config: null, custom: 'c1' } } },
    'success',
  ],
  [
    'bootstrap: once more at the next power-on',
    {
      vm: off,
      prerequisites: secrets(null, 'c1'),
      desired: {
        bootstrapHashes: { config: null, custom: 'c1' },
        bootstrap: { kind: 'Sysprep', disabled: false, atNextPowerOn: true, instanceId: null },
      },
    },
    'bootstrap, patchVirtualMachine',
  ],
  [
    'bootstrap: or not',
    {
      vm: off,
      prerequisites: secrets(null, 'c2'),
      desired: {
        bootstrapHashes: { config: null, custom: 'c1' },
        bootstrap: { kind: 'Sysprep', disabled: false, atNextPowerOn: false, instanceId: null },
      },
    },
    'success',
  ],
  [
    'bootstrap: one that waits for the next start is not replaced',
    {
      vm: off,
      prerequisites: secrets(null, 'c2'),
      config: {
        extraConfig: {
          'vmservice.namespacedName': 'team/web',
          'drover.uid': '11111111-1111-4111-8111-111111111111',
          'tools.deployPkg.fileName': 'imcf',
        },
      },
    },
    'success',
  ],
  [
    'bootstrap: before the first start it is the one that was asked for, and is noted',
    {
      vm: off,
      prerequisites: secrets(null, 'c2'),
      desired: beforeFirstStart,
      config: {
        extraConfig: {
          'vmservice.namespacedName': 'team/web',
          'drover.uid': '11111111-1111-4111-8111-111111111111',
          'tools.deployPkg.fileName': 'imcf',
        },
      },
    },
    'patchVirtualMachine',
  ],
  [
    'bootstrap: one that was asked for, and not noted as the spec changed meanwhile, is noted first',
    {
      prerequisites: secrets(null, 'c1'),
      desired: { bootstrap: sysprep },
      memory: { customized: { moId: 'vm-1', noted: 'c1' } },
    },
    'patchVirtualMachine',
  ],
  [
    'bootstrap: also where the spec asks for another one by now',
    {
      vm: off,
      prerequisites: secrets(null, 'c2'),
      desired: { bootstrap: { ...sysprep, atNextPowerOn: true } },
      memory: { customized: { moId: 'vm-1', noted: 'c1' } },
    },
    'patchVirtualMachine',
  ],
  [
    'bootstrap: not of another VM',
    { prerequisites: secrets(null, 'c1'), memory: { customized: { moId: 'vm-0', noted: 'c1' } } },
    'success',
  ],
  [
    'bootstrap: one that waits for the next start is what the spec asks for at that',
    {
      vm: off,
      prerequisites: secrets(null, 'c1'),
      desired: {
        bootstrapHashes: { config: null, custom: 'c1' },
        bootstrap: { ...sysprep, atNextPowerOn: true },
      },
      config: {
        extraConfig: {
          'vmservice.namespacedName': 'team/web',
          'drover.uid': '11111111-1111-4111-8111-111111111111',
          'tools.deployPkg.fileName': 'imcf',
        },
      },
    },
    'patchVirtualMachine',
  ],
  [
    'bootstrap: before the first start, one that was noted is not taken for a newer one',
    {
      vm: off,
      prerequisites: secrets(null, 'c2'),
      desired: { ...beforeFirstStart, bootstrapHashes: { config: null, custom: 'c1' } },
      config: {
        extraConfig: {
          'vmservice.namespacedName': 'team/web',
          'drover.uid': '11111111-1111-4111-8111-111111111111',
          'tools.deployPkg.fileName': 'imcf',
        },
      },
    },
    'success',
  ],
  [
    'what failed is not tried again before its time',
    { config: { extraConfig: {} }, memory: { failures: [failureIn('config')] } },
    'requeue VcenterRefused',
  ],
  [
    'and is tried then',
    { config: { extraConfig: {} }, memory: { failures: [failureIn('config')] }, nowMs: failureIn('config').retryAtMs },
    'reconfigure',
  ],
];

test.each(rows)('Config: %s', (_why, given, does) => {
  expect(inShort(unlessFailed('config', planConfig)(vmContextOf(given)))).toBe(does);
});

test('all that differs goes into one ReconfigVM_Task, and nothing else does', () => {
  const outcome = planConfig(
    vmContextOf({
      vm: off,
      config: { numCPUs: 1, firmware: 'bios', extraConfig: {}, networkCards: [] },
      desired: { className: 'large', config: { ...vmContextOf().desired.config, firmware: 'efi' } },
      prerequisites: large,
    }),
  );
  expect(outcome.kind === 'execute' ? outcome.steps : []).toEqual([
    expect.objectContaining({
      kind: 'reconfigure',
      changeVersion: 'c1',
      spec: {
        numCPUs: 8,
        firmware: 'efi',
        deviceChange: [
          {
            operation: 'add',
            device: 'networkCard',
            card: { key: null, type: 'VMXNet3', backing: 'network-1', macAddress: null },
          },
        ],
        extraConfig: [
          { key: 'drover.uid', value: '11111111-1111-4111-8111-111111111111' },
          { key: 'vmservice.namespacedName', value: 'team/web' },
        ],
      },
    }),
  ]);
});

test.each<[why: string, given: Given, inMs: number]>([
  ['soon before its first start', { desired: { firstBootDone: false } }, 10_000],
  [
    'soon where it is to be customized again',
    { desired: { bootstrap: { kind: 'Sysprep', disabled: false, atNextPowerOn: true, instanceId: null } } },
    10_000,
  ],
])('a Secret that is missing is looked for again: %s', (_why, given, inMs) => {
  const context = vmContextOf({ ...given, prerequisites: { bootstrap: { kind: 'notFound', message: 'no Secret s' } } });
  expect(planConfig(context)).toMatchObject({ requeue: true, retryAtMs: context.nowMs + inMs });
});

test.each<[why: string, kind: 'failed' | 'internalError' | 'forbidden' | 'invalid', inMs: number]>([
  ['soon, as there was no answer', 'failed', 10_000],
  ['soon, as kube-apiserver had a fault', 'internalError', 10_000],
  ['seldom, as drover may not read them', 'forbidden', 600_000],
  ['seldom, as they cannot be read', 'invalid', 600_000],
])('Secrets that were not read are read again %s', (_why, kind, inMs) => {
  const context = vmContextOf({ prerequisites: { bootstrap: { kind, message: 'no answer' } } });
  expect(planConfig(context)).toMatchObject({ requeue: true, retryAtMs: context.nowMs + inMs });
});

test('which card is which interface goes along, and what was written is noted with their addresses', () => {
  const outcome = planConfig(
    vmContextOf({
      desired: {
        bootstrap: cloudInit,
        networkCards: [
          { name: 'eth1', type: 'VMXNet3', macAddress: null },
          { name: 'eth0', type: 'VMXNet3', macAddress: null },
        ],
      },
      config: {
        networkCards: [
          { key: 4_000, type: 'VMXNet3', backing: 'network-1', macAddress: mac },
          { key: 4_001, type: 'VMXNet3', backing: 'network-2', macAddress: '00:50:56:00:00:02' },
        ],
        extraConfig: { ...vmContextOf().vm.config?.extraConfig, 'drover.networkCards': 'eth1=4001,eth0=4000' },
      },
      prerequisites: {
        ...secrets('h1', null),
        network: {
          interfaces: [
            { name: 'eth1', backing: 'network-2', message: '' },
            { name: 'eth0', backing: 'network-1', message: '' },
          ],
        },
      },
    }),
  );
  expect(outcome.kind === 'execute' ? outcome.steps : []).toEqual([
    expect.objectContaining({ kind: 'bootstrap', hash: 'h1', cards: [4_001, 4_000] }),
    expect.objectContaining({
      patches: [{ annotations: { 'vmoperator.vmware.com/bootstrap-hash-configspec': `h1@00:50:56:00:00:02,${mac}` } }],
    }),
  ]);
});
