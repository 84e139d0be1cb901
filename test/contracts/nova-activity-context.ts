import {
  createAllowanceActivities,
  createHostActivities,
  createInstanceActivities,
} from '../../activities/nova/activities.ts';
import { createNovaClient } from '../../activities/nova/client.ts';
import type { HostDependencies, InstanceDependencies } from '../../activities/nova/dependencies.ts';
import type { ActivityScope } from '../../activities/lib/context.ts';
import { shareRegion } from '../../activities/nova/region-reads.ts';
import { createPlacementClient } from '../../activities/placement/client.ts';
import { createProviderReads } from '../../activities/placement/provider-reads.ts';
import { createCandidateReads } from '../../activities/preflight/ask-placement.ts';
import type { Migration } from '../../contracts/eviction/instance.ts';
import type { MigrationEnd, MigrationReport, MigrationStart } from '../../contracts/eviction/migrate-instance.ts';
import { labClock } from '../../lab/clock.ts';
import { createInstance, getServer, type InstanceSpec, type Server } from '../../lab/openstack/seed.ts';
import type { AuditEntry } from '../../runtime/telemetry/audit.ts';
import type { OpenStackCounterpart } from './openstack.ts';

/** drover's activities as one attempt after another of the same worker would run them. */
export function openActivities(
  { connect }: OpenStackCounterpart,
  change: Partial<HostDependencies & InstanceDependencies> & { details?: unknown } = {},
) {
  const reports: MigrationReport[] = [];
  const audited: AuditEntry[] = [];
  const beats: unknown[] = [];
  const cancelled = new AbortController();
  const clock = labClock();
  const scope = (): ActivityScope => ({
    signal: cancelled.signal,
    deadlineMs: clock.now() + 60_000,
    heartbeatDetails: change.details,
    run: { workflowId: 'migration/test', runId: 'test' },
    heartbeat: (details) => void beats.push(details),
    scheduledMs: 0,
    waitedMs: 0,
    warn: () => undefined,
  });
  const session = connect();
  const { nova, region } = shareRegion(createNovaClient(session), clock);
  const placement = createPlacementClient(session);
  const shared = {
    nova,
    region,
    providers: createProviderReads(placement, clock),
    candidates: createCandidateReads(placement, clock),
    listGuests: async () => null,
    stopGate: async () => {},
    audit: { record: async (entry: AuditEntry) => void audited.push(entry) },
    clock,
    report: async (report: MigrationReport) => void reports.push(report),
    listHypervisors: async () => [],
    listEvictions: async () => [],
    localDisks: false,
    scope,
    ...change,
  };
  return {
    ...createHostActivities(shared),
    ...createInstanceActivities(shared),
    ...createAllowanceActivities({ nova: shared.nova, limit: 8, checkMs: 1_000, silentMs: 2_000, scope, clock }),
    reports,
    audited,
    beats,
    cancelled,
  };
}

export type OpenedActivities = ReturnType<typeof openActivities>;

/** A migration is not asked for more often. */
export const shortestPollMs = 100;

/** Judged within seconds instead of minutes. */
export const limits = {
  stuck: { msPerGiB: 1_000, floorMs: 20_000, noProgressMs: 2_000, startMs: 20_000 },
  poll: { minMs: shortestPollMs, maxMs: 1_000 },
  gibibytes: 0.5,
};

export const subject = (instanceId: string) => ({
  instanceId,
  sourceHost: 'node-1',
  eviction: { name: 'node-1', uid: 'eviction-uid' },
  attempt: 1,
});

export const hostOf = async ({ admin }: OpenStackCounterpart, id: string): Promise<string | null> =>
  (await getServer(admin, id))['OS-EXT-SRV-ATTR:host'];

export const boot = ({ admin }: OpenStackCounterpart, spec: Partial<InstanceSpec> = {}): Promise<Server> =>
  createInstance(admin, { name: 'vm', host: 'node-1', seconds: 0.3, ...spec });

export function started(start: MigrationStart): Migration {
  if (start.outcome !== 'started') throw new Error(`not started: ${JSON.stringify(start)}`);
  return start.migration;
}

/** @param stuck for a move that ends well, more than a busy machine needs */
export async function moveLive(
  activities: OpenedActivities,
  id: string,
  stuck: typeof limits.stuck = limits.stuck,
): Promise<MigrationEnd> {
  const { id: migrationId } = started(await activities.startLiveMigration({ ...subject(id), perTarget: 2 }));
  return activities.awaitMigration({ ...subject(id), migrationId, ...limits, stuck });
}
