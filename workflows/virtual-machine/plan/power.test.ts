import { planPower } from './power.ts';
import {
  beginMs,
  failureIn,
  inShort,
  minute,
  vmContextOf,
  volume,
  type Given,
} from '../../../test/fixtures/workflows/virtual-machine.ts';

const off = { powerState: 'poweredOff' as const };
const suspended = { powerState: 'suspended' as const };
const wantsOff = (powerOffMode: 'Hard' | 'Soft' | 'TrySoft' = 'TrySoft') => ({
  powerState: 'PoweredOff' as const,
  powerOffMode,
});
const sleeps = (suspendMode: 'Hard' | 'Soft' | 'TrySoft') => ({ powerState: 'Suspended' as const, suspendMode });
const softPower = (operation: 'shutdown' | 'standby', failed = false) => ({
  soft: { operation, sinceMs: beginMs, failed },
});
const unanswered = (failed: boolean) => ({
  soft: { operation: 'shutdown' as const, sinceMs: beginMs, failed, unanswered: true as const },
});
const late = beginMs + 5 * minute;
const later = new Date(beginMs + 60 * minute).toISOString();
const earlier = new Date(beginMs).toISOString();
const noTools = { guest: { ...vmContextOf().vm.guest, toolsRunning: false } };
const task = { id: 'task-1', descriptionId: 'VirtualMachine.relocate', progress: null };
const adminPaused = { extraConfig: { 'vmservice.virtualmachine.pause': 'TRUE' } };

