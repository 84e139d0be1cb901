import { planRestart, planRestartIntent } from './restart.ts';
import type { VirtualMachineMemory } from '../../../contracts/virtual-machine/observation.ts';
import {
  beginMs,
  guestOf,
  inShort,
  minute,
  vmContextOf,
  type Given,
} from '../../../test/fixtures/workflows/virtual-machine.ts';

const forMs = beginMs + minute;
const wanted = { nextRestartTime: new Date(forMs).toISOString() };
const metadata = vmContextOf().vm.config?.extraConfig ?? {};
const nowMs = beginMs + 2 * minute;
const restart = (more: Partial<NonNullable<VirtualMachineMemory['restart']>>) => ({
  restart: { forMs, sinceMs: nowMs, failed: false, refusals: 0, ...more },
});
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
    'Soft never forces, and a guest that refuses has a pause',
    {
      desired: { ...wanted, restartMode: 'Soft' },
      config: intent(forMs),
      memory: restart({ failed: true, refusals: 1 }),
    },
    'wait GuestRefused',
    false,
  ],
  [
    'then it is asked again',
    {
      desired: { ...wanted, restartMode: 'Soft' },
      config: intent(forMs),
      memory: restart({ failed: true, refusals: 1, sinceMs: nowMs - 10_000 }),
    },
    'rebootGuest',
    false,
  ],
  [
    'the pauses grow',
    {
      desired: { ...wanted, restartMode: 'Soft' },
      config: intent(forMs),
      memory: restart({ failed: true, refusals: 5, sinceMs: nowMs - 60_000 }),
    },
    'wait GuestRefused',
    false,
  ],
  [
    'Hard does not wait for a guest that refused to be asked',
    {
      desired: { ...wanted, restartMode: 'Hard' },
      config: intent(forMs),
      memory: restart({ failed: true, refusals: 5 }),
    },
    'reset',
    false,
  ],
  [
    'an answer was lost: it is asked again',
    { desired: wanted, config: intent(forMs), memory: restart({ unanswered: true }) },
    'rebootGuest',
    false,
  ],
  [
    'a guest that refuses then may be restarting: it is not reset',
    { desired: wanted, config: intent(forMs), memory: restart({ unanswered: true, failed: true, refusals: 1 }) },
    'wait Restarting',
    false,
  ],
  [
    'nor when its Tools are back: then it is asked',
    {
      desired: wanted,
      config: intent(forMs),
      memory: restart({ unanswered: true, failed: true, refusals: 1 }),
      nowMs: nowMs + 5 * minute,
    },
    'rebootGuest',
    false,
  ],
  [
    'but when they do not come back in its time',
    {
      desired: wanted,
      config: intent(forMs),
      memory: restart({ unanswered: true, failed: true, refusals: 1 }),
      nowMs: nowMs + 5 * minute,
      vm: { guest: guestOf({ toolsRunning: false }) },
    },
    'reset',
    false,
  ],
  [
    'TrySoft forces a guest that refuses',
    { desired: wanted, config: intent(forMs), memory: restart({ failed: true, refusals: 1 }) },
    'reset',
    false,
  ],
  [
    'it was asked for: that is noted',
    { desired: wanted, config: intent(forMs), memory: restart({}) },
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
    { desired: wanted, config: intent(forMs), memory: restart({ forMs: beginMs }) },
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
  const outcome = planRestart(vmContextOf({ desired: wanted, config: intent(forMs), memory: restart({}) }));
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

test('a refusal says what a person can do, and when the guest is asked again', () => {
  const given: Given = {
    desired: { ...wanted, restartMode: 'Soft' },
    config: intent(forMs),
    memory: restart({ failed: true, refusals: 3 }),
  };
  expect(planRestart(vmContextOf(given))).toMatchObject({
    message: expect.stringContaining('start VMware Tools in the guest, or set restartMode to TrySoft or Hard'),
    untilMs: nowMs + 40_000,
  });
});
