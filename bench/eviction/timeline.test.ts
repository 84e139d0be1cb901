import * as fc from 'fast-check';
import type { ApiCall, MigrationEvent } from '../../lab/openstack/journal.ts';
import { readMoves, spanMs, successions } from './timeline.ts';

const post = (instance: string, timeMs: number, more: Partial<ApiCall> = {}): ApiCall => ({
  timeMs,
  durationMs: 5,
  method: 'POST',
  path: `/v2.1/servers/${instance}/action`,
  query: '',
  action: 'os-migrateLive',
  status: 202,
  requestId: 'req-1',
  userAgent: 'drover',
  ...more,
});
const event = (instance: string, timeMs: number, status: string): MigrationEvent => ({
  timeMs,
  migration: `m-${instance}`,
  id: 1,
  instance,
  type: 'live-migration',
  status,
  source: 'node-1',
  dest: 'node-2',
});

test('a move lasts from the request that was accepted to the end of its record', () => {
  const calls = [
    post('b', 40),
    post('a', 10),
    post('a', 5, { status: 409 }),
    post('c', 1, { action: 'lock' }),
    post('c', 2, { method: 'GET' }),
  ];
  const events = [event('a', 12, 'running'), event('a', 30, 'completed'), event('b', 70, 'completed')];
  const moves = readMoves(calls, events);
  expect(moves).toEqual([
    { instance: 'a', postMs: 10, endMs: 30 },
    { instance: 'b', postMs: 40, endMs: 70 },
  ]);
  expect(spanMs(moves)).toBe(60);
});

test.each([
  ['has not ended', [post('a', 1)], [event('a', 2, 'running')], 'the migration of server a ended as nothing'],
  ['has failed', [post('a', 1)], [event('a', 2, 'failed')], 'the migration of server a ended as failed'],
  [
    'went twice',
    [post('a', 1), post('a', 5)],
    [event('a', 2, 'completed'), event('a', 6, 'completed')],
    'ended as completed, completed',
  ],
  ['was asked for twice', [post('a', 1), post('a', 1)], [event('a', 2, 'completed')], 'a server was moved twice'],
])('one that %s is no measurement', (_, calls, events, message) => {
  expect(() => readMoves(calls, events)).toThrow(message);
});

test('in a window, each end lets one begin that was not there yet', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 0, max: 9 })), {
        minLength: 1,
        maxLength: 30,
      }),
      (window, steps) => {
        // Workers as the bare script has them.
        const free = Array.from({ length: window }, () => 0);
        const moves = steps.map(([tookMs, pauseMs], index) => {
          const slot = free.indexOf(Math.min(...free));
          const postMs = (free[slot] ?? 0) + (index < window ? 0 : pauseMs);
          free[slot] = postMs + tookMs;
          return { instance: String(index), postMs, endMs: postMs + tookMs };
        });
        const pairs = successions(
          moves.toSorted((a, b) => a.postMs - b.postMs),
          window,
        );
        expect(pairs).toHaveLength(Math.max(0, moves.length - window));
        expect(new Set(pairs.map(({ left }) => left.instance)).size).toBe(pairs.length);
        for (const { left, next } of pairs) expect(next.postMs).toBeGreaterThanOrEqual(left.endMs);
      },
    ),
  );
});
