import type { EvictionProgress } from '../../contracts/eviction/eviction.ts';
import { plain } from './paint.ts';
import {
  deadlineMarginMs,
  estimateMs,
  formatMargin,
  formatMemory,
  oldestWait,
  phaseWord,
  renderInstances,
  renderProgressBar,
  summarizeCounts,
  worstFirst,
} from './progress.ts';
import { ago, now, sampleInstance, sampleProgress } from '../../test/fixtures/starters/progress.ts';

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

test('what needs a person is at the top, what is over at the end', () => {
  expect(renderInstances(worstFirst(sampleProgress().instances), now, plain, 120)).toEqual([
    'INSTANCE  STATE    ATTEMPT  TARGET  PROGRESS         ETA  MEMORY   SINCE  MESSAGE',
    'web-3     blocked        3  -                          -   2 GiB     30s  Nova refused: No valid host',
    'web-2     moving         2  node-3  █████░░░░░  50%  10s   2 GiB     10s',
    'db-1      pending        -  -                          -   2 GiB  4m 10s',
    'web-1     moved          1  node-2                     -   2 GiB  3m 20s',
  ]);
});

test.each<[why: string, facts: Parameters<typeof sampleInstance>[0], etaMs: number | null]>([
  ['at the pace so far', { name: 'a', state: 'moving', percent: 25, since: ago(10) }, 30_000],
  ['all copied', { name: 'a', state: 'moving', percent: 100, since: ago(10) }, 0],
  ['nothing copied', { name: 'a', state: 'moving', percent: 0, since: ago(10) }, null],
  ['nothing known', { name: 'a', state: 'moving', percent: null }, null],
  ['not moving', { name: 'a', state: 'pending', percent: 50 }, null],
])('an estimate: %s', (_why, facts, etaMs) => {
  expect(estimateMs(sampleInstance(facts), now)).toBe(etaMs);
});

test('names and messages of others cannot break the table', () => {
  const [, line] = renderInstances([sampleInstance({ name: 'a\u001b[31m\nb', message: 'x\ny' })], now, plain, 200);
  expect(line).toMatch(/^a b .* x y$/);
});

test.each<[percent: number | null, bar: string]>([
  [0, '░░░░░░░░░░   0%'],
  [50, '█████░░░░░  50%'],
  [99.9, '█████████░  99%'],
  [100, '██████████ 100%'],
  [140, '██████████ 100%'],
  [null, '               '],
])('%p percent', (percent, bar) => {
  expect(renderProgressBar(percent)).toBe(bar);
});

test.each<[memoryMiB: number, text: string]>([
  [512, '512 MiB'],
  [1024, '1 GiB'],
  [1536, '1.5 GiB'],
  [1_572_864, '1.5 TiB'],
])('%d MiB is %s', (memoryMiB, text) => {
  expect(formatMemory(memoryMiB)).toBe(text);
});
