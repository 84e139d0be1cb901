import * as fc from 'fast-check';

import type { Migration } from '../../contracts/eviction/instance.ts';
import { eligibleTargets, targetRoom } from './target-room.ts';
import type { ComputeServiceRecord } from './types.ts';

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
