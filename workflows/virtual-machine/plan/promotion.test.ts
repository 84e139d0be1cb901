import type { Disk } from '../../../contracts/virtual-machine/config.ts';
import type { ObservedVm } from '../../../contracts/virtual-machine/observation.ts';
import {
  failureIn,
  guestOf,
  inShort,
  vmContextOf,
  type Given,
} from '../../../test/fixtures/workflows/virtual-machine.ts';
import { judgePromotion } from '../device-conditions.ts';
import { publishedBy } from '../status.ts';
import { planConfig } from './config.ts';
import { planWithNotes } from './plan.ts';
import { planPower } from './power.ts';
import { planPromotion } from './promotion.ts';
import { planUpdate } from './update.ts';

const disk: Disk = { key: 2_000, name: 'disk-0', capacityBytes: 1, own: true, boot: true, linked: true };
const linked: Given = { config: { disks: [disk, { ...disk, key: 2_001, name: 'disk-1', boot: false }] } };
const off: Given = { ...linked, vm: { powerState: 'poweredOff' } };
const promoting = { id: 'task-1', descriptionId: 'VirtualMachine.promoteDisks', progress: 40 };
const other = { id: 'task-2', descriptionId: 'VirtualMachine.relocate', progress: null };
const offline: Given['desired'] = { promoteDisks: 'Offline' };
const wantsOff: Given['desired'] = { powerState: 'PoweredOff', powerOffMode: 'Hard' };
const customized = (customization: string): Partial<ObservedVm> => ({ guest: guestOf({ customization }) });
const running: Given = { ...linked, isPromoting: true, vm: { task: promoting } };

const rows: [why: string, given: Given, does: string, condition: string][] = [
  ['whole disks stay as they are', {}, 'success', 'nothing'],
  ['those of others too', { config: { disks: [{ ...disk, own: false }] } }, 'success', 'nothing'],
  ['and those of a VM that says so', { ...linked, desired: { promoteDisks: 'Disabled' } }, 'success', 'nothing'],
  ['Online, and it is on', linked, 'promoteDisks', 'False DiskPromotionPending'],
  ['Online, and it is off', off, 'success', 'False DiskPromotionPending'],
  ['Online, and it is to be off', { ...linked, desired: wantsOff }, 'success', 'False DiskPromotionPending'],
  ['Offline, and it is on', { ...linked, desired: offline }, 'success', 'False DiskPromotionPending'],
  ['Offline, and it is off', { ...off, desired: offline }, 'promoteDisks', 'False DiskPromotionPending'],
  ['it has snapshots', { ...linked, vm: { hasSnapshots: true } }, 'success', 'False DiskPromotionPending'],
  [
    'an administrator has paused it',
    { config: { ...linked.config, extraConfig: { 'vmservice.virtualmachine.pause': 'true' } } },
    'success',
    'False DiskPromotionPending',
  ],
  ['its host is away', { ...linked, vm: { connectionState: 'disconnected' } }, 'success', 'False DiskPromotionPending'],
  [
    'its guest is being customized',
    { ...linked, vm: customized('TOOLSDEPLOYPKG_RUNNING') },
    'success',
    'False DiskPromotionPending',
  ],
  [
    'its guest is customized',
    { ...linked, vm: customized('TOOLSDEPLOYPKG_SUCCEEDED') },
    'promoteDisks',
    'False DiskPromotionPending',
  ],
  ['something else is done to it', { ...linked, vm: { task: other } }, 'wait Updating', 'False DiskPromotionPending'],
  ['they are being promoted', running, 'wait Updating', 'False DiskPromotionRunning'],
  [
    'another run has begun it: it is awaited',
    { ...running, isPromoting: false },
    'promoteDisks',
    'False DiskPromotionRunning',
  ],
  [
    'they are whole now',
    { observed: { recorded: { conditions: [recorded('VirtualMachineDiskPromotionSynced')] } } },
    'success',
    'True True',
  ],
  [
    'vCenter has refused it',
    { ...linked, memory: { failures: [failureIn('promotion', false)] } },
    'promoteDisks',
    'False DiskPromotionTaskError',
  ],
  [
    'others are promoted: it waits, and has not failed',
    { ...linked, memory: { failures: [failureIn('promotion', true, { reason: 'PromotionsFull' })] } },
    'wait Updating',
    'False DiskPromotionPending',
  ],
  [
    'it has failed, and is tried again',
    { ...linked, memory: { failures: [failureIn('promotion')] } },
    'promoteDisks',
    'False DiskPromotionTaskTransientError',
  ],
];

