import type { Instance, Migration } from '../../contracts/instance.ts';
import type { MigrationEnd } from '../../contracts/migrate-instance.ts';
import type { Progress } from './plan.ts';

/** A server of `node-1` and its migrations for the table tests. */

export const server: Instance = {
  id: 'a',
  name: 'vm-a',
  status: 'ACTIVE',
  taskState: null,
  vmState: 'active',
  host: 'node-1',
  locked: false,
  memoryMiB: 512,
  vcpus: 1,
  localDiskGiB: 0,
  serverGroups: [],
  fault: null,
};
export const live: Migration = {
  id: 7,
  instanceId: 'a',
  type: 'live-migration',
  status: 'running',
  sourceHost: 'node-1',
  targetHost: 'node-2',
  memoryTotalBytes: null,
  memoryRemainingBytes: null,
  diskTotalBytes: null,
  diskRemainingBytes: null,
  createdAt: '2026-01-01T00:00:00Z',
};
export const cold: Migration = { ...live, type: 'migration', status: 'migrating' };
export const finished: Migration = { ...cold, status: 'finished' };
export const migrating: Partial<Instance> = { status: 'MIGRATING', taskState: 'migrating' };
export const resized: Partial<Instance> = { status: 'VERIFY_RESIZE', vmState: 'resized', host: 'node-2' };

export const ended = (over: Partial<MigrationEnd>): MigrationEnd => ({
  status: 'failed',
  stuck: null,
  targetHost: null,
  observation: { instance: server, migration: null },
  message: null,
  ...over,
});

/** Nothing was done yet. */
export const noProgress: Progress = {
  observation: { instance: server, migration: null },
  attempts: 0,
  stuckAttempts: 0,
  asked: false,
  lastEnd: null,
  refusal: null,
  ownCold: null,
  forced: null,
  waitedIdle: false,
};
