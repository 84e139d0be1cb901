import type { VirtualMachine } from '../../contracts/crds/virtual-machine.ts';
import type { WatchedVm } from './vm-watch.ts';
import { isOnAndReconciled, openVmLog } from './vm-watch.ts';

const vm = ({ generation = 1, observed = 1, status = 'True', powerState = 'PoweredOn' } = {}): Pick<
  VirtualMachine,
  'metadata' | 'status'
> =>
  ({
    metadata: { name: 'web', generation },
    status: {
      powerState,
      conditions: [{ type: 'Lifecycle', status, reason: 'Reconciled', message: 'why', observedGeneration: observed }],
    },
  }) as unknown as VirtualMachine;

test.each([
  ['on and reconciled', vm(), true],
  ['off', vm({ powerState: 'PoweredOff' }), false],
  ['not reconciled', vm({ status: 'Unknown' }), false],
  ['reconciled for an earlier spec', vm({ generation: 2 }), false],
])('%s', (_, object, verdict) => {
  expect(isOnAndReconciled(object)).toBe(verdict);
});

const watched = (name: string, more: Partial<WatchedVm> = {}): WatchedVm => ({
  uid: name,
  resourceVersion: '1',
  name,
  isOnAndReconciled: true,
  powerState: 'PoweredOn',
  message: 'Reconciled: why',
  ...more,
});

test('the first reconciled state counts; power states are kept in order, one for each change; a deleted VM is removed', () => {
  const { record, reconciledMs, lastMessage, powerStates } = openVmLog();
  record({ type: 'added', after: watched('gone') }, 1);
  record(
    { type: 'added', after: watched('web', { isOnAndReconciled: false, powerState: 'PoweredOff', message: null }) },
    2,
  );
  for (const atMs of [3, 4]) record({ type: 'changed', before: watched('web'), after: watched('web') }, atMs);
  record(
    {
      type: 'changed',
      before: watched('web'),
      after: watched('web', { isOnAndReconciled: false, powerState: 'PoweredOff', message: 'Waiting: why' }),
    },
    5,
  );
  record({ type: 'gone', after: watched('gone') }, 6);
  expect([...reconciledMs]).toEqual([['web', 3]]);
  expect([...lastMessage]).toEqual([['web', 'Waiting: why']]);
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