function recorded(type: string) {
  return { type, status: 'False' as const, reason: 'DiskPromotionRunning', message: '', lastTransitionTime: '' };
}

test.each(rows)('promotion: %s', (_why, given, does, condition) => {
  const context = vmContextOf(given);
  expect(inShort(planPromotion(context))).toBe(does);
  const said = judgePromotion(context);
  expect(said === null ? 'nothing' : `${said.status} ${said.reason}`).toBe(condition);
});

test('one that another run has begun is not begun again', () => {
  const step = { kind: 'promoteDisks', keys: [2_000, 2_001] };
  expect(planPromotion(vmContextOf(linked))).toMatchObject({ steps: [{ ...step, task: null }] });
  expect(planPromotion(vmContextOf({ ...running, isPromoting: false }))).toMatchObject({
    steps: [{ ...step, task: 'task-1' }],
  });
});

test('it waits for the end of its own, and looks for the end of another’s', () => {
  expect(planPromotion(vmContextOf(running))).toMatchObject({
    untilMs: null,
    message: expect.stringContaining('40 %'),
  });
  const others = { ...running, isPromoting: false };
  expect(
    planConfig(vmContextOf({ ...others, config: { ...linked.config, numCPUs: 1, extraConfig: {} } })),
  ).toMatchObject({ kind: 'wait', untilMs: expect.any(Number) });
});

test.each<[why: string, given: Given, does: string]>([
  ['what stops it ends the promotion', { ...running, desired: wantsOff }, 'cancelTask'],
  ['so does a guest that is asked to', { ...running, desired: { ...wantsOff, powerOffMode: 'Soft' } }, 'cancelTask'],
  [
    'it is not started meanwhile',
    { ...running, vm: { task: promoting, powerState: 'poweredOff' }, desired: offline },
    'wait Updating',
  ],
  ['a restart waits', { ...running, desired: { nextRestartTime: '2026-02-01T00:00:00Z' } }, 'wait Updating'],
  ['nothing is done where it is as it should be', running, 'success'],
])('power beside a promotion: %s', (_why, given, does) => {
  expect(inShort(planPower(vmContextOf(given)))).toBe(does);
});

test('Offline: a VM that is to start is promoted before', () => {
  expect(inShort(planUpdate(vmContextOf({ ...off, desired: offline })))).toBe('promoteDisks');
});

test('a promotion that vCenter refuses holds nothing up', () => {
  const memory = { failures: [failureIn('promotion', false)] };
  const given = { ...off, desired: offline, memory };
  expect(inShort(planUpdate(vmContextOf(given)))).toBe('powerOn');
});

test('a promotion that waits for room holds nothing up, and is no Warning', () => {
  const full = failureIn('promotion', true, { reason: 'PromotionsFull' });
  const memory = { failures: [full] };
  expect(inShort(planUpdate(vmContextOf({ ...off, desired: offline, memory })))).toBe('powerOn');
  const context = vmContextOf({ ...linked, memory });
  const { plan } = planWithNotes(context, false);
  expect(plan).toMatchObject({ kind: 'wait', phase: 'Updating', untilMs: full.retryAtMs });
  expect(publishedBy(context, plan).event?.type).not.toBe('Warning');
});
