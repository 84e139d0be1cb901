import { done, execute, type Plan, type Step, wait } from './plan.ts';
import { countRepetition, repeatAtMs, type Repetition, retryAfterMs } from './retry.ts';

test.each<[failures: number, seconds: number]>([
  [1, 10],
  [2, 20],
  [6, 320],
  [7, 600],
  [2_000, 600],
])('after failure %i in a row: %i s', (failures, seconds) => {
  expect(retryAfterMs(failures)).toBe(seconds * 1_000);
});

test.each<[failures: number, seconds: number]>([
  [1, 10],
  [3, 40],
  [4, 60],
  [2_000, 60],
])('while drover is stopped, after failure %i in a row: %i s', (failures, seconds) => {
  expect(retryAfterMs(failures, 'Stopped')).toBe(seconds * 1_000);
});

const step = (kind: string, more: object = {}): Step => ({ kind, summary: kind, phase: 'Testing', ...more });
const polish = execute([step('polish', { size: 1 })]);
const steps = JSON.stringify(polish.steps);
const twice: Repetition = { steps, times: 2, atMs: 7 };

test.each<[what: string, plan: Plan<Step>, times: number | null]>([
  ['the same steps', execute([step('polish', { size: 1 })]), 2],
  ['the same steps, under a slot', execute([step('polish', { size: 1 })], { limit: 'builds' }), 2],
  ['the step with another input', execute([step('polish', { size: 2 })]), 0],
  ['another step', execute([step('build', { size: 1 })]), 0],
  ['one step more', execute([...polish.steps, step('build')]), 0],
  ['a wait', wait('Testing', 'Testing', 'the test'), null],
  ['the end', done('reconciled', 'Reconciled', 'It is as wanted'), null],
])('what was executed twice is followed by %s', (_, plan, times) => {
  expect(countRepetition(twice, plan)?.times ?? null).toBe(times);
});

test('the first plan counts from nothing', () => {
  expect(countRepetition(null, polish)).toEqual({ steps, times: 0, atMs: 0 });
});

test.each<[times: number, pauseSeconds: number]>([
  [0, 0],
  [2, 0],
  [3, 10],
  [4, 20],
  [9, 600],
])('executed %i times: again after %i s', (times, pauseSeconds) => {
  expect(repeatAtMs({ steps, times, atMs: 1_000 })).toBe(1_000 + pauseSeconds * 1_000);
});
