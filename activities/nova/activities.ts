import type { AllowanceObservation, NovaQueue } from '../../contracts/allowance.ts';
import type {
  AllowanceActivities,
  EvictionHostActivities,
  InstanceActivities,
} from '../../contracts/eviction/activities.ts';
import { type Migration, postCopyStatus } from '../../contracts/eviction/instance.ts';
import { currentScope } from '../lib/context.ts';
import { whileBeating } from '../lib/wait.ts';
import { preflightEviction } from '../preflight/preflight-eviction.ts';
import { awaitMigration } from './await-migration.ts';
import type {
  AllowanceDependencies,
  HostDependencies,
  InstanceDependencies,
  NovaDependencies,
  Tools,
} from './dependencies.ts';
import { abortMigration, confirmMigration, forceCompleteMigration } from './end-migration.ts';
import { ensureServiceDisabled, ensureServiceEnabled } from './ensure-service.ts';
import { observeHost } from './observe-host.ts';
import { withoutAbandoned } from './judge-migration.ts';
import { awaitInstanceIdle, observeInstance } from './observe-instance.ts';
import { awaitTargetRoom, createRegionView } from './region-view.ts';
import { createSharedRead } from './follow-migration.ts';
import { meterPace } from './pace-meter.ts';
import { findHostIn } from './region-reads.ts';
import { startMigration } from './start-migration.ts';

/** The dependencies of one execution. */
const toolsOf = <Dependencies extends NovaDependencies>(deps: Dependencies): Tools<Dependencies> => ({
  ...deps,
  scope: (deps.scope ?? currentScope)(deps.clock),
});

/** Reads of many pages heartbeat, so that a cancel need not wait for the last one. */
const beating = <Dependencies extends NovaDependencies, Result>(
  tools: Tools<Dependencies>,
  read: (tools: Tools<Dependencies>) => Promise<Result>,
): Promise<Result> =>
  whileBeating(
    tools,
    () => undefined,
    () => read(tools),
  );

/** Activities on a compute host, queue `nova:<region>`. */
export const createHostActivities = (deps: HostDependencies): EvictionHostActivities => ({
  preflightEviction: (request) => beating(toolsOf(deps), (tools) => preflightEviction(tools, request)),
  observeHost: ({ hypervisor }) =>
    beating(
      toolsOf(deps),
      async ({ scope: { signal }, ...tools }) =>
        (await observeHost(tools, hypervisor, await findHostIn(tools.region, hypervisor, signal), signal)).observation,
    ),
  ensureServiceDisabled: (request) => ensureServiceDisabled(toolsOf(deps), request),
  ensureServiceEnabled: (request) => ensureServiceEnabled(toolsOf(deps), request),
});

/** Activities on one server, queue `nova:<region>`. */
export function createInstanceActivities(given: InstanceDependencies): InstanceActivities {
  const deps = given.pace === undefined ? given : { ...given, nova: meterPace(given.nova, given.pace) };
  const shared = {
    region: createRegionView(deps.nova, deps.clock),
    sharedRead: createSharedRead(deps.nova, deps.clock),
  };
  const tools = () => ({ ...toolsOf(deps), ...shared });
  return {
    observeInstance: ({ instanceId }) => observeInstance(deps, instanceId, toolsOf(deps).scope.signal),
    startLiveMigration: (request) => startMigration(tools(), 'live', request),
    startColdMigration: (request) => startMigration(tools(), 'cold', request),
    awaitMigration: (request) => awaitMigration(tools(), request),
    abortMigration: (request) => abortMigration(tools(), request),
    forceCompleteMigration: (request) => forceCompleteMigration(tools(), request),
    confirmMigration: (request) => confirmMigration(tools(), request),
    awaitInstanceIdle: (request) => awaitInstanceIdle(tools(), request),
    awaitTargetRoom: (request) => awaitTargetRoom(tools(), request),
  };
}

/** What the run that shares out the region's migrations asks, queue `nova:<region>`. */
export const createAllowanceActivities = ({
  nova,
  limit,
  leastLimit,
  pace,
  checkMs,
  silentMs,
  onObserved,
  scope = currentScope,
  clock,
}: AllowanceDependencies): AllowanceActivities => ({
  async observeAllowance({ region, limitInForce = null }) {
    const { signal } = scope(clock);
    const migrations = await withoutAbandoned(nova, await nova.migrationsCopying(signal), clock.now(), signal);
    const world: AllowanceObservation = {
      limit,
      ...(leastLimit !== undefined && { leastLimit }),
      checkMs,
      silentMs,
      inProgress: countBySource(migrations),
      queues: queuesBySource(migrations),
      pace: pace?.read() ?? null,
    };
    onObserved?.(region, { ...world, limit: Math.min(limit, limitInForce ?? limit) });
    return world;
  },
});

/** What drover starts, and what counts against the region's limit, no matter who started it. */
const counted: readonly string[] = ['live-migration', 'migration'];

/** Migrations in progress by source host. One that waits for its confirmation uses the network no more. */
export function countBySource(migrations: readonly Migration[]): AllowanceObservation['inProgress'] {
  const inProgress: AllowanceObservation['inProgress'] = {};
  for (const { type, status, sourceHost } of migrations) {
    if (counted.includes(type) && status !== 'finished') inProgress[sourceHost] = (inProgress[sourceHost] ?? 0) + 1;
  }
  return inProgress;
}

/** Live migrations that nova-compute works at. One that is `accepted` has not reached it. */
const atWork: readonly string[] = ['preparing', 'running', postCopyStatus, 'post-migrating'];

/**
 * By source host, where Nova keeps live migrations waiting: it runs `max_concurrent_live_migrations` of a host,
 * one by default.
 */
export function queuesBySource(migrations: readonly Migration[]): Record<string, NovaQueue> {
  const queues: Record<string, NovaQueue> = {};
  for (const { type, status, sourceHost } of migrations) {
    if (type !== 'live-migration') continue;
    const { running, waiting } = queues[sourceHost] ?? { running: 0, waiting: 0 };
    if (status === 'queued') queues[sourceHost] = { running, waiting: waiting + 1 };
    if (atWork.includes(status)) queues[sourceHost] = { running: running + 1, waiting };
  }
  return Object.fromEntries(Object.entries(queues).filter(([, { waiting }]) => waiting > 0));
}
