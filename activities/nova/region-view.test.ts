import * as fc from 'fast-check';

import type { Migration } from '../../contracts/eviction/instance.ts';
import { computeService, migrationRecord, stubClient, testClock } from '../../test/fixtures/activities/nova.ts';
import { createRegionView, eligibleTargets, targetRoom } from './region-view.ts';
import type { ComputeServiceRecord, NovaClient } from './types.ts';

const signal = new AbortController().signal;

function openRegion(inProgress: () => ReturnType<typeof migrationRecord>[]) {
  const clock = testClock();
  let looks = 0;
  const nova = stubClient<NovaClient>({
    computeServices: async () => [computeService({ host: 'source' }), computeService({ host: 'target' })],
    migrationsCopying: async () => {
      looks += 1;
      await clock.sleep(10, signal);
      return inProgress();
    },
  });
  return { view: createRegionView(nova, clock), clock, looks: () => looks };
}

test('a burst shares one look, which is trusted for a while', async () => {
  const { view, clock, looks } = openRegion(() => []);
  await Promise.all([1, 2, 3].map(() => view.room('source', 1, signal)));
  await expect(view.room('source', 1, signal)).resolves.toBe('room');
  expect(looks()).toBe(1);
  await clock.sleep(15_000, signal);
  await view.room('source', 1, signal);
  expect(looks()).toBe(2);
});

test('waits renew it before it is too old to be trusted', async () => {
  const { view, clock, looks } = openRegion(() => []);
  await view.refresh(signal);
  await view.refresh(signal);
  expect(looks()).toBe(1);
  await clock.sleep(8_000, signal);
  await Promise.all([view.refresh(signal), view.refresh(signal)]);
  expect(looks()).toBe(2);
  await clock.sleep(14_000, signal);
  await view.room('source', 1, signal);
  expect(looks()).toBe(2);
});

test('what was started here counts before Nova shows it, and once', async () => {
  const migration = migrationRecord({ id: 5, targetHost: 'target' });
  let shown: (typeof migration)[] = [];
  const { view, clock, looks } = openRegion(() => shown);
  await expect(view.room('source', 2, signal)).resolves.toBe('room');
  view.started(migration);
  await expect(view.room('source', 2, signal)).resolves.toBe('room');
  shown = [migration];
  await clock.sleep(15_000, signal);
  await expect(view.room('source', 2, signal)).resolves.toBe('room');
  expect(looks()).toBe(2);
});

test('that there is no room is only said after a fresh look', async () => {
  const { view, clock, looks } = openRegion(() => []);
  await expect(view.room('source', 1, signal)).resolves.toBe('room');
  view.started(migrationRecord({ id: 5, targetHost: 'target', status: 'running' }));
  await clock.sleep(100, signal);
  // It has ended within the second: a look shows so.
  await expect(view.room('source', 1, signal)).resolves.toBe('room');
  expect(looks()).toBe(2);
});

test('a look that takes longer than who asked has time serves who asks next, and is one', async () => {
  let looks = 0;
  const clock = testClock();
  const nova = stubClient<NovaClient>({
    computeServices: async () => [computeService({ host: 'source' }), computeService({ host: 'target' })],
    migrationsCopying: async (given) => {
      looks += 1;
      await clock.sleep(11_000, given);
      return [];
    },
  });
  const view = createRegionView(nova, clock);
  const impatient = new AbortController();
  const first = view.room('source', 1, impatient.signal);
  impatient.abort(new Error('out of time'));
  await expect(first).rejects.toThrow('out of time');
  await expect(view.room('source', 1, signal)).resolves.toBe('room');
  expect(looks).toBe(1);
});

test('a Nova that does not answer is named', async () => {
  const clock = testClock();
  const nova = stubClient<NovaClient>({
    computeServices: async () => [],
    migrationsCopying: (given) =>
      new Promise((_, reject) => given.addEventListener('abort', () => reject(given.reason as Error))),
  });
  const asked = createRegionView(nova, clock).room('source', 1, signal);
  const [answer] = await Promise.allSettled([asked, clock.sleep(60_000, signal)]);
  expect(answer).toMatchObject({
    reason: { type: 'NovaUnavailable', message: expect.stringContaining('within 60 s') },
  });
});

