import type { VirtualMachineSettings } from '../../../contracts/virtual-machine/lifecycle.ts';
import type { ObservedClass, Fetched } from '../../../contracts/virtual-machine/observation.ts';
import { describeApplied, diffWantedKeys, judgeResize } from './want-config.ts';
import { classOf, desiredOf } from '../../../test/fixtures/workflows/virtual-machine.ts';

const found = (more: Partial<ObservedClass> = {}): Fetched<ObservedClass> => ({ kind: 'found', value: classOf(more) });
const large = found({ name: 'large', uid: 'class-2' });

type Wanted = Partial<Parameters<typeof judgeResize>[0]>;
const rows: [
  why: string,
  wanted: Wanted,
  fetched: Fetched<ObservedClass> | null,
  resize: VirtualMachineSettings['resize'],
  is: string,
][] = [
  ['the class is the one that was applied', {}, found(), 'all', 'no True'],
  ['another class is applied', { className: 'large' }, large, 'all', 'yes ClassNameChanged'],
  ['not where resizing is off: that is said', { className: 'large' }, large, 'off', 'no ClassNameChanged'],
  ['the class has changed: the VM does not follow', {}, found({ generation: 2 }), 'all', 'no ClassUpdated'],
  ['unless it opts in', { sameClassResize: true }, found({ generation: 2 }), 'all', 'yes SameClassResize'],
  ['and resizing is on', { sameClassResize: true }, found({ generation: 2 }), 'off', 'no SameClassResize'],
  [
    'another class of the same name counts as changed',
    { sameClassResize: true },
    found({ uid: 'new' }),
    'size',
    'yes SameClassResize',
  ],
  ['nothing is known of what was applied: nothing is applied', { lastResizedClass: null }, found(), 'all', 'no -'],
  ['unless it opts in', { lastResizedClass: null, sameClassResize: true }, found(), 'all', 'yes SameClassResize'],
  ['a class that is missing holds nothing up', {}, { kind: 'notFound', message: '' }, 'all', 'no ClassNotFound'],
  ['a classless VM has no size but its own', { className: null }, null, 'all', 'no -'],
];

test.each(rows)('resize: %s', (_why, wanted, fetched, resize, is) => {
  const judged = judgeResize({ ...desiredOf(), ...wanted }, fetched, { resize });
  expect(`${judged.apply === null ? 'no' : 'yes'} ${judged.condition?.reason ?? '-'}`).toBe(is);
});

test('what was applied is recorded as upstream does', () => {
  expect(describeApplied({ name: 'small', uid: 'u', generation: 3 })).toBe('{"Name":"small","UID":"u","Generation":3}');
});

test('a key that no observation shows is not written again and again; one that was, goes with its note', () => {
  const managed = 'vmservice.extraconfig.managedKeys';
  expect(diffWantedKeys({ 'guestinfo.vendordata': 'of its class', a: '1' }, {})).toEqual([{ key: 'a', value: '1' }]);
  expect(
    diffWantedKeys(
      { 'guestinfo.vendordata': '', 'Guestinfo.Userdata': '', [managed]: '' },
      { [managed]: 'Guestinfo.Userdata,guestinfo.vendordata' },
    ),
  ).toEqual([
    { key: managed, value: '' },
    { key: 'guestinfo.vendordata', value: '' },
  ]);
});
