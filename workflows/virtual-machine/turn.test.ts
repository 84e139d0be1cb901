import type { SlotKind } from '../../contracts/allowance.ts';
import type { VirtualMachineMemory } from '../../contracts/virtual-machine/observation.ts';
import type { VirtualMachineDecision, VirtualMachineStep } from '../../contracts/virtual-machine/plan.ts';
import { noMembership, report } from '../limits/membership.ts';
import { noMemory } from './remember.ts';
import { act, describeTurn } from './step.ts';
import type { Turn } from './turn.ts';
import { answered, heard, holds, isAskDue, isOver, turnOf, turnSeen } from './turn.ts';

const asked: Turn = {
  of: 'creates',
  vcenter: 'lab',
  cluster: '',
  share: report(noMembership, { want: 1, using: 0 }, 1_000).membership,
  taken: null,
  askAgainMs: 61_000,
};
const refused = answered(asked, { sequence: 0, allowance: 0, limit: 16, inUse: 16 });
const granted = answered(asked, { sequence: 1, allowance: 1, limit: 16, inUse: 3 });

test('it has its turn when that is granted, at once or later, and has it no more when that is taken back', () => {
  expect([null, asked, refused, granted].map((turn) => holds(turn, 'creates'))).toEqual([false, false, false, true]);
  expect(holds(granted, 'destroys')).toBe(false);
  expect(holds(heard(refused, { sequence: 1, allowance: 1 }), 'creates')).toBe(true);
  expect(holds(heard(granted, { sequence: 2, allowance: 0 }), 'creates')).toBe(false);
});

test('an answer that overtakes another counts', () => {
  expect(
    holds(
      answered(heard(asked, { sequence: 1, allowance: 1 }), { sequence: 0, allowance: 0, limit: 16, inUse: 16 }),
      'creates',
    ),
  ).toBe(true);
});

test.each<[why: string, turn: Turn | null, of: SlotKind, nowMs: number, due: boolean]>([
  ['never asked', null, 'creates', 0, true],
  ['asked for another', asked, 'destroys', 2_000, true],
  ['asked', refused, 'creates', 60_999, false],
  ['asked long ago', refused, 'creates', 61_000, true],
  ['has it', granted, 'creates', 61_000, false],
])('whether to ask: %s', (_why, turn, of, nowMs, due) => {
  expect(isAskDue(turn, of, nowMs)).toBe(due);
});

test('decisions see what it has, and need none where it only looks', () => {
  expect(turnSeen(null, false)).toEqual({ create: false, destroy: false, taken: null });
  expect(turnSeen(granted, false)).toEqual({ create: true, destroy: false, taken: { inUse: 3, limit: 16 } });
  expect(turnSeen(null, true)).toEqual({ create: true, destroy: true, taken: null });
});

test.each<[of: SlotKind, taken: { inUse: number; limit: number } | null, words: string]>([
  ['creates', { inUse: 16, limit: 16 }, 'a slot: 16 of 16 creates of vCenter lab are in progress'],
  ['destroys', { inUse: 19, limit: 16 }, 'a slot: 19 of 16 destroys of vCenter lab are in progress'],
  ['creates', { inUse: 3, limit: 16 }, 'a slot: the creates of vCenter lab that are in progress are being counted'],
  ['creates', null, 'a slot of the creates of vCenter lab'],
])('%s with %j taken: it waits for %s', (of, taken, words) => {
  expect(describeTurn(of, 'lab', taken)).toBe(words);
});

const steps = (...deeds: object[]): VirtualMachineStep[] =>
  act('config', ...deeds.map((deed) => ['', deed] as [string, VirtualMachineStep])).steps;
const acts = (...deeds: object[]): VirtualMachineDecision => ({
  next: 'act',
  state: 'Updating',
  steps: steps(...deeds),
});
const waits = (state: string, turn?: SlotKind): VirtualMachineDecision => ({
  next: 'wait',
  for: 'x',
  untilMs: null,
  state,
  ...(turn && { turn }),
});
const making = { ...noMemory, create: { task: 'task-1', sinceMs: 0 } };
const perhaps = { ...noMemory, create: { task: null, sinceMs: 0 } };

test.each<
  [why: string, decision: VirtualMachineDecision, memory: VirtualMachineMemory, deleting: boolean, of: SlotKind | null]
>([
  ['it waits for it', waits('TooManyCreates', 'creates'), noMemory, false, 'creates'],
  [
    'it is about to be made',
    acts({ do: 'patchVirtualMachine' }, { do: 'createVirtualMachine' }),
    noMemory,
    false,
    'creates',
  ],
  ['it is being made', acts({ do: 'awaitTask', task: 'task-1' }), making, false, 'creates'],
  ['it is being made, whatever else is done', acts({ do: 'patchVirtualMachine' }), making, false, 'creates'],
  ['it is being made, and vCenter does not answer', waits('Failed'), making, false, 'creates'],
  ['it is not wanted any more: its making is stopped', acts({ do: 'cancelCreate' }), making, true, 'creates'],
  ['and so where its task is not known', acts({ do: 'cancelCreate' }), perhaps, true, 'creates'],
  ['it could not be made, and is tried again later', waits('Failed'), perhaps, false, null],
  ['something is missing', waits('WaitingForPrerequisites'), noMemory, false, null],
  ['it is there', acts({ do: 'reconfigure' }), noMemory, false, null],
  ['powering on is no create', acts({ do: 'power', operation: 'powerOn' }), noMemory, false, null],
  ['its turn to be destroyed', waits('Deleting', 'destroys'), noMemory, true, 'destroys'],
  ['it is powered off for that', acts({ do: 'power', operation: 'powerOff' }), noMemory, true, 'destroys'],
  ['its guest is', waits('Deleting'), noMemory, true, 'destroys'],
  ['its disks are detached', acts({ do: 'detachDisks' }), noMemory, true, 'destroys'],
  ['it is destroyed', acts({ do: 'destroy' }), noMemory, true, 'destroys'],
  ['it could not be', waits('Failed'), noMemory, true, null],
  ['it is gone', acts({ do: 'patchVirtualMachine' }), noMemory, true, null],
  ['it rests', { next: 'done', end: 'rests', state: 'Failed', message: '' }, noMemory, true, null],
])('the turn that is needed: %s', (_why, decision, memory, deleting, of) => {
  expect(turnOf({ decision, memory }, deleting)).toBe(of);
});

test.each<[why: string, of: SlotKind, taken: VirtualMachineStep[], memory: VirtualMachineMemory, over: boolean]>([
  [
    'the create was submitted',
    'creates',
    steps({ do: 'patchVirtualMachine' }, { do: 'createVirtualMachine' }),
    making,
    false,
  ],
  ['it has ended', 'creates', steps({ do: 'awaitTask', task: 'task-1' }), noMemory, true],
  ['it was waited for in the same call', 'creates', steps({ do: 'createVirtualMachine' }), noMemory, true],
  ['nobody knows whether it was submitted', 'creates', steps({ do: 'createVirtualMachine' }), perhaps, false],
  ['something else', 'creates', steps({ do: 'patchVirtualMachine' }), noMemory, false],
  ['powered off', 'destroys', steps({ do: 'power' }), noMemory, false],
  ['destroyed, or not', 'destroys', steps({ do: 'destroy' }), noMemory, true],
])('whether it is over: %s', (_why, of, taken, memory, over) => {
  expect(isOver(of, taken, memory)).toBe(over);
});
