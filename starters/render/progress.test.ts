import type { EvictionProgress } from '../../contracts/eviction/eviction.ts';
import { deadlineMarginMs, formatMargin, oldestWait, phaseWord, summarizeCounts } from './progress.ts';
import { ago, now, sampleInstance, sampleProgress } from './sample-progress.ts';

test('counts leave out what is zero', () => {
  expect(summarizeCounts(sampleProgress().counts)).toBe('1 of 4 done, 1 moving, 1 pending, 1 blocked');
  expect(summarizeCounts({ total: 24, done: 24, moving: 0, pending: 0, blocked: 0, skipped: 0 })).toBe('24 of 24 done');
});

test('the oldest wait is of those that wait', () => {
  expect(oldestWait(sampleProgress())).toBe(ago(250));
  expect(oldestWait(sampleProgress({ instances: [sampleInstance({ name: 'a', state: 'moving' })] }))).toBeNull();
});

test.each<[why: string, facts: Partial<EvictionProgress>, margin: string | null]>([
  ['no deadline', {}, null],
  ['in time', { deadline: '2026-01-31T13:06:20Z' }, '1h'],
  ['late', { deadline: '2026-01-31T12:01:20Z' }, '-5m'],
  ['no estimate yet', { deadline: '2026-01-31T12:01:20Z', etaMs: null }, '1m 20s'],
])('margin: %s', (_why, facts, margin) => {
  const marginMs = deadlineMarginMs(sampleProgress(facts), now);
  expect(marginMs === null ? null : formatMargin(marginMs)).toBe(margin);
});

test('a phase says when nothing will happen', () => {
  expect(phaseWord(sampleProgress({ paused: 'lunch' }))).toBe('Moving (paused)');
  expect(phaseWord(sampleProgress({ mode: 'observe' }))).toBe('Moving (observing)');
  expect(phaseWord(sampleProgress())).toBe('Moving');
});
