import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import pMap from 'p-map';
import { readDigest, type SecretVersion } from '../contracts/kinds/digest.ts';
import { apiVersionOf, namespaceAndName } from '../contracts/kinds/object.ts';
import { secret } from '../contracts/kinds/resources.ts';
import type { Kind } from '../contracts/kinds/table.ts';
import { digestMemo } from '../contracts/runs.ts';
import type { Clock } from '../runtime/clock.ts';
import { isFailure } from '../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../runtime/kubernetes/resource-path.ts';
import type { Logger } from '../runtime/telemetry/logging.ts';
import { readRuns } from '../runtime/temporal/read-runs.ts';
import { type CallLimits, limited, wordsOf } from '../runtime/temporal/temporal.ts';
import { type BackOffLimits, backOffMs } from './back-off.ts';
import { describeRun } from './find-last-run.ts';
import type { Follower, ObservedObject } from './follow.ts';
import type { DrivenKind } from './routes.ts';

export interface CatchUpDeps {
  temporal: Client;
  kubernetes: Kubernetes;
  follower: Pick<Follower, 'listed' | 'observed' | 'takeUp'>;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  /** For each page of the list of all runs of a kind. */
  listTimeoutMs: number;
  /** For a call about one run. */
  timeoutMs: number;
  backOff: BackOffLimits;
  clock: Clock;
  random: () => number;
  /** A comparison has failed, and is tried again: what it failed with. */
  onFailure: (kind: Kind, error: string) => void;
  log: Logger;
}

/** What the last run under an id has left. `open`: it goes on, and may have missed something. */
export type LeftDigest = { open: true } | { open: false; digest: string | null };

/** Calls about objects, each of one. */
const atOnce = 8;
const pageSize = 1_000;

/**
 * A kind whose runs observe more than its own objects says nowhere in Kubernetes what they have observed of the rest.
 * So a bridge that begins compares: what is reconciled and has the digest that its last run left has not changed, and
 * no run is started for it. Where that run is not known any more, one is. It waits for kube-apiserver and Temporal as
 * long as it takes, or until `abort`.
 *
 * @returns of how many objects nothing has changed
 */
export async function catchUp(deps: CatchUpDeps, row: DrivenKind, abort: AbortSignal): Promise<number> {
  const { follower, cluster } = deps;
  await follower.listed(row, abort);
  return await untilDone(deps, row, 'not compared yet', abort, async () => {
    const ids = new Set(follower.observed(row).map(({ subject }) => row.workflowId(subject, cluster)));
    const left = ids.size === 0 ? new Map<string, LeftDigest>() : await readLeftDigests(deps, row, ids, abort);
    return await takeUpChanged(deps, row, left, abort);
  });
}

/**
 * No watch tells of Secrets, and no run waits for one that is missing: every `everyMs` the objects that lack one are
 * compared as at a start. Where the bridge may not read Secrets, a run is started to look. It goes on until `abort`.
 */
export async function followSecrets(
  deps: CatchUpDeps,
  row: DrivenKind,
  everyMs: number,
  abort: AbortSignal,
): Promise<never> {
  for (;;) {
    await deps.clock.sleep(everyMs, abort);
    await untilDone(deps, row, 'Secrets not compared yet', abort, () => takeUpSupplied(deps, row, abort));
  }
}

/** How long Temporal takes to list a run that was terminated, and how far its clock and this one are apart, at most. */
const overlapMs = 2 * 3_600_000;

/**
 * A run that a user terminates says nothing any more, and an object that was reconciled before it still says so: no
 * comparison with open runs finds that. Every `everyMs` those objects are taken up whose last run was terminated. Of
 * kinds whose runs a user ends for good, none is. It goes on until `abort`.
 */
export async function followTerminated(
  deps: CatchUpDeps,
  row: DrivenKind,
  everyMs: number,
  abort: AbortSignal,
): Promise<void> {
  if (row.stopped !== undefined) return;
  let judged: ReadonlySet<string> = new Set();
  for (let sinceMs = deps.clock.now(); ;) {
    await deps.clock.sleep(everyMs, abort);
    const beganMs = deps.clock.now();
    judged = await untilDone(deps, row, 'terminated runs not looked for yet', abort, () =>
      takeUpTerminated(deps, row, { sinceMs: sinceMs - overlapMs, judged }, abort),
    );
    sinceMs = beganMs;
  }
}

