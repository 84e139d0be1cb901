import {
  ActivityNotFoundError,
  type Client,
  isGrpcServiceError,
  ServiceError,
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import pMap from 'p-map';
import {
  type AllowanceRequest,
  inputOf,
  objectOf,
  placeOf,
  type SharedLimit,
  type SlotLimit,
  systemOf,
  type SlotAnswer,
  type SlotGrant,
} from '../../contracts/allowance.ts';
import { allowanceId, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import { searchAttributes } from '../../contracts/search-attributes.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { readRuns } from '../../runtime/temporal/read-runs.ts';
import { limited } from '../../runtime/temporal/temporal.ts';
import { sendTogetherByKey } from '../lib/send-together.ts';

/** A request, and the limit that it is for. */
interface AllowanceMessage {
  limit: SharedLimit;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  request: AllowanceRequest;
}

/**
 * Signals the run that allocates the limit, and starts it where none is open. One call of the server, so that a run
 * which just ends cannot miss it.
 */
export async function signalWithStartAllowance(
  client: Client,
  { limit, cluster, request }: AllowanceMessage,
): Promise<void> {
  await client.workflow.signalWithStart(workflowTypes.allocateAllowance, {
    ...startOptions(limit, cluster),
    signal: messages.allowanceRequested,
    signalArgs: [request],
  });
}

/** @param more what the input says besides */
const startOptions = (limit: SharedLimit, cluster: string, more: object = {}) =>
  ({
    workflowId: allowanceId(limit, cluster),
    taskQueue: workflowQueue(cluster),
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    args: [{ ...inputOf(limit), cluster, ...more }],
    // Given with the start they cost no event.
    typedSearchAttributes: new TypedSearchAttributes([
      { key: { name: searchAttributes.kind, type: 'KEYWORD' }, value: 'Allowance' },
      { key: { name: searchAttributes.object, type: 'KEYWORD' }, value: objectOf(limit) },
      { key: { name: searchAttributes.phase, type: 'KEYWORD' }, value: 'Observing' },
    ]),
    staticSummary:
      limit.kind === 'migrations'
        ? `Allocate the migrations of ${limit.region}`
        : `Allocate the ${limit.kind} of ${placeOf(limit)}`,
    staticDetails: (limit.kind === 'migrations' ? detailsOfMigrations(limit.region) : detailsOfSlots(limit)).join(
      '\n\n',
    ),
  }) as const satisfies WorkflowStartOptions;

const detailsOfMigrations = (region: string): string[] => [
  `Decides how many of the migrations that region **${region}** may have at once each eviction may run. It observes Nova at intervals and ends when it is not used.`,
  'To terminate it is safe: the next report of an eviction starts it again, and it grants nothing before it has read what Nova has in progress.',
];

const detailsOfSlots = (limit: SharedLimit): string[] => [
  `Grants the slots of the ${limit.kind} that **${placeOf(limit)}** may have at once, in the order of the requests. It observes ${systemOf(limit)} at intervals and ends when it is not used.`,
  'To terminate it is safe: the next request of a run starts it again, and it grants nothing before what it granted earlier is observed. Runs that are queued request again by themselves.',
];

/**
 * Of gRPC: RESOURCE_EXHAUSTED, as a run answers so many updates at once (ten, by default); ABORTED and UNAVAILABLE, as
 * a server that is asked by very many drops those that it has accepted.
 */
const notAccepted = [8, 10, 14];

/** Until it is asked again where too many ask at once: an answer takes the run a moment. */
const pausesMs = [100, 200, 400, 800];

/** It was asked by signal: nothing is known yet. */
const later: SlotAnswer = { sequence: 0, allowance: 0, limit: null, inUse: 0 };

interface SlotTools {
  client: Client;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  clock: Clock;
  random: Random;
}

/** An update has at most so many: 35 KiB of history. */
const requestsAtOnce = 100;
/** For an update with its pauses, so that the failure says what was going on. */
const updateTimeoutMs = 10_000;

/**
 * Requests slots for the runs that a worker serves. What is requested of a limit while an update is on its way goes
 * together with the next: a run answers few updates at once, and each costs it a workflow task.
 */
export class SlotRequests {
  private readonly tools: SlotTools;
  private readonly send: (limit: SlotLimit, request: AllowanceRequest, abort: AbortSignal) => Promise<SlotAnswer>;

  constructor(tools: SlotTools) {
    const { client, cluster, clock } = tools;
    this.tools = tools;
    this.send = sendTogetherByKey(
      (limit) => allowanceId(limit, cluster),
      (limit, requests) => limited(client, { timeoutMs: updateTimeoutMs, clock }, () => this.ask(limit, requests)),
      requestsAtOnce,
    );
  }

  /**
   * The answer of the run that allocates the limit, which is started where none is open. Where many workers ask it at
   * once it is asked again, and in the end signalled: then nothing is known of the queue yet.
   */
  async request(limit: SlotLimit, request: AllowanceRequest, abort: AbortSignal): Promise<SlotAnswer> {
    const answer = await this.send(limit, request, abort);
    abort.throwIfAborted();
    return answer;
  }

  private async ask(limit: SlotLimit, requests: readonly AllowanceRequest[]): Promise<readonly SlotAnswer[]> {
    const { client, cluster, clock, random } = this.tools;
    for (const pauseMs of pausesMs) {
      const answers = await ask(client, { limit, cluster, requests });
      if (answers !== null) return answers;
      await clock.sleep(pauseMs * (1 + random()));
    }
    for (const request of requests) await signalWithStartAllowance(client, { limit, cluster, request });
    return requests.map(() => later);
  }
}

/** Where no run allocates them any more there is nothing to release. */
export async function releaseSlot(client: Client, { limit, cluster, request }: AllowanceMessage): Promise<void> {
  try {
    await client.workflow.getHandle(allowanceId(limit, cluster)).signal(messages.allowanceRequested, request);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

interface SlotUpdate {
  limit: SlotLimit;
  cluster: string;
  requests: readonly AllowanceRequest[];
}

/** An answer for each; null: the update was not accepted. */
async function ask(client: Client, update: SlotUpdate): Promise<SlotAnswer[] | null> {
  const { limit, cluster, requests } = update;
  try {
    return await client.workflow
      .getHandle(allowanceId(limit, cluster))
      .executeUpdate<SlotAnswer[], [readonly AllowanceRequest[]]>(messages.acquireSlots, { args: [requests] });
  } catch (error) {
    if (isNotAccepted(error)) return null;
    if (error instanceof WorkflowNotFoundError) return await askWithStart(client, update);
    throw error;
  }
}

/** One call of the server, so that a run which just ends cannot miss it. */
async function askWithStart(client: Client, { limit, cluster, requests }: SlotUpdate): Promise<SlotAnswer[] | null> {
  const recovers = await wasLost(client, allowanceId(limit, cluster));
  const startWorkflowOperation = new WithStartWorkflowOperation(
    workflowTypes.allocateAllowance,
    startOptions(limit, cluster, recovers ? { recovers } : {}),
  );
  try {
    return await client.workflow.executeUpdateWithStart<() => Promise<unknown>, SlotAnswer[], [unknown]>(
      messages.acquireSlots,
      { args: [requests], startWorkflowOperation },
    );
  } catch (error) {
    if (isNotAccepted(error)) return null;
    throw error;
  }
}

/** How many activities are completed at once. */
const grantsAtOnce = 10;

/** Completes the activities by which runs wait for slots. @returns the run ids of those that do not wait any more */
export async function grantSlots(client: Client, grants: readonly SlotGrant[]): Promise<string[]> {
  const lost: string[] = [];
  const complete = async ({ consumer: workflowId, runId, activity, answer }: SlotGrant): Promise<void> => {
    try {
      await client.activity.complete({ workflowId, runId, activityId: activity }, answer);
    } catch (error) {
      if (!(error instanceof ActivityNotFoundError)) throw error;
      lost.push(runId);
    }
  };
  await pMap(grants, complete, { concurrency: grantsAtOnce });
  return lost;
}

/** A run that is terminated, or fails, loses what it had granted. */
async function wasLost(client: Client, workflowId: string): Promise<boolean> {
  try {
    const { status } = await readRuns(client, (workflow) => workflow.getHandle(workflowId).describe());
    return (
      status.name !== 'RUNNING' &&
      status.name !== 'PAUSED' &&
      status.name !== 'COMPLETED' &&
      status.name !== 'CONTINUED_AS_NEW'
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

function isNotAccepted(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && notAccepted.includes(cause.code);
}
