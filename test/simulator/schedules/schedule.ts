import * as fc from 'fast-check';
import type { MigrateMode } from '../../../lab/openstack/host-profile.ts';

/** What happens in a simulation besides what drover does: each is one thing at one moment. */
export const eventKinds = [
  // Users, of evictions.
  'evict',
  'deleteEviction',
  'editEviction',
  'annotateEviction',
  'retryEviction',
  'cancelEviction',
  'terminateEviction',
  'pauseEviction',
  'resumeEviction',
  'skipServer',
  'retryServer',
  'setParallelism',
  'acceptObstacle',
  'stopEviction',
  'retryNow',
  // Users and Gardener, of hypervisors.
  'onboard',
  'maintain',
  'decommission',
  'activate',
  'retryHypervisor',
  'cancelHypervisor',
  'terminateHypervisor',
  'releaseNode',
  'terminateNode',
  // Users, of virtual machines and of what they share.
  'createVm',
  'deleteVm',
  'powerVm',
  'resizeVm',
  'retryVm',
  'cancelVm',
  'terminateVm',
  'createPolicy',
  'changePolicy',
  'deletePolicy',
  'cancelPolicy',
  'terminatePolicy',
  // Operators, of everything.
  'stopAll',
  'terminateShared',
  // Others, past drover.
  'enableService',
  'disableService',
  'leaveAggregate',
  'deleteServer',
  'createServer',
  'migrateServer',
  'lockServer',
  'powerVmOutside',
  'destroyVmOutside',
  // Machines that fail.
  'crashCompute',
  'failNode',
  'cutPower',
  'recoverHost',
  'confirmOff',
  // What breaks.
  'killWorker',
  'killBridge',
  'outage',
  'endWatches',
  'compact',
  'loseAnswers',
  'loseRequests',
  'slowCalls',
  'hangCalls',
  'workerClock',
  'bridgeClock',
  'suspend',
] as const;
export type EventKind = (typeof eventKinds)[number];

export interface ScheduledEvent {
  /** After the beginning. */
  atMs: number;
  kind: EventKind;
  /** Chooses among what there is. */
  which: number;
  /** How long what breaks stays broken; elsewhere, which way a change goes. */
  forMs: number;
}

export interface Schedule {
  /** Of the simulation: every latency and every chance. */
  seed: number;
  /** How the migrations of each server go, host by host. */
  migrations: readonly (readonly MigrateMode[])[];
  /** Which of these servers a user has stopped before; default: none. */
  stopped?: readonly boolean[];
  events: readonly ScheduledEvent[];
}

/** A quarter of an hour; then all is whole again, and everything must come to its end. */
export const eventfulMs = 15 * 60_000;

const migrateMode = fc.constantFrom<MigrateMode>('ok', 'ok', 'ok', 'ok', 'fail', 'hang', 'slow', 'prefail');

const isStopped = fc.constantFrom(false, false, true);

const eventOf = (kinds: readonly EventKind[], mostMs: number): fc.Arbitrary<ScheduledEvent> =>
  fc.record({
    atMs: fc.nat(mostMs),
    kind: fc.constantFrom(...kinds),
    which: fc.nat(9),
    forMs: fc.integer({ min: 500, max: 90_000 }),
  });

const kindsWith = (pattern: RegExp): EventKind[] => eventKinds.filter((kind) => pattern.test(kind));

/** What begins something, and what may happen to it while it is under way. */
const scenes: readonly { begin: EventKind; others: readonly EventKind[]; withinMs?: number }[] = [
  { begin: 'evict', others: [...kindsWith(/Eviction$|Server$/u), 'setParallelism', 'acceptObstacle', 'retryNow'] },
  { begin: 'onboard', others: [...kindsWith(/Hypervisor$|Node$|Service$/u), 'maintain', 'crashCompute'] },
  { begin: 'maintain', others: [...kindsWith(/Hypervisor$|Eviction$/u), 'activate', 'retryNow'] },
  { begin: 'decommission', others: [...kindsWith(/Hypervisor$|Node$/u), 'activate', 'crashCompute', 'recoverHost'] },
  {
    begin: 'cutPower',
    others: [...kindsWith(/Node$|Hypervisor$/u), 'confirmOff', 'confirmOff', 'recoverHost'],
    // Drover takes a machine for failed after 25 s, and nobody is asked before.
    withinMs: 60_000,
  },
  // Only of a machine in service is a person asked whether it is off.
  { begin: 'onboard', others: ['cutPower', 'confirmOff', 'confirmOff', 'recoverHost'], withinMs: 120_000 },
  { begin: 'createVm', others: kindsWith(/Vm$|VmOutside$/u) },
  { begin: 'powerVm', others: kindsWith(/Vm$|VmOutside$/u) },
  { begin: 'createPolicy', others: kindsWith(/Policy$/u) },
];
/** How soon one follows the other. */
const soonMs = 20_000;

/** Things that happen to one object, each soon after the one before. */
const scene: fc.Arbitrary<ScheduledEvent[]> = fc
  .constantFrom(...scenes)
  .chain(({ begin, others, withinMs = soonMs }) =>
    fc.tuple(eventOf([begin], eventfulMs), fc.array(eventOf(others, withinMs), { maxLength: 4, size: 'max' })),
  )
  .map(([first, others]) => {
    let { atMs } = first;
    return [first, ...others.map((one) => ({ ...one, which: first.which, atMs: (atMs += one.atMs) }))];
  });

export const schedules: fc.Arbitrary<Schedule> = fc.record({
  seed: fc.nat(2 ** 31 - 1),
  migrations: fc.array(fc.array(migrateMode, { minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 3 }),
  stopped: fc.array(isStopped, { minLength: 3, maxLength: 3 }),
  events: fc
    .tuple(
      fc.array(scene, { maxLength: 8, size: 'max' }),
      fc.array(eventOf(eventKinds, eventfulMs), { maxLength: 12, size: 'max' }),
    )
    .map(([together, alone]) => [...together.flat(), ...alone]),
});