test('a look that fails is not remembered', async () => {
  let fails = true;
  const { view } = openRegion(() => {
    if (fails) throw new Error('Nova did not answer');
    return [];
  });
  await expect(view.room('source', 1, signal)).rejects.toThrow('Nova did not answer');
  fails = false;
  await expect(view.room('source', 1, signal)).resolves.toBe('room');
});

test('of starts at the same moment only as many find a place as there is room for', async () => {
  const { view } = openRegion(() => []);
  await Promise.all([1, 2, 3].map(() => view.room('source', 2, signal)));
  const [first, second, third] = [1, 2, 3].map(() => view.claim('source', 2));
  expect([first, second, third].map((claim) => claim !== null)).toEqual([true, true, false]);
  first?.();
  expect(view.claim('source', 2)).not.toBeNull();
});

describe('target room', () => {
  const to = (targetHost: string | null, status = 'running'): Migration => ({
    id: 1,
    instanceId: 'a',
    type: 'live-migration',
    status,
    sourceHost: 'source',
    targetHost,
    memoryTotalBytes: null,
    memoryRemainingBytes: null,
    diskTotalBytes: null,
    diskRemainingBytes: null,
    createdAt: '2026-01-01T00:00:00Z',
  });

  type Row = [why: string, targets: string[], inProgress: Migration[], perTarget: number, verdict: string];
  const rows: Row[] = [
    ['idle targets have room', ['a', 'b'], [], 1, 'room'],
    ['one free target is enough', ['a', 'b'], [to('a')], 1, 'room'],
    ['every target full', ['a', 'b'], [to('a'), to('b')], 1, 'busy'],
    ['an overfull target takes the share of the others', ['a', 'b'], [to('a'), to('a')], 1, 'busy'],
    ['unplaced ones count, wherever they will land', ['a', 'b'], [to(null, 'accepted'), to('a')], 1, 'busy'],
    ['two per target', ['a'], [to('a')], 2, 'room'],
    ['what comes in elsewhere does not matter', ['a'], [to('drained')], 1, 'room'],
    ['waiting for confirmation copies nothing', ['a'], [to('a', 'finished')], 1, 'room'],
    ['no target at all: Nova shall say so', [], [], 1, 'noTargets'],
  ];

  test.each(rows)('%s', (_why, targets, inProgress, perTarget, verdict) => {
    expect(targetRoom(targets, inProgress, perTarget)).toBe(verdict);
  });

  test('starting only where there is room never plans more than the limit allows in all', () => {
    const hosts = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 });
    fc.assert(
      fc.property(hosts, fc.integer({ min: 1, max: 4 }), fc.infiniteStream(fc.nat()), (targets, perTarget, choices) => {
        const inProgress: Migration[] = [];
        while (targetRoom(targets, inProgress, perTarget) === 'room') {
          inProgress.push(to(targets[choices.next().value % targets.length] ?? null));
          expect(inProgress.length).toBeLessThanOrEqual(perTarget * targets.length);
        }
        expect(inProgress.length).toBeGreaterThan(0);
      }),
    );
  });

  test('targets are enabled, up and not the source', () => {
    const service = (host: string, status: 'enabled' | 'disabled', state: 'up' | 'down'): ComputeServiceRecord => ({
      id: host,
      host,
      zone: 'nova',
      cellDown: false,
      status,
      disabledReason: null,
      state,
      forcedDown: false,
    });
    const services = [
      service('source', 'enabled', 'up'),
      service('a', 'enabled', 'up'),
      service('b', 'disabled', 'up'),
      service('c', 'enabled', 'down'),
    ];
    expect(eligibleTargets(services, 'source')).toEqual(['a']);
  });
});
