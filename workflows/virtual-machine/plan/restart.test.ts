import { planRestart, planRestartIntent } from './restart.ts';
import { beginMs, inShort, minute, vmContextOf, type Given } from '../../../test/fixtures/workflows/virtual-machine.ts';

const forMs = beginMs + minute;
const wanted = { nextRestartTime: new Date(forMs).toISOString() };
const metadata = vmContextOf().vm.config?.extraConfig ?? {};
const last = (ms: number) => ({ extraConfig: { ...metadata, 'vmservice.lastRestartTime': `${ms}000000` } });
const intent = (ms: number, bootId = 'boot-1') => ({
  extraConfig: { ...metadata, 'drover.restartIntent': `${ms} ${bootId}` },
});

const rows: [why: string, given: Given, does: string, writesIntent: boolean][] = [
  ['no request', {}, 'success', false],
  ['`now` waits for its time to be filled in', { desired: { nextRestartTime: 'now' } }, 'success', false],
  ['it was done', { desired: wanted, config: last(forMs) }, 'success', false],
  ['a later one was done', { desired: wanted, config: last(forMs + 1) }, 'success', false],
  ['it lies ahead', { desired: wanted, nowMs: beginMs }, 'wait Updating', false],
  ['it is due: first the intent is written', { desired: wanted }, 'wait Restarting', true],
  ['an earlier one was done', { desired: wanted, config: last(beginMs) }, 'wait Restarting', true],
  ['then the guest is asked', { desired: wanted, config: intent(forMs) }, 'rebootGuest', false],
  [
    'an intent for another time counts no more',
    { desired: wanted, config: intent(beginMs, 'boot-0') },
    'wait Restarting',
    true,
  ],
  [
    'nonsense in its place neither',
    {
      desired: wanted,
      config: { extraConfig: { ...metadata, 'drover.restartIntent': 'x', 'vmservice.lastRestartTime': 'y' } },
    },
    'wait Restarting',
    true,
  ],
  ['Hard resets', { desired: { ...wanted, restartMode: 'Hard' }, config: intent(forMs) }, 'reset', false],
  ['Soft asks', { desired: { ...wanted, restartMode: 'Soft' }, config: intent(forMs) }, 'rebootGuest', false],
  [
    'Soft never forces',
    {
      desired: { ...wanted, restartMode: 'Soft' },
      config: intent(forMs),
      memory: { restart: { forMs, failed: true } },
    },
    'rebootGuest',
    false,
  ],
  [
    'TrySoft forces a guest that refuses',
    { desired: wanted, config: intent(forMs), memory: { restart: { forMs, failed: true } } },
    'reset',
    false,
  ],
  [
    'it was asked for: that is noted',
    { desired: wanted, config: intent(forMs), memory: { restart: { forMs, failed: false } } },
    'reconfigure',
    false,
  ],
  [
    'never twice: the memory is lost, but the VM has booted since',
    { desired: wanted, config: intent(forMs, 'boot-0') },
    'reconfigure',
    false,
  ],
  [
    'never lost: the memory is lost, and it has not',
    { desired: { ...wanted, restartMode: 'Hard' }, config: intent(forMs) },
    'reset',
    false,
  ],
  [
    'an earlier restart in memory is another one',
    { desired: wanted, config: intent(forMs), memory: { restart: { forMs: beginMs, failed: false } } },
    'rebootGuest',
    false,
  ],
];

test.each(rows)('restart: %s', (_why, given, does, writesIntent) => {
  const context = vmContextOf(given);
  expect(inShort(planRestart(context))).toBe(does);
  expect(planRestartIntent(context).length > 0).toBe(writesIntent);
});

test('what is noted is the time that was asked for, in nanoseconds, and the intent goes', () => {
  const outcome = planRestart(
    vmContextOf({ desired: wanted, config: intent(forMs), memory: { restart: { forMs, failed: false } } }),
  );
  expect(outcome).toMatchObject({
    steps: [
      {
        spec: {
          extraConfig: [
            { key: 'vmservice.lastRestartTime', value: `${forMs}000000` },
            { key: 'drover.restartIntent', value: '' },
          ],
        },
      },
    ],
  });
});
