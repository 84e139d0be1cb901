import type { EvictionProgress, InstanceProgress } from '../../contracts/eviction/eviction.ts';

/** Facts that the tests of the rendering share. */

export const now = Date.parse('2026-01-31T12:00:00Z');

/** RFC 3339, that many seconds before `now`. */
export const ago = (seconds: number): string => new Date(now - seconds * 1000).toISOString();

export const sampleInstance = (
  facts: Partial<InstanceProgress> & Pick<InstanceProgress, 'name'>,
): InstanceProgress => ({
  id: `${facts.name}-id`,
  state: 'pending',
  attempt: 0,
  target: null,
  percent: null,
  memoryMiB: 2048,
  since: ago(60),
  message: null,
  ...facts,
});

export const sampleProgress = (facts: Partial<EvictionProgress> = {}): EvictionProgress => ({
  eviction: 'node-1',
  hypervisor: 'node-1',
  reason: 'broken DIMM',
  cause: 'admin',
  startedBy: 'alice@ops',
  mode: 'act',
  phase: 'Moving',
  since: ago(250),
  waitingFor: null,
  nextWakeUp: null,
  deadline: null,
  etaMs: 380_000,
  paused: null,
  window: { parallelism: 2, allowance: 4, using: 2 },
  counts: { total: 4, done: 1, moving: 1, pending: 1, blocked: 1, skipped: 0 },
  outstandingRamMb: 6144,
  obstacles: [],
  instances: [
    sampleInstance({ name: 'db-1', state: 'pending', since: ago(250) }),
    sampleInstance({ name: 'web-1', state: 'moved', attempt: 1, target: 'node-2', since: ago(200) }),
    sampleInstance({ name: 'web-2', state: 'moving', attempt: 2, target: 'node-3', percent: 50, since: ago(10) }),
    sampleInstance({
      name: 'web-3',
      state: 'blocked',
      attempt: 3,
      since: ago(30),
      message: 'Nova refused: No valid host',
    }),
  ],
  ...facts,
});