/** Again and again until it succeeds, or until `abort`. */
async function untilDone<Result>(
  { clock, random, backOff, onFailure, log }: Pick<CatchUpDeps, 'clock' | 'random' | 'backOff' | 'onFailure' | 'log'>,
  { kind }: DrivenKind,
  says: string,
  abort: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      abort.throwIfAborted();
      const retryInMs = backOffMs(backOff, failures, random());
      onFailure(kind, wordsOf(error));
      log.warn({ kind, retryInMs: Math.round(retryInMs), error: wordsOf(error) }, says);
      await clock.sleep(retryInMs, abort);
    }
  }
}

async function takeUpSupplied(deps: CatchUpDeps, row: DrivenKind, abort: AbortSignal): Promise<void> {
  const { temporal, kubernetes, follower, cluster, timeoutMs, clock, log } = deps;
  const limits = { timeoutMs, clock, abort };
  const judge = async (object: ObservedObject): Promise<void> => {
    const run = await describeRun(temporal, row.workflowId(object.subject, cluster), limits);
    const left = run === null ? undefined : leftDigestOf(run.status.name, run.memo?.[digestMemo]);
    // An open one reads them itself before it ends.
    if (left?.open === true) return;
    const secrets = unchangedBut(object, left);
    const compared = secrets === null ? 'changed' : await compareSecrets(kubernetes, secrets, abort);
    if (compared === 'same') return;
    const says = compared === 'changed' ? 'Secrets have changed' : 'may not read Secrets: a run does';
    log.info({ kind: row.kind, object: object.subject }, says);
    follower.takeUp(object, 'prerequisite');
  };
  const lacking = follower.observed(row, ({ lacksSecret }) => lacksSecret);
  await pMap(lacking, judge, { concurrency: atOnce });
}

/** Returns the ids of the runs that it found: those that are `judged` already are not asked about again. */
async function takeUpTerminated(
  deps: CatchUpDeps,
  row: DrivenKind,
  { sinceMs, judged }: { sinceMs: number; judged: ReadonlySet<string> },
  abort: AbortSignal,
): Promise<ReadonlySet<string>> {
  const { temporal, follower, cluster, listTimeoutMs, timeoutMs, clock, log } = deps;
  const since = new Date(sinceMs).toISOString();
  const query = `WorkflowType = '${row.workflowType}' AND ExecutionStatus = 'Terminated' AND CloseTime >= '${since}'`;
  const found = new Set<string>();
  const terminated = new Set<string>();
  await eachRun(temporal, query, { timeoutMs: listTimeoutMs, clock, abort }, ({ workflowId, runId }) => {
    found.add(runId);
    if (!judged.has(runId)) terminated.add(workflowId);
    return true;
  });
  if (terminated.size === 0) return found;
  const idOf = ({ subject }: ObservedObject): string => row.workflowId(subject, cluster);
  const judge = async (object: ObservedObject): Promise<void> => {
    const run = await describeRun(temporal, idOf(object), { timeoutMs, clock, abort });
    if (run?.status.name !== 'TERMINATED') return;
    log.info({ kind: row.kind, object: object.subject, runId: run.runId }, 'its last run was terminated: a run looks');
    follower.takeUp(object);
  };
  const concerned = follower.observed(row).filter((object) => terminated.has(idOf(object)));
  await pMap(concerned, judge, { concurrency: atOnce });
  return found;
}

async function takeUpChanged(
  deps: CatchUpDeps,
  row: DrivenKind,
  left: ReadonlyMap<string, LeftDigest>,
  abort: AbortSignal,
): Promise<number> {
  const objects = deps.follower.observed(row);
  const unchanged = objects.flatMap((object) => {
    const secrets = unchangedBut(object, left.get(row.workflowId(object.subject, deps.cluster)));
    return secrets === null ? [] : [{ object, secrets }];
  });
  const changed = new Set(objects);
  const judge = async ({ object, secrets }: (typeof unchanged)[number]): Promise<void> => {
    // Those that the bridge may not read count as the same, as for a bridge that goes on.
    if ((await compareSecrets(deps.kubernetes, secrets, abort)) !== 'changed') changed.delete(object);
  };
  await pMap(unchanged, judge, { concurrency: atOnce });
  for (const object of changed) deps.follower.takeUp(object);
  deps.log.info({ kind: row.kind, changed: changed.size, unchanged: objects.length - changed.size }, 'compared');
  return objects.length - changed.size;
}

