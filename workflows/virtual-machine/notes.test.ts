import type { Outcome } from '../../contracts/virtual-machine/plan.ts';
import { describeApplied } from './plan/judge-resize.ts';
import { noted, notesOf } from './notes.ts';
import { desiredOf } from '../../test/fixtures/workflows/virtual-machine.ts';
import { act, patch, success, wait } from './step.ts';

const booted = {
  annotations: { 'virtualmachine.vmoperator.vmware.com/first-boot-done': 'true', 'drover.dev/creating': null },
};
const applied = {
  annotations: {
    'vmoperator.vmware.com/last-resized-vm-class': describeApplied({ name: 'large', uid: 'u', generation: 3 }),
  },
};
const step = (...patches: Parameters<typeof patch>[2][]): Outcome => patch('power', 'Note it', ...patches);

test.each<[what: string, outcome: Outcome, notes: object | null]>([
  ['the first start', step(booted), [booted]],
  ['the class that was applied', step(applied), [applied]],
  ['both', step(booted, applied), [booted, applied]],
  [
    'beside a deed it is a step',
    act(
      'power',
      ['Power on', { do: 'power', moId: 'vm-1', operation: 'powerOn' }],
      ['Note it', { do: 'patchVirtualMachine', patches: [booted] }],
    ),
    null,
  ],
  ['what others go by is none', step({ annotations: { 'vmoperator.vmware.com/manager-id': 'vc' } }), null],
  ['the spec is none', step({ ...booted, spec: {} }), null],
  ['a finalizer is none', step({ removeFinalizers: ['f'] }), null],
  ['nothing', success, null],
  ['a wait', wait('Updating', 'it'), null],
])('%s', (_, outcome, notes) => {
  expect(notesOf(outcome)).toEqual(notes);
});

test('what is noted counts from then on', () => {
  const before = desiredOf({ firstBootDone: false, creatingSince: '2026-01-01T00:00:00Z', lastResizedClass: null });
  expect(noted(before, [booted, applied])).toEqual({
    ...before,
    firstBootDone: true,
    creatingSince: null,
    lastResizedClass: { name: 'large', uid: 'u', generation: 3 },
  });
  expect(noted(before, [])).toEqual(before);
});
