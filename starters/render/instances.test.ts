import { estimateMs, renderInstances, worstFirst } from './instances.ts';
import { plain } from './paint.ts';
import { ago, now, sampleInstance, sampleProgress } from './sample-progress.ts';

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
