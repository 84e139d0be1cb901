import type { AllowanceProgress } from '../../contracts/allowance.ts';
import { renderLimits } from './limits.ts';
import { plain } from './paint.ts';

const nowMs = Date.UTC(2026, 0, 31, 12);
const consumer = {
  consumer: 'eviction/node-3',
  host: 'node-3',
  want: 4,
  using: 1,
  allowance: 1,
  deadline: '2026-01-31T12:05:00Z',
  closed: false,
  muteSince: null,
  since: '2026-01-31T11:59:00Z',
};
const progress: AllowanceProgress = {
  kind: 'migrations',
  region: 'RegionOne',
  phase: 'Allocating',
  waitingFor: 'requests of consumers',
  nextWakeUp: '2026-01-31T12:00:30Z',
  limit: 6,
  limitConfigured: 8,
  limitReason: 'lowered, as they are slow',
  inUse: 3,
  consumers: [
    consumer,
    { ...consumer, consumer: 'eviction/node-4', host: 'node-4', deadline: null, muteSince: '2026-01-31T11:50:00Z' },
    { ...consumer, consumer: 'eviction/node-5', host: 'node-5', deadline: null, closed: true },
  ],
  elsewhere: { 'node-9': 2 },
  novaRuns: { 'node-3': 1 },
};
const shown = (change: Partial<AllowanceProgress> | null): string[] =>
  renderLimits(
    [
      {
        workflowId: 'limits/migrations/RegionOne',
        progress: change === null ? null : ({ ...progress, ...change } as AllowanceProgress),
      },
    ],
    nowMs,
    plain,
    Infinity,
  );

test('a limit, why it is lower, and each consumer with what is to be known of it', () => {
  expect(shown({})).toEqual([
    'migrations of region RegionOne  Allocating: 3 of 6 granted or in progress',
    '  the limit is 6 of at most 8: lowered, as they are slow',
    '  CONSUMER         HOST    WANT  USING  GRANTED  SINCE  DEADLINE  REMARK',
    '  eviction/node-3  node-3  4     1      1        1m     in 5m     Nova runs 1 at a time there',
    '  eviction/node-4  node-4  4     1      1        1m     -         has not reported for 10m: temporal workflow describe -w eviction/node-4',
    '  eviction/node-5  node-5  4     1      1        1m     -         closed; what it left in progress counts',
    '  in progress besides: node-9 2',
  ]);
});

test('what it waits for; and the first fifty of very many', () => {
  const many = Array.from({ length: 60 }, () => consumer);
  const lines = shown({ phase: 'Draining', waitingFor: 'migrations to end', limitReason: null, consumers: many });
  expect(lines).toContain('  waiting for migrations to end');
  expect(lines).toContain('  and 10 more');
});

test('one for which no worker answers', () => {
  expect(shown(null)).toEqual(['limits/migrations/RegionOne  no worker answers for it']);
});
