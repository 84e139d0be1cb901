import type { Client } from '@temporalio/client';
import type { Drover } from '../../lab/drover.ts';
import type { CommandEnd } from '../../lab/kubectl.ts';
import type { Lab } from '../../lab/lab.ts';
import type { Fleet } from '../../lab/openstack/fleet.ts';
import type { CloudName } from '../../lab/openstack/handle.ts';
import type { HostProfile } from '../../lab/openstack/host-profile.ts';
import type { ApiCall } from '../../lab/openstack/journal.ts';
import type { Session } from '../../lab/openstack/session.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import type { OutsideSystem } from '../../runtime/telemetry/outside-calls.ts';
import type { Snapshot } from '../invariants/snapshot.ts';
import type { CheckedHost } from './checked-host.ts';
import type { EvictionLog } from './eviction-log.ts';
import type { ObjectLog } from './object-log.ts';

/** Intervals of seconds rather than minutes; what they are called is in drover.example.yaml. */
export const quickSettings = {
  eviction: {
    retryDelayMs: 200,
    // Short for a test that waits for a guest that hangs, long enough for a machine that is busy.
    stuck: { msPerGiB: 20_000, floorMs: 30_000, noProgressMs: 6_000, startMs: 60_000 },
    poll: { minMs: 700, maxMs: 1_500 },
    instanceBusyMs: 5_000,
    busyElsewhereMs: 1_000,
    targetBusyMs: 5_000,
    emptyRecheckMs: 700,
    emptyDeadlineMs: 20_000,
    publishMinMs: 500,
    publishMaxMs: 3_000,
    allowanceRenewMs: 10_000,
    cancelGraceMs: 20_000,
    nodeReturnMs: 30_000,
    lingerMs: 300,
    perTarget: 16,
  },
  // An observation of the region costs its Nova eight requests.
  limits: { migrationsPerRegion: 16, checkMs: 15_000, silentMs: 30_000 },
  bridge: { resyncMs: 3_000 },
};

/** For a test, and for opening and closing a world, on a busy machine; much less where it is idle. */
export const limitMs = 600_000;

/** Every lab has these. */
export const hosts = ['node-1', 'node-2', 'node-3', 'node-4', 'node-5', 'node-6'] as const;

/**
 * So much larger than the others that the scheduler sends every server here: what one test evicts does not land on
 * another's host.
 */
export const sinkProfile: Partial<HostProfile> = { vcpus: 2_000, memoryMiB: 8_388_608, diskGiB: 400_000 };

export interface WorldOptions {
  /** In the place of {@link quickSettings}. */
  settings?: object;
  /** Default: true. */
  bridge?: boolean;
  /** Hosts that take every server (default: node-5 and node-6); none where a test is about the choice of targets. */
  sinks?: readonly string[];
  /** Cloud of clouds.yaml. */
  cloud?: CloudName;
  /** Of the cloud's application credential, in the place of the right one. */
  secret?: string;
  /** Variables for worker, bridge, commands and the test's own client, in the place of the lab's. */
  env?: Readonly<Record<string, string>>;
  /** Where a test leaves what others cannot read. Default: false. */
  ownLab?: boolean;
}

/** How a seeded server is to be found at the end of a test. */
export interface Expected {
  id: string;
  name: string;
  /** Where it was seeded. */
  host: string;
  /** Nova's `status`; null: deleted by the test. */
  status: string | null;
}

/** What a test did to a compute service by itself, for the invariants. */
export interface OwnChange {
  host: string;
  atMs: number;
  enabled: boolean;
  reason: string | null;
}

/** What a world stands on: a lab, or a simulation. */
export interface WorldBase {
  lab: Pick<Lab, 'handles' | 'dir' | 'exports'>;
  client: Client;
  session: Session;
  fleet: Fleet;
  api: Kubernetes;
  objectLog: Pick<ObjectLog, 'events'>;
  evictions: EvictionLog;
  /** When it was opened; what happened before is not its concern. */
  sinceMs: number;
  dir: string;
  sinks: readonly string[];
  ownChanges: OwnChange[];
  /** As of now: {@link WorldBase.replaceDrover} makes another. */
  drover(): Drover;
  replaceDrover(options: Omit<WorldOptions, 'sinks'>): Promise<void>;
  /** What Nova was asked since then. */
  novaCalls(sinceMs: number): readonly ApiCall[];
  /**
   * How often the worker has asked each system so far, by the id of the workflow that it asked for. On a lab,
   * `logLevel` must be `debug`.
   */
  callsByRun(): ReadonlyMap<string, ReadonlyMap<OutsideSystem, number>>;
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** `drover` with these arguments. */
  command(args: readonly string[]): Promise<CommandEnd>;
  tool(program: 'tctl' | 'temporal', args: readonly string[]): Promise<CommandEnd>;
  bridgeHealth(): Promise<BridgeHealth>;
  /** What a host has besides nova-compute; the caller closes it. */
  openCheckedHost(host: string): Promise<CheckedHost>;
  /** The snapshot for the invariants, where it is not read from a lab. */
  readSnapshot?: (known: {
    expected: ReadonlyMap<string, Expected>;
    hosts: readonly string[] | null;
  }) => Promise<Snapshot>;
  close(): Promise<void>;
}

export interface BridgeHealth {
  ok: boolean;
  reasons: string[];
  resyncs: number;
  deliveries: Record<string, number>;
}

/** What a test knows of its world besides: what it has made and changed itself. */
export interface KnownByTest {
  sinceMs: number;
  expected: Map<string, Expected>;
  ownChanges: OwnChange[];
}
