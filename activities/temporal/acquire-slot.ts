import type { Client } from '@temporalio/client';
import {
  isGrpcServiceError,
  ServiceError,
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { SlotAnswer } from '../../contracts/allowance.ts';
import { allowanceId, workflowTypes } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { AllowanceMessage } from './start-allowance.ts';
import { signalWithStartAllowance, startOptions } from './start-allowance.ts';

/**
 * Of gRPC: RESOURCE_EXHAUSTED, as a run answers so many questions at once (ten, by default); ABORTED and UNAVAILABLE, as a server that is
 * asked by very many drops those that it has taken.
 */
const notTaken = [8, 10, 14];

/** Until it is asked once more where too many ask at once: often enough that whoever waits can say for what, and no load of its own. */
const pauseMs = 1_000;

/** To be told later: nothing is known yet. */
const later: SlotAnswer = { sequence: 0, allowance: 0, limit: null, inUse: 0 };

export interface SlotTools {
  client: Client;
  clock: Clock;
  random: Random;
}

/**
 * Asks the run that shares out the turns, starting it if none is open, and gives back its answer: one call of the server, so that a run which
 * just ends cannot miss it. Where too many ask at once it is told, which keeps the place in the queue, and asked once more; then it answers
 * by signal.
 */
export async function acquireSlot(
  { client, clock, random }: SlotTools,
  request: AllowanceMessage,
  abort: AbortSignal,
): Promise<SlotAnswer> {
  const answer = await ask(client, request);
  if (answer !== null) return answer;
  await signalWithStartAllowance(client, request);
  await clock.sleep(pauseMs * (1 + random()), abort);
  return (await ask(client, request)) ?? later;
}

/** Null: it was not taken. */
async function ask(client: Client, { limit, cluster, request }: AllowanceMessage): Promise<SlotAnswer | null> {
  const recovers = await wasLost(client, allowanceId(limit, cluster));
  const startWorkflowOperation = new WithStartWorkflowOperation(
    workflowTypes.allocateAllowance,
    startOptions(limit, cluster, recovers ? { recovers } : {}),
  );
  try {
    return await client.workflow.executeUpdateWithStart<() => Promise<unknown>, SlotAnswer, [unknown]>(
      messages.acquireSlot,
      { args: [request], startWorkflowOperation },
    );
  } catch (error) {
    if (isNotTaken(error)) return null;
    throw error;
  }
}

/** Whoever terminates it takes along whose turn it was. */
async function wasLost(client: Client, workflowId: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
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

function isNotTaken(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && notTaken.includes(cause.code);
}
