import * as fc from 'fast-check';
import type { MigrateMode } from '../../../lab/openstack/host-profile.ts';

/** What happens in a simulation besides what drover does. Each is one thing at one moment; `which` chooses the object or the system. */
export const eventKinds = [
  // Users, of evictions.
  'evict', 'deleteEviction', 'editEviction', 'retryEviction', 'cancelEviction', 'terminateEviction', 'pauseEviction', 'resumeEviction',
  // Users, of hypervisors.
  'maintain', 'activate', 'cancelHypervisor', 'terminateHypervisor',
  // Users, of virtual machines.
  'createVm', 'deleteVm', 'powerVm', 'resizeVm', 'cancelVm', 'terminateVm',
  // Others, past drover.
  'enableService', 'disableService', 'deleteServer', 'createServer', 'powerVmOutside',
  // What breaks.
  'killWorker', 'killBridge', 'outage', 'endWatches', 'compact', 'loseAnswers',
] as const;
export type EventKind = (typeof eventKinds)[number];

export interface ScheduledEvent {
  /** After the beginning. */
  atMs: number;
  kind: EventKind;
  /** Chooses among what there is. */
  which: number;
  /** How long what breaks stays broken. */
  forMs: number;
}

export interface Schedule {
  /** Of the simulation: every latency and every chance. */
  seed: number;
  /** How the migrations of each server go, host by host. */
  migrations: readonly (readonly MigrateMode[])[];
  events: readonly ScheduledEvent[];
}

/** A quarter of an hour; then all is whole again, and everything must come to its end. */
export const eventfulMs = 15 * 60_000;

const migrateMode = fc.constantFrom<MigrateMode>('ok', 'ok', 'ok', 'fail', 'hang');

const event: fc.Arbitrary<ScheduledEvent> = fc.record({
  atMs: fc.nat(eventfulMs),
  kind: fc.constantFrom(...eventKinds),
  which: fc.nat(9),
  forMs: fc.integer({ min: 500, max: 90_000 }),
});

export const schedules: fc.Arbitrary<Schedule> = fc.record({
  seed: fc.nat(2 ** 31 - 1),
  migrations: fc.array(fc.array(migrateMode, { minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 3 }),
  events: fc.array(event, { maxLength: 16 }),
});
