import type {
  AllowanceActivities,
  EvictionHostActivities,
  InstanceActivities,
} from '../../contracts/eviction/activities.ts';
import { preflightEviction } from '../preflight/preflight-eviction.ts';
import { awaitInstanceIdle } from './await-instance-idle.ts';
import { awaitMigration } from './await-migration.ts';
import { awaitTargetRoom } from './await-target-room.ts';
import type {
  AllowanceDependencies,
  HostDependencies,
  InstanceDependencies,
  NovaDependencies,
  Tools,
} from './dependencies.ts';
import { abortMigration, confirmMigration, forceCompleteMigration } from './end-migration.ts';
import { ensureServiceDisabled, ensureServiceEnabled } from './ensure-service.ts';
import { countBySource } from './observe-allowance.ts';
import { findHost } from './find-host.ts';
import { observeHost } from './observe-host.ts';
import { observeInstance } from './observe-instance.ts';
import { createRegionView } from './region-view.ts';
import { currentScope } from '../lib/context.ts';
import { createSharedLook } from './shared-look.ts';
import { startMigration } from './start-migration.ts';
import { whileBeating } from '../lib/wait.ts';

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
      async ({ nova, placement, scope: { signal } }) =>
        (await observeHost(nova, placement, await findHost(nova, hypervisor, signal), signal)).observation,
    ),
  ensureServiceDisabled: (request) => ensureServiceDisabled(toolsOf(deps), request),
  ensureServiceEnabled: (request) => ensureServiceEnabled(toolsOf(deps), request),
});

/** Activities on one server, queue `nova:<region>`. */
export function createInstanceActivities(deps: InstanceDependencies): InstanceActivities {
  const shared = {
    region: createRegionView(deps.nova, deps.clock),
    sharedLook: createSharedLook(deps.nova, deps.clock),
  };
  const tools = () => ({ ...toolsOf(deps), ...shared });
  return {
    observeInstance: ({ instanceId }) => observeInstance(deps.nova, instanceId, toolsOf(deps).scope.signal),
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
  checkMs,
  silentMs,
  onLook,
  scope = currentScope,
  clock,
}: AllowanceDependencies): AllowanceActivities => ({
  async observeAllowance({ region }) {
    const world = {
      limit,
      checkMs,
      silentMs,
      inProgress: countBySource(await nova.migrationsCopying(scope(clock).signal)),
    };
    onLook?.(region, world);
    return world;
  },
});
