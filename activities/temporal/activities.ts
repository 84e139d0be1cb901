import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { type Client, isGrpcServiceError, ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import {
  type AllowanceRequest,
  describeQueue,
  placeOf,
  queuedFailure,
  queuePlaceholder,
  type QueueReport,
  type SlotAnswer,
} from '../../contracts/allowance.ts';
import type { ErrorCode } from '../../contracts/errors.ts';
import type { TemporalActivities } from '../../contracts/eviction/activities.ts';
import { migrationAllowanceId } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import type { Clock } from '../../runtime/clock.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { readRuns } from '../../runtime/temporal/read-runs.ts';
import { limited } from '../../runtime/temporal/temporal.ts';
import { grantSlots, signalWithStartAllowance, type SlotRequests } from './allowance.ts';

/** What the activities on Temporal itself need. */
interface TemporalActivitiesDeps {
  client: Client;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  clock: Clock;
  slotRequests: SlotRequests;
  /** What the objects of runs in the queue are published with, by the names of those activities. */
  publishQueued: Record<QueueReport['publish'], (request: object) => Promise<unknown>>;
}

/** Within the start-to-close time-out of a short call, so that the failure says what was going on. */
const callTimeoutMs = 10_000;

/** Where the request may not have arrived, or the object does not say that it is queued: it is asked again so soon. */
const unansweredMs = 15_000;

/** How many runs are looked up at once. */
const lookUpsAtOnce = 10;

type Consumer = Parameters<TemporalActivities['findClosedConsumers']>[0][number];

/**
 * The activities on queue `drover`, which talk to Temporal itself.
 *
 * They fail with TemporalUnavailable, which passes, and RequestRefused: a missing permission, or search attributes that
 * are not registered.
 */
export function createTemporalActivities({
  client,
  cluster,
  clock,
  slotRequests,
  publishQueued,
}: TemporalActivitiesDeps): TemporalActivities {
  const call = async <Result>(what: string, request: () => Promise<Result>): Promise<Result> => {
    const abort = cancellationSignal();
    try {
      return await limited(client, { timeoutMs: callTimeoutMs, abort, clock }, request);
    } catch (error) {
      abort.throwIfAborted();
      throw temporalFailure(what, error);
    }
  };

  return {
    async requestAllowance({ region, request }) {
      await call(`signal the migration allowance of ${region}`, () =>
        leaves(request)
          ? unlessGone(
              client.workflow
                .getHandle(migrationAllowanceId(region, cluster))
                .signal(messages.allowanceRequested, request),
              undefined,
            )
          : signalWithStartAllowance(client, { limit: { kind: 'migrations', region }, cluster, request }),
      );
    },

    async acquireSlot({ limit, request, renewMs, said }) {
      const { activityId: activity, attempt } = activityInfo();
      const abort = cancellationSignal();
      const say = (answer: SlotAnswer | null): Promise<boolean> =>
        said === null ? Promise.resolve(true) : sayQueued(publishQueued, said, describeQueue(limit, answer));
      const answer = await slotRequests
        .request(limit, { ...request, activity }, abort)
        .catch(async (error: unknown) => {
          await say(null);
          abort.throwIfAborted();
          throw temporalFailure(`acquire a slot of the ${limit.kind} of ${placeOf(limit)}`, error);
        });
      if (answer.allowance > 0) return attempt === 1 ? answer : { ...answer, wasQueued: true };
      const isSaid = await say(answer);
      throw ApplicationFailure.create({
        type: queuedFailure,
        message: `Waiting for ${describeQueue(limit, answer)}`,
        category: ApplicationFailureCategory.BENIGN,
        nextRetryDelay: isSaid && answer.limit !== null ? renewMs : Math.min(renewMs, unansweredMs),
      });
    },

    grantSlots: (grants) => call(`grant ${grants.length} slots`, () => grantSlots(client, grants)),

    async findClosedConsumers(consumers) {
      const closed: string[] = [];
      for (let first = 0; first < consumers.length; first += lookUpsAtOnce) {
        const some = consumers.slice(first, first + lookUpsAtOnce);
        const open = await call('describe the consumers of an allowance', () =>
          Promise.all(some.map((consumer) => isOpen(client, consumer))),
        );
        closed.push(...some.filter((_, index) => !open[index]).map(({ runId }) => runId));
      }
      return closed;
    },

    async cancelRun({ workflowId, runId }) {
      await call(`request the cancellation of ${workflowId}`, () =>
        unlessGone(client.workflow.getHandle(workflowId, runId).cancel(), undefined),
      );
    },
  };
}

/** Whether it could be said. A failure of that is no reason not to be queued. */
async function sayQueued(
  publishQueued: TemporalActivitiesDeps['publishQueued'],
  { publish, request }: QueueReport,
  queue: string,
): Promise<boolean> {
  const text = JSON.stringify(queue).slice(1, -1);
  const told = JSON.parse(JSON.stringify(request).replaceAll(queuePlaceholder, () => text)) as object;
  return await publishQueued[publish](told).then(
    () => true,
    () => false,
  );
}

/** A consumer that leaves needs no run that allocates: none is started for it. */
const leaves = ({ want, using }: AllowanceRequest): boolean => want === 0 && using === 0;

/** By id alone, so that a run whose id another run has taken since counts as closed whatever it was closed as. */
async function isOpen(client: Client, { consumer, runId }: Consumer): Promise<boolean> {
  const current = await unlessGone(
    readRuns(client, (workflow) => workflow.getHandle(consumer).describe()),
    null,
  );
  return (
    current !== null &&
    current.runId === runId &&
    (current.status.name === 'RUNNING' || current.status.name === 'PAUSED')
  );
}

/** A run that is closed or forgotten cannot be signalled, and need not be. */
async function unlessGone<Result, Otherwise>(
  request: Promise<Result>,
  otherwise: Otherwise,
): Promise<Result | Otherwise> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return otherwise;
    throw error;
  }
}

/** gRPC statuses with which Temporal says no for good; whatever else goes wrong may pass. */
const refusals = { invalidArgument: 3, permissionDenied: 7, unimplemented: 12, unauthenticated: 16 } as const;

/** The row of the error table for a call of Temporal that failed. */
export function temporalFailure(what: string, error: unknown): ApplicationFailure {
  const cause = error instanceof ServiceError && error.cause !== undefined ? error.cause : error;
  const words = isGrpcServiceError(cause)
    ? cause.details || cause.message
    : cause instanceof Error
      ? cause.message
      : String(cause);
  return droverFailure(codeOf(cause), `Temporal could not ${what}: ${words}`, { cause });
}

function codeOf(cause: unknown): ErrorCode {
  const refused = isGrpcServiceError(cause) && Object.values<number>(refusals).includes(cause.code);
  return refused ? 'RequestRefused' : 'TemporalUnavailable';
}
