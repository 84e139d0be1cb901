import * as fc from 'fast-check';
import type { EvictionCause, ObstacleCode } from '../../contracts/eviction.ts';

/** Everything that makes one schedule: the world, what happens in it and when, and the seed of all that is left to chance. */
export interface Scenario {
  /** Latencies, faults of single calls, the scheduler's choices. */
  seed: number;
  /** Migrations at once in the region. */
  limit: number;
  targets: number;
  /** Of 100 calls, how many fail though nothing is down; half of them after their effect. */
  faultPercent: number;
  evictions: EvictionScenario[];
  events: PlannedEvent[];
}

export interface EvictionScenario {
  cause: EvictionCause;
  atMs: number;
  parallelism: number;
  deadline: boolean;
  reEnable: boolean | null;
  consents: number;
  servers: ServerScenario[];
}

export interface ServerScenario {
  vmState: 'active' | 'paused' | 'stopped' | 'suspended' | 'error';
  memoryMiB: number;
  group: boolean;
  obstacle: ObstacleCode | null;
  /** What becomes of its migrations, in this order; then all go well. */
  fates: Fate[];
}

export const fateKinds = ['ok', 'slow', 'hang', 'hangs on abort', 'queued', 'fail', 'error', 'refused', 'stays', 'vanishes'] as const;
export type Fate = (typeof fateKinds)[number];

export const eventKinds = [
  // people at the eviction
  'pause', 'resume', 'skip', 'retryInstance', 'setParallelism', 'acceptObstacle', 'cancel', 'abort', 'cancelReEnable', 'retryNow', 'retry',
  // people at the object
  'delete', 'editCause', 'editMode', 'editParallelism', 'editAccepted',
  // people and machines at the host
  'strangerEnables', 'strangerDisables', 'arrives', 'comesBack', 'vanishes', 'busy', 'stops', 'strangerMigrates', 'strangerResizes', 'ghost', 'rebooted',
  // what breaks
  'novaDown', 'kubernetesDown', 'droverStop', 'terminate', 'cancelRun', 'cancelChild', 'grownOld', 'wipeLedger', 'reportsLost', 'reportsUnconfirmed',
] as const;

export interface PlannedEvent {
  atMs: number;
  what: (typeof eventKinds)[number];
  /** Which eviction, and which of its servers. */
  who: number;
  which: number;
}

const serverScenario: fc.Arbitrary<ServerScenario> = fc.record({
  vmState: fc.constantFrom('active', 'active', 'active', 'active', 'paused', 'stopped', 'suspended', 'error'),
  memoryMiB: fc.constantFrom(512, 1024, 4096),
  group: fc.boolean(),
  obstacle: fc.constantFrom<(ObstacleCode | null)[]>(null, null, null, null, null, null, 'Vgpu', 'InstanceLocked'),
  fates: fc.oneof(
    { weight: 5, arbitrary: fc.array(fc.constantFrom(...fateKinds), { maxLength: 3 }) },
    // More often than anything is tried.
    { weight: 1, arbitrary: fc.constantFrom(...fateKinds).map((fate) => Array.from({ length: 6 }, () => fate)) },
  ),
});

const evictionScenario: fc.Arbitrary<EvictionScenario> = fc.record({
  cause: fc.constantFrom<EvictionCause[]>('admin', 'decommission', 'rolling-update', 'termination'),
  atMs: fc.nat(120_000),
  parallelism: fc.integer({ min: 1, max: 4 }),
  deadline: fc.boolean(),
  reEnable: fc.constantFrom(null, null, true, false),
  consents: fc.nat(3),
  servers: fc.array(serverScenario, { maxLength: 5 }),
});

/** What happens in a schedule happens within this time; then the world is calm, and everything has to come to its end. */
export const eventfulMs = 30 * 60_000;

export const scenario: fc.Arbitrary<Scenario> = fc.record({
  seed: fc.nat(),
  limit: fc.integer({ min: 1, max: 4 }),
  targets: fc.integer({ min: 1, max: 3 }),
  faultPercent: fc.constantFrom(0, 0, 2, 10),
  evictions: fc.array(evictionScenario, { minLength: 1, maxLength: 3 }),
  events: fc.array(fc.record({ atMs: fc.nat(eventfulMs), what: fc.constantFrom(...eventKinds), who: fc.nat(2), which: fc.nat(9) }), { maxLength: 12 }),
});
