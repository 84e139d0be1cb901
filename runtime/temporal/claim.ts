import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client';
import { claimScheduleId, type Claimed, workflowQueue } from '../../contracts/ids.ts';
import type { Clock } from '../clock.ts';
import { droverFailure, failureCode } from '../failure.ts';
import { readClusterUid } from '../kubernetes/cluster-uid.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import type { Logger } from '../telemetry/logging.ts';
import { limited, type OwnLimits, wordsOf } from './temporal.ts';

/** What a process takes for itself in its Temporal namespace. */
export interface Claim {
  /** The name of the settings; empty by default. */
  cluster: string;
  /** Uid of the namespace kube-system: it lives as long as the cluster. */
  clusterUid: string;
  /** Of OpenStack; null: the process has none to do with. */
  region: string | null;
}

interface ClaimTools {
  temporal: Client;
  kubernetes: Pick<Kubernetes, 'request' | 'server'>;
  clock: Clock;
  logger: Pick<Logger, 'warn'>;
  /** Gives up. */
  abort: AbortSignal;
  /** Called with what keeps it from knowing; null: it knows. */
  onWait?: (why: string | null) => void;
}

const pauseMs = { first: 200, most: 5_000 } as const;

/**
 * Waits until the cluster and its region are known to be the ones of this name. Before that a process must do nothing:
 * the activities of another cluster's runs would find other objects and other hosts. It waits for kube-apiserver and
 * Temporal as long as it takes.
 *
 * @throws ClusterClaimed when another has the name; KubernetesForbidden
 */
export async function awaitClaim(
  { temporal, kubernetes, clock, logger, abort, onWait = () => undefined }: ClaimTools,
  { cluster, region }: Omit<Claim, 'clusterUid'>,
): Promise<void> {
  for (let pause: number = pauseMs.first; ; pause = Math.min(pause * 2, pauseMs.most)) {
    try {
      const clusterUid = await readClusterUid(kubernetes, abort);
      await claim(temporal, { cluster, clusterUid, region }, { clock, abort });
      return onWait(null);
    } catch (error) {
      abort.throwIfAborted();
      const code = failureCode(error);
      if (code === 'ClusterClaimed' || code === 'KubernetesForbidden') throw error;
      const why = `which cluster has the name ${named(cluster)} is not known yet: ${wordsOf(error)}`;
      logger.warn({ retryInMs: pause }, `nothing is done yet, as ${why}`);
      onWait(why);
      await clock.sleep(pause, abort);
    }
  }
}

/**
 * Takes the name for this cluster and region, or finds that they have it. Of two that try at once, one gets it.
 *
 * @throws ClusterClaimed
 */
export async function claim(client: Client, { cluster, clusterUid, region }: Claim, limits: OwnLimits): Promise<void> {
  await claimOne(client, { claimed: 'cluster', cluster, holder: clusterUid }, limits);
  if (region !== null) await claimOne(client, { claimed: 'region', cluster, holder: region }, limits);
}