/** Null: something has changed, or is not known. Else the Secrets that are still to be compared. Pure. */
export function unchangedBut(
  { digest, isMade }: Pick<ObservedObject, 'digest' | 'isMade'>,
  left?: LeftDigest,
): SecretVersion[] | null {
  if (left === undefined || left.open || left.digest === null || !isMade) return null;
  const { watched, secrets } = readDigest(left.digest);
  return watched === digest ? secrets : null;
}

/** By their metadata alone. `forbidden`: the bridge may not read one of them, and the others are the same. */
async function compareSecrets(
  kubernetes: Kubernetes,
  secrets: readonly SecretVersion[],
  abort: AbortSignal,
): Promise<'same' | 'changed' | 'forbidden'> {
  const compared = await Promise.all(
    secrets.map(async ({ fullName, resourceVersion }) => {
      const [namespace, name] = namespaceAndName(fullName);
      try {
        const found = (await kubernetes.request(
          {
            method: 'GET',
            path: resourcePath(apiVersionOf(secret), secret.plural, { namespace, name }),
            metadataOnly: true,
          },
          abort,
        )) as { metadata?: { resourceVersion?: unknown } } | null;
        return found?.metadata?.resourceVersion === resourceVersion ? 'same' : 'changed';
      } catch (error) {
        if (isFailure(error, 'KubernetesForbidden')) return 'forbidden';
        if (isFailure(error, 'ObjectNotFound')) return resourceVersion === null ? 'same' : 'changed';
        throw error;
      }
    }),
  );
  return (['changed', 'forbidden'] as const).find((one) => compared.includes(one)) ?? 'same';
}

/** One that failed or was terminated has the digest that it was started with, and need not have observed it. Pure. */
export function leftDigestOf(status: string, digest: unknown): LeftDigest {
  if (status === 'RUNNING' || status === 'PAUSED') return { open: true };
  const isEnd = status === 'COMPLETED' || status === 'CANCELLED';
  return { open: false, digest: isEnd && typeof digest === 'string' ? digest : null };
}

/** Pages through the runs of a kind, the newest first, until the last one under each of these ids is known. */
export async function readLeftDigests(
  { temporal, listTimeoutMs, clock, log }: Pick<CatchUpDeps, 'temporal' | 'listTimeoutMs' | 'clock' | 'log'>,
  { workflowType }: Pick<DrivenKind, 'workflowType'>,
  ids: ReadonlySet<string>,
  abort: AbortSignal,
): Promise<Map<string, LeftDigest>> {
  // The links of a chain before its last are no ends.
  const query = `WorkflowType = '${workflowType}' AND ExecutionStatus != 'ContinuedAsNew'`;
  const newest = new Map<string, { startedMs: number; left: LeftDigest }>();
  const onLost = (error: unknown): void =>
    log.warn({ kind: workflowType, error: wordsOf(error) }, 'digests of runs cannot be decoded: all are observed anew');
  const take = (run: WorkflowExecutionInfo): boolean => {
    const { workflowId, startTime, status, memo } = run;
    const startedMs = startTime.getTime();
    if (ids.has(workflowId) && (newest.get(workflowId)?.startedMs ?? 0) <= startedMs)
      newest.set(workflowId, { startedMs, left: leftDigestOf(status.name, memo?.[digestMemo]) });
    return newest.size < ids.size;
  };
  await eachRun(temporal, query, { timeoutMs: listTimeoutMs, clock, abort }, take, onLost);
  return new Map([...newest].map(([workflowId, { left }]) => [workflowId, left]));
}

/**
 * @param limits of each page: one for all of them would let none of a long list count
 * @param take says whether more is needed; it may be given a run twice
 */
const eachRun = (
  temporal: Client,
  query: string,
  limits: CallLimits,
  take: (run: WorkflowExecutionInfo) => boolean,
  onLost?: (error: unknown) => void,
): Promise<void> =>
  readRuns(
    temporal,
    async (workflow) => {
      const runs = workflow.list({ query, pageSize })[Symbol.asyncIterator]();
      for (;;) {
        // The next run, and with it perhaps the next page.
        const next = await limited(temporal, limits, () => runs.next());
        if (next.done === true || !take(next.value)) return;
      }
    },
    onLost,
  );
