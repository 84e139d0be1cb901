import type { Condition, ConditionUpdate } from './conditions.ts';
import { findCondition, setConditions } from './conditions.ts';

const then = '2026-01-01T00:00:00Z';
const now = '2026-01-02T00:00:00Z';
const running: Condition = {
  type: 'Evicting',
  status: 'True',
  reason: 'Running',
  message: 'Running',
  lastTransitionTime: then,
};
const foreign: Condition = {
  type: 'Tainted',
  status: 'False',
  reason: 'NoKubectl',
  message: '',
  lastTransitionTime: then,
};

type Row = [why: string, update: ConditionUpdate, transition: string];
const rows: Row[] = [
  [
    'a new condition starts now',
    { type: 'MigratingInstance', status: 'False', reason: 'Succeeded', message: 'x' },
    now,
  ],
  [
    'a new message keeps the transition time',
    { type: 'Evicting', status: 'True', reason: 'Running', message: '5 of 24' },
    then,
  ],
  ['a new reason keeps it too', { type: 'Evicting', status: 'True', reason: 'Paused', message: 'Running' }, then],
  ['a new status moves it', { type: 'Evicting', status: 'False', reason: 'Succeeded', message: 'done' }, now],
];

test.each(rows)('%s', (_why, update, lastTransitionTime) => {
  const after = setConditions([running, foreign], [update], now);
  expect(findCondition(after, update.type)).toEqual({ ...update, lastTransitionTime });
  expect(findCondition(after, 'Tainted')).toBe(foreign);
});

test('what does not change is the same array, so that nothing is written', () => {
  const before = [running, foreign];
  const { lastTransitionTime: _, ...update } = running;
  expect(setConditions(before, [update], now)).toBe(before);
});

test('a new status does not go back in time, where the clock that wrote the last one was ahead', () => {
  const ahead = '2026-01-03T00:00:00Z';
  const [after] = setConditions([{ ...running, lastTransitionTime: ahead }], [{ ...running, status: 'False' }], now);
  expect(after).toMatchObject({ status: 'False', lastTransitionTime: ahead });
});