/** Who has it: the uid of a cluster, or a region. Null: it is free. */
export async function readClaim(
  client: Client,
  claimed: Claimed,
  cluster: string,
  { timeoutMs = 5_000, ...limits }: OwnLimits,
): Promise<string | null> {
  const handle = client.schedule.getHandle(claimScheduleId(claimed, cluster));
  try {
    const { action } = await limited(client, { timeoutMs, ...limits }, () => handle.describe());
    return holderOf(action.workflowId ?? '');
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}

/** What a Kubernetes cluster has in this Temporal namespace: its names, and the regions of their hosts. */
export interface HeldNames {
  clusters: string[];
  regions: string[];
}

/**
 * The names whose claim is of the cluster with this uid, with their regions.
 *
 * @param cluster the name of the settings: it counts although no process has claimed it yet
 */
export async function readHeldNames(
  client: Client,
  { cluster, clusterUid }: Omit<Claim, 'region'>,
  { timeoutMs = 5_000, ...limits }: OwnLimits,
): Promise<HeldNames> {
  const listed = await limited(client, { timeoutMs, ...limits }, () => listNames(client));
  const claims = await Promise.all(
    [...new Set([cluster, ...listed])].map(async (name) => ({
      name,
      uid: await readClaim(client, 'cluster', name, { timeoutMs, ...limits }),
      region: await readClaim(client, 'region', name, { timeoutMs, ...limits }),
    })),
  );
  const own = claims.filter(({ name, uid }) => uid === clusterUid || (uid === null && name === cluster));
  return {
    clusters: own.map(({ name }) => name),
    regions: [...new Set(own.flatMap(({ region }) => region ?? []))],
  };
}

/** Of all clusters that have claimed theirs. */
async function listNames({ schedule }: Client): Promise<string[]> {
  const unnamed = claimScheduleId('cluster');
  const names: string[] = [];
  for await (const { scheduleId } of schedule.list())
    if (scheduleId === unnamed) names.push('');
    else if (scheduleId.endsWith(`/${unnamed}`)) names.push(scheduleId.slice(0, -`/${unnamed}`.length));
  return names;
}

interface OneClaim {
  claimed: Claimed;
  cluster: string;
  holder: string;
}

async function claimOne(client: Client, one: OneClaim, { timeoutMs = 5_000, ...limits }: OwnLimits): Promise<void> {
  const { claimed, cluster, holder } = one;
  let found = await readClaim(client, claimed, cluster, { timeoutMs, ...limits });
  if (found === null) {
    try {
      await limited(client, { timeoutMs, ...limits }, () => client.schedule.create(scheduleOf(one)));
      return;
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    }
    found = await readClaim(client, claimed, cluster, { timeoutMs, ...limits });
    if (found === null) throw new Error(`the Schedule ${claimScheduleId(claimed, cluster)} was deleted meanwhile`);
  }
  if (found !== holder) throw droverFailure('ClusterClaimed', describeClaimed(one, found));
}

/** What is wrong, as a sentence that names the Schedule. Pure. */
export function describeClaimed({ claimed, cluster, holder }: OneClaim, found: string): string {
  const id = claimScheduleId(claimed, cluster);
  const whose =
    claimed === 'cluster'
      ? `another Kubernetes cluster (uid ${found} of its namespace kube-system; that of this one is ${holder})`
      : `hosts of another region (${found}; that of this process is ${holder})`;
  return `In this Temporal namespace the cluster name ${named(cluster)} belongs to ${whose}, says the Schedule ${id}`;
}

const named = (cluster: string): string => (cluster === '' ? '"" (none is set)' : cluster);

/**
 * The holder stands in the id of a run that is never started: that is read whatever encrypts payloads, and stays
 * whatever users note beside it. What else has such an id holds it, too.
 */
const prefix = 'held-by/';
const holderOf = (workflowId: string): string =>
  workflowId.startsWith(prefix) ? workflowId.slice(prefix.length) : workflowId;

/**
 * Temporal keeps a Schedule that is paused, where it forgets runs. It has a time far away, so that it has a next one
 * should it be resumed.
 */
const everyMs = 36_500 * 24 * 3_600_000;

const scheduleOf = ({ claimed, cluster, holder }: OneClaim) => ({
  scheduleId: claimScheduleId(claimed, cluster),
  spec: { intervals: [{ every: everyMs }] },
  policies: { overlap: ScheduleOverlapPolicy.SKIP },
  state: {
    paused: true,
    note: `drover: the cluster name ${named(cluster)} belongs to ${claimed} ${holder}. It starts nothing and stays paused; docs/operations.md#several-clusters`,
  },
  action: {
    type: 'startWorkflow' as const,
    workflowType: 'none',
    workflowId: `${prefix}${holder}`,
    taskQueue: workflowQueue(cluster),
    args: [],
  },
});