const rows: [why: string, given: Given, does: string][] = [
  ['VerifyConnection: not connected', { vm: { connectionState: 'orphaned' } }, 'stop NotConnected'],
  ['VerifyRP: in no resource pool', { vm: { resourcePool: null } }, 'stop NoResourcePool'],
  [
    'CheckGroups Yes, CheckDelayed Yes, CheckTime No: it waits for its delay',
    { desired: { group: 'g', applyPowerStateAt: later }, vm: off },
    'wait WaitingForGroup',
  ],
  ['so does a power-off', { desired: { ...wantsOff(), group: 'g', applyPowerStateAt: later } }, 'wait WaitingForGroup'],
  ['a suspend is never delayed', { desired: { ...sleeps('Hard'), group: 'g', applyPowerStateAt: later } }, 'suspend'],
  ['CheckTime Yes: its time has come', { desired: { group: 'g', applyPowerStateAt: earlier }, vm: off }, 'powerOn'],
  [
    'and then the annotation is removed',
    { desired: { group: 'g', applyPowerStateAt: earlier } },
    'patchVirtualMachine',
  ],
  ['a time that is none delays nothing', { desired: { group: 'g', applyPowerStateAt: 'soon' }, vm: off }, 'powerOn'],
  ['CheckDelayed No', { desired: { group: 'g' }, vm: off }, 'powerOn'],
  [
    'CheckGroups No: groups are switched off',
    { desired: { group: 'g', applyPowerStateAt: later }, vm: off, settings: { groups: false } },
    'powerOn',
  ],
  ['NeedsPowerOp No: on and on', {}, 'success'],
  ['NeedsPowerOp No: off and off', { desired: wantsOff(), vm: off }, 'success'],
  ['NeedsPowerOp No: what is off cannot be suspended', { desired: sleeps('Hard'), vm: off }, 'success'],
  ['PowerOn: from off', { vm: off }, 'powerOn'],
  ['PowerOn: from suspended', { vm: suspended }, 'powerOn'],
  ['PowerOn: for the first time', { desired: { firstBootDone: false }, vm: off }, 'powerOn'],
  ['PowerOn: which is noted when it is on', { desired: { firstBootDone: false } }, 'patchVirtualMachine'],
  ['PowerOn: a gate holds it', { desired: { powerOnChecks: ['backup'] }, vm: off }, 'wait PoweringOn'],
  ['PowerOn: its volumes are attached first', { desired: { volumes: [volume('data')] }, vm: off }, 'wait PoweringOn'],
  [
    'PowerOn: then it may start',
    {
      desired: { volumes: [volume('data')] },
      vm: off,
      observed: { recorded: { volumes: [{ name: 'data', type: 'Managed', attached: true }] } },
    },
    'powerOn',
  ],
  ['what runs does not wait for volumes', { desired: { volumes: [volume('data')] } }, 'success'],
  [
    'PowerOn: not for the first time while its configuration fails',
    {
      desired: { firstBootDone: false },
      vm: off,
      config: { annotation: '' },
      memory: { failures: [failureIn('config')] },
    },
    'wait PoweringOn',
  ],
  [
    'PowerOn: where it failed on its way back, and is as it should be, it is started',
    { desired: { firstBootDone: false }, vm: off, memory: { failures: [failureIn('config')] } },
    'powerOn',
  ],
  [
    'PowerOn: not for the first time without the Secret that sets it up',
    {
      desired: { firstBootDone: false },
      vm: off,
      prerequisites: { bootstrap: { kind: 'notFound', message: 'no Secret s' } },
    },
    'wait PoweringOn',
  ],
  [
    'PowerOn: nor where it is to be customized at this start',
    {
      desired: { bootstrap: { kind: 'Sysprep', disabled: false, atNextPowerOn: true, instanceId: null } },
      vm: off,
      prerequisites: { bootstrap: { kind: 'notFound', message: 'no Secret s' } },
    },
    'wait PoweringOn',
  ],
  [
    'PowerOn: once it is set up, it needs no Secret to start',
    { vm: off, prerequisites: { bootstrap: { kind: 'notFound', message: 'no Secret s' } } },
    'powerOn',
  ],
  ['PowerOn: any other time it goes on', { vm: off, memory: { failures: [failureIn('config')] } }, 'powerOn'],
  ['a gate does not hold what is on', { desired: { powerOnChecks: ['backup'] } }, 'success'],
  ['PowerOff Hard', { desired: wantsOff('Hard') }, 'powerOff'],
  ['PowerOff Soft: the guest is asked', { desired: wantsOff('Soft') }, 'shutdownGuest'],
  ['PowerOff Soft: it has its time', { desired: wantsOff('Soft'), memory: softPower('shutdown') }, 'wait PoweringOff'],
  [
    'PowerOff Soft: and is asked again, never forced',
    { desired: wantsOff('Soft'), memory: softPower('shutdown'), nowMs: late },
    'shutdownGuest',
  ],
  [
    'PowerOff Soft: one that refuses is waited for',
    { desired: wantsOff('Soft'), memory: softPower('shutdown', true) },
    'wait GuestRefused',
  ],
  [
    'PowerOff Soft: and asked again',
    { desired: wantsOff('Soft'), memory: softPower('shutdown', true), nowMs: late },
    'shutdownGuest',
  ],
  ['PowerOff TrySoft: the guest is asked', { desired: wantsOff() }, 'shutdownGuest'],
  ['PowerOff TrySoft: it has its time', { desired: wantsOff(), memory: softPower('shutdown') }, 'wait PoweringOff'],
  [
    'PowerOff TrySoft: then it is forced',
    { desired: wantsOff(), memory: softPower('shutdown'), nowMs: late },
    'powerOff',
  ],
  [
    'PowerOff TrySoft: at once where it refuses',
    { desired: wantsOff(), memory: softPower('shutdown', true) },
    'powerOff',
  ],
  [
    'PowerOff TrySoft: vCenter has not answered, so the guest is asked again, however long that takes',
    { desired: wantsOff(), memory: unanswered(false), nowMs: late },
    'shutdownGuest',
  ],
  [
    'PowerOff TrySoft: one that refuses then may be shutting down, and has its time',
    { desired: wantsOff(), memory: unanswered(true) },
    'wait PoweringOff',
  ],
  [
    'PowerOff TrySoft: and then it is forced',
    { desired: wantsOff(), memory: unanswered(true), nowMs: late },
    'powerOff',
  ],
  [
    'PowerOff Soft: one that refuses then is asked again',
    { desired: wantsOff('Soft'), memory: unanswered(true), nowMs: late },
    'shutdownGuest',
  ],
  [
    'PowerOff TrySoft: what was asked of it before counts no more',
    { desired: wantsOff(), memory: softPower('standby') },
    'shutdownGuest',
  ],
  ['PowerOff of a suspended VM: Hard', { desired: wantsOff('Hard'), vm: suspended }, 'powerOff'],
  ['PowerOff of a suspended VM: TrySoft', { desired: wantsOff(), vm: suspended }, 'powerOff'],
  [
    'PowerOff of a suspended VM: Soft does nothing, and says so',
    { desired: wantsOff('Soft'), vm: suspended },
    'stop PowerOffRefused',
  ],
  ['Suspend Hard', { desired: sleeps('Hard') }, 'suspend'],
  ['Suspend Soft', { desired: sleeps('Soft') }, 'standbyGuest'],
  [
    'Suspend TrySoft: then it is forced',
    { desired: sleeps('TrySoft'), memory: softPower('standby'), nowMs: late },
    'suspend',
  ],
  ['Suspend: is it already', { desired: sleeps('Hard'), vm: suspended }, 'success'],
  ['a task that is running is waited for first', { vm: { ...off, task } }, 'awaitTask'],
  ['unless there is nothing to do', { vm: { task } }, 'success'],
  ['an administrator’s pause stops it', { vm: off, config: adminPaused }, 'stop Paused'],
  ['but not where there is nothing to do', { config: adminPaused }, 'success'],
  ['WaitForTools No: they are not needed', { vm: noTools }, 'success'],
  ['WaitForTools Yes, ToolsReady Yes', { desired: { waitForTools: true } }, 'success'],
  [
    'WaitForTools Yes, ToolsReady No: it goes on waiting',
    { desired: { waitForTools: true }, vm: noTools },
    'wait WaitingForTools',
  ],
  ['a probe of the guest needs them', { desired: { probe: 'heartbeat' }, vm: noTools }, 'wait WaitingForTools'],
  ['a knock at a port does not', { desired: { probe: 'tcp' }, vm: noTools }, 'success'],
  [
    'a customization needs them',
    {
      desired: { bootstrap: { kind: 'LinuxPrep', disabled: false, atNextPowerOn: null, instanceId: null } },
      vm: noTools,
    },
    'wait WaitingForTools',
  ],
  [
    'CloudInit does not',
    {
      desired: { bootstrap: { kind: 'CloudInit', disabled: false, atNextPowerOn: null, instanceId: 'i' } },
      vm: noTools,
    },
    'success',
  ],
  ['and not for ever', { desired: { waitForTools: true }, vm: noTools, nowMs: late }, 'success'],
];

test.each(rows)('Power state: %s', (_why, given, does) => {
  expect(inShort(planPower(vmContextOf(given)))).toBe(does);
});

test('what a guest is asked is noted with it, and what is forced is not', () => {
  const notes = [
    {
      annotations: { 'drover.dev/guest-asked': `${new Date(beginMs + 2 * minute).toISOString()} shutdownGuest boot-1` },
    },
  ];
  expect(planPower(vmContextOf({ desired: wantsOff() }))).toMatchObject({ steps: [{ notes }] });
  const hard = planPower(vmContextOf({ desired: wantsOff('Hard') }));
  expect(hard).not.toMatchObject({ steps: [{ notes: expect.anything() as unknown }] });
});

test('a delay ends at its time, and a guest’s time has an end', () => {
  expect(planPower(vmContextOf({ desired: { group: 'g', applyPowerStateAt: later }, vm: off }))).toMatchObject({
    untilMs: beginMs + 60 * minute,
  });
  expect(planPower(vmContextOf({ desired: wantsOff(), memory: softPower('shutdown') }))).toMatchObject({
    untilMs: late,
  });
  expect(planPower(vmContextOf({ desired: { waitForTools: true }, vm: noTools }))).toMatchObject({ untilMs: late });
});
