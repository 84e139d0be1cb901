import type { VAppPropertyInfo, VmConfigInfo } from '../wire/vim/types.ts';
import { vAppChange } from './v-app.ts';

const property = (
  key: number,
  id: string,
  value: string | undefined,
  more: Partial<VAppPropertyInfo> = {},
): VAppPropertyInfo => ({
  key,
  id,
  label: `the ${id}`,
  type: 'string',
  userConfigurable: true,
  ...(value !== undefined && { value }),
  ...more,
});
const vApp = (...properties: VAppPropertyInfo[]): VmConfigInfo => ({
  $type: 'VmConfigInfo',
  property: properties,
  ovfEnvironmentTransport: ['iso'],
});

test.each<[what: string, wanted: Record<string, string>, observed: VmConfigInfo | null, changed: object[]]>([
  [
    'one that differs, with all that it is',
    { a: 'new' },
    vApp(property(0, 'a', 'old'), property(1, 'b', 'kept')),
    [{ operation: 'edit', info: property(0, 'a', 'new') }],
  ],
  [
    'one that has no value yet',
    { a: 'new' },
    vApp(property(0, 'a', undefined)),
    [{ operation: 'edit', info: property(0, 'a', 'new') }],
  ],
  ['one is emptied', { a: '' }, vApp(property(0, 'a', 'old')), [{ operation: 'edit', info: property(0, 'a', '') }]],
  [
    'each of one id',
    { a: 'new' },
    vApp(property(0, 'a', '', { classId: 'x' }), property(1, 'a', '', { classId: 'y' })),
    [
      { operation: 'edit', info: property(0, 'a', 'new', { classId: 'x' }) },
      { operation: 'edit', info: property(1, 'a', 'new', { classId: 'y' }) },
    ],
  ],
])('%s', (_, wanted, observed, changed) =>
  expect(vAppChange(wanted, observed, 'web')).toEqual({
    $type: 'VmConfigSpec',
    property: changed,
    ovfEnvironmentTransport: ['com.vmware.guestInfo'],
  }),
);

test.each<[what: string, wanted: Record<string, string>, observed: VmConfigInfo | null]>([
  ['they are so already', { a: 'old' }, vApp(property(0, 'a', 'old'))],
  ['empty is as good as nothing', { a: '' }, vApp(property(0, 'a', undefined))],
  [
    'one that users cannot set has that very value',
    { a: 'old' },
    vApp(property(0, 'a', 'old', { userConfigurable: false })),
  ],
  ['nothing is wanted of a VM without any', {}, null],
])('nothing is to be changed: %s', (_, wanted, observed) => expect(vAppChange(wanted, observed, 'web')).toBeNull());

test.each<[what: string, wanted: Record<string, string>, observed: VmConfigInfo | null, words: RegExp]>([
  [
    'one that the VM does not have',
    { a: '1', hunter: '2', other: '3' },
    vApp(property(0, 'a', 'secret')),
    /^web has no vApp property hunter, other of spec\.bootstrap\.vAppConfig: it has a\. /u,
  ],
  ['a VM without any', { a: '1' }, null, /it has none/u],
  [
    'one that its image does not let users set',
    { a: 'new' },
    vApp(property(0, 'a', 'secret', { userConfigurable: false })),
    /does not let users set the vApp property a of/u,
  ],
])('the object has to be corrected: %s', (_, wanted, observed, words) => {
  expect(() => vAppChange(wanted, observed, 'web')).toThrow(
    expect.objectContaining({ type: 'InvalidObject', nonRetryable: true, message: expect.stringMatching(words) }),
  );
  expect(() => vAppChange(wanted, observed, 'web')).not.toThrow(
    expect.objectContaining({ message: expect.stringContaining('secret') }),
  );
});
