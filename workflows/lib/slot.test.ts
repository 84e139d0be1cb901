import type { SlotAnswer, SlotMessage } from '../../contracts/allowance.ts';
import type { Lifecycle, Reconciler, RunHandle, Situation } from './lifecycle.ts';
import { SlotHolder } from './slot.ts';

/** A slot that an activity acquires along with the work before. */

const limit = 'builds';
const situation = {} as Situation<Lifecycle>;
const message = { limit: { kind: 'creates', vcenter: 'prod' } } as SlotMessage;
const granted: SlotAnswer = { sequence: 1, allowance: 1, limit: 2, inUse: 1 };
const queued: SlotAnswer = { sequence: 0, allowance: 0, limit: 2, inUse: 2 };

function open() {
  const calls: string[] = [];
  const slots: Reconciler<Lifecycle>['slots'] = {
    queued: () => ({ kind: 'wait', phase: 'Queued', reason: 'Queued', message: 'a slot', untilMs: null }),
    acquire: () => Promise.resolve(false),
    release: (_, of) => async () => void calls.push(`release ${of}`),
    ahead: {
      request: (_, of) => (calls.push(`ask for ${of}`), message),
      answered: (of, answer) => {
        calls.push(`${of}: ${answer === null ? 'not asked' : answer.allowance}`);
        return (answer?.allowance ?? 0) > 0;
      },
    },
  };
  const holder = new SlotHolder({ slots } as Reconciler<Lifecycle>, {} as RunHandle<Lifecycle>);
  return { holder, calls };
}

test.each<[what: string, answer: SlotAnswer | 'unknown' | null, isHeld: boolean, calls: string[]]>([
  ['granted, it is held by what comes next', granted, true, [`${limit}: 1`, 'release builds']],
  [
    'queued, it is asked for anew, and its place released where it is not',
    queued,
    false,
    [`${limit}: 0`, 'release builds'],
  ],
  ['without an answer it may be queued', 'unknown', false, ['release builds']],
  ['where it was not asked for there is nothing to release', null, false, [`${limit}: not asked`]],
])('%s', async (_what, answer, isHeld, expected) => {
  const { holder, calls } = open();
  expect(holder.request(situation, limit)).toBe(message);
  expect(holder.isHeld(limit)).toBe(false);
  holder.answer(answer);
  expect(holder.isHeld(limit)).toBe(isHeld);
  // What comes next needs it.
  holder.releaseUnless(limit, situation);
  await holder.releaseAll(situation);
  expect(calls).toEqual([`ask for ${limit}`, ...expected]);
});

test('one that is held, or asked for, is not asked for again', () => {
  const { holder, calls } = open();
  holder.request(situation, limit);
  expect(holder.request(situation, limit)).toBeNull();
  holder.answer(granted);
  expect(holder.request(situation, limit)).toBeNull();
  // Of a step that asks for none.
  holder.answer(null);
  expect(holder.isHeld(limit)).toBe(true);
  expect(calls).toEqual([`ask for ${limit}`, `${limit}: 1`]);
});

test('a step that failed may have asked: its place is released', async () => {
  const { holder, calls } = open();
  holder.request(situation, limit);
  holder.answer('unknown');
  // The next attempt.
  expect(holder.request(situation, limit)).toBeNull();
  holder.answer(null);
  holder.releaseUnless(undefined, situation);
  await holder.releaseAll(situation);
  expect(calls).toEqual([`ask for ${limit}`, `release ${limit}`]);
});
