import type { VirtualMachine } from '../../contracts/crds/virtual-machine.ts';
import type { Said } from './vm-watch.ts';
import { isOnAndSettled, openNotes } from './vm-watch.ts';

const vm = ({ generation = 1, observed = 1, status = 'True', powerState = 'PoweredOn' } = {}): Pick<
  VirtualMachine,
  'metadata' | 'status'
> =>
  ({
    metadata: { name: 'web', generation },
    status: {
      powerState,
      conditions: [{ type: 'Lifecycle', status, reason: 'Reconciled', message: 'words', observedGeneration: observed }],
    },
  }) as unknown as VirtualMachine;

test.each([
  ['on and settled', vm(), true],
  ['off', vm({ powerState: 'PoweredOff' }), false],
  ['not settled', vm({ status: 'Unknown' }), false],
  ['settled for an earlier spec', vm({ generation: 2 }), false],
])('%s', (_, object, verdict) => {
  expect(isOnAndSettled(object)).toBe(verdict);
});

const said = (name: string, more: Partial<Said> = {}): Said => ({
  uid: name,
  resourceVersion: '1',
  name,
  isOnAndSettled: true,
  powerState: 'PoweredOn',
  words: 'Reconciled: words',
  ...more,
});

test('what was settled first counts; power states are kept as they came, one for each change; what is gone is forgotten', () => {
  const { take, settledMs, lastSaid, powerStates } = openNotes();
  take({ type: 'added', after: said('gone') }, 1);
  take({ type: 'added', after: said('web', { isOnAndSettled: false, powerState: 'PoweredOff', words: null }) }, 2);
  for (const atMs of [3, 4]) take({ type: 'changed', before: said('web'), after: said('web') }, atMs);
  take(
    {
      type: 'changed',
      before: said('web'),
      after: said('web', { isOnAndSettled: false, powerState: 'PoweredOff', words: 'Waiting: words' }),
    },
    5,
  );
  take({ type: 'gone', after: said('gone') }, 6);
  expect([...settledMs]).toEqual([['web', 3]]);
  expect([...lastSaid]).toEqual([['web', 'Waiting: words']]);
  expect([...powerStates]).toEqual([
    [
      'web',
      [
        { powerState: 'PoweredOff', atMs: 2 },
        { powerState: 'PoweredOn', atMs: 3 },
        { powerState: 'PoweredOff', atMs: 5 },
      ],
    ],
  ]);
});
