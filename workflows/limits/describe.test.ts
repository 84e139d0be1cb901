import type { AllowanceObservation } from '../../contracts/allowance.ts';
import { describeProgress, progressOf } from './describe.ts';
import type { Ledger } from './ledger.ts';
import { applyRequest, newLedger, allocate } from './ledger.ts';
import { beginObservation, endObservation } from './observe.ts';

const startMs = Date.parse('2026-01-01T00:00:00Z');
const shared = { kind: 'migrations', region: 'RegionOne' } as const;
const world = (limit: number, inProgress: Record<string, number> = {}): AllowanceObservation => ({
  limit,
  checkMs: 30_000,
  silentMs: 150_000,
  inProgress,
});
const look = (ledger: Ledger, seen: AllowanceObservation, closed: string[] = []): Ledger =>
  allocate(endObservation(beginObservation(ledger), seen, closed, startMs), startMs).ledger;
const joined = applyRequest(
  newLedger(startMs),
  { consumer: 'eviction/a', runId: 'r', host: 'a', want: 3, using: 2, deadline: null, acknowledged: null },
  startMs,
);
const text = (ledger: Ledger): string => describeProgress(progressOf(shared, ledger, startMs));

test.each([
  ['without consumers', newLedger(startMs), 'Unused'],
  ['an unread world', joined, 'Observing'],
  ['an allowance', look(joined, world(8)), 'Allocating'],
  ['more in progress than there may be', look(joined, world(1, { a: 2 })), 'Draining'],
])('%s has its phase', (_why, ledger, phase) => {
  expect(progressOf(shared, ledger, startMs).phase).toBe(phase);
});

test('users read a sentence, then a table, then what is in progress elsewhere', () => {
  expect(text(look(joined, world(8, { a: 2, b: 1 })))).toBe(
    [
      '**Allocating**: 4 of 8 migrations are granted or in progress in region RegionOne. Waiting for requests of consumers.',
      '',
      '| consumer | host | want | using | allowance | since | deadline |',
      '| --- | --- | --- | --- | --- | --- | --- |',
      '| eviction/a | a | 3 | 2 | 3 | 2026-01-01T00:00:00.000Z |  |',
      '',
      'Others: b 1.',
    ].join('\n'),
  );
});

test('a closed consumer is marked, that there are none is said, and so is a limit that is not known', () => {
  expect(text(look(joined, world(8), ['r']))).toContain('| eviction/a (closed) | a |');
  expect(text(newLedger(startMs))).toContain('The limit is not known yet');
  expect(text(newLedger(startMs))).toContain('There are no consumers.');
});

test('why the limit is not that of the settings, how many Nova runs, and who does not report', () => {
  const seen = look(joined, { ...world(8, { a: 2 }), queues: { a: { running: 1, waiting: 1 } } });
  const ledger: Ledger = {
    ...seen,
    adaptation: { limit: 6, bestPace: 1, slow: 0, roomy: 0, reason: 'lowered, as they are slow' },
    holders: seen.holders.map((holder) => ({ ...holder, mute: true })),
  };
  expect(text(ledger)).toContain('The limit is 6 of at most 8: lowered, as they are slow.');
  expect(text(ledger)).toContain('Nova runs 1 at a time on a.');
  expect(text(ledger)).toContain('| eviction/a (mute) | a |');
  expect(text(ledger)).toContain('eviction/a has not reported since 2026-01-01T00:00:00.000Z');
  expect(progressOf(shared, ledger, startMs)).toMatchObject({
    limit: 6,
    limitConfigured: 8,
    limitReason: 'lowered, as they are slow',
    novaRuns: { a: 1 },
    consumers: [{ muteSince: '2026-01-01T00:00:00.000Z' }],
  });
});

describe('slots', () => {
  const slots = { kind: 'creates', vcenter: 'lab' } as const;
  const asks = (ledger: Ledger, name: string): Ledger =>
    applyRequest(
      ledger,
      {
        consumer: `virtualmachine/${name}`,
        runId: name,
        host: 'lab',
        want: 1,
        using: 0,
        deadline: null,
        acknowledged: null,
      },
      startMs,
    );
  const busy = (tasks: string[]): AllowanceObservation => ({
    limit: 2,
    checkMs: 30_000,
    silentMs: 150_000,
    inProgress: { lab: tasks.length },
    tasks,
  });
  const two = look(asks(asks(newLedger(startMs), 'team/a'), 'team/b'), busy(['task-1']));

  test('are listed by run, with who has one', () => {
    expect(describeProgress(progressOf(slots, two, startMs))).toBe(
      [
        '**Allocating**: 2 of 2 creates are granted or in progress at vCenter lab. Waiting for requests of consumers.',
        '',
        '| run | slot | since |',
        '| --- | --- | --- |',
        '| virtualmachine/team/a | has a slot | 2026-01-01T00:00:00.000Z |',
        '| virtualmachine/team/b | queued | 2026-01-01T00:00:00.000Z |',
        '',
        'Others: lab 1.',
      ].join('\n'),
    );
  });
  test('the first fifty', () => {
    const many = Array.from({ length: 60 }, (_, index) => `team/vm-${index}`).reduce(asks, newLedger(startMs));
    expect(describeProgress(progressOf(slots, many, startMs))).toContain('And 10 more.');
    expect(progressOf(slots, many, startMs).consumers).toHaveLength(60);
  });
  test('too many are waited for, and none is stopped', () => {
    expect(describeProgress(progressOf(slots, look(two, busy(['task-1', 'task-2', 'task-3'])), startMs))).toContain(
      '**Draining**: 3 of 2 creates are granted or in progress at vCenter lab. Waiting for creates to end',
    );
  });
});
