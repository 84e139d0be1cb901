import { nodeFailureId } from '../../contracts/ids.ts';
import { type Command, progressQuery } from '../../contracts/messages.ts';
import type { NodeFailureProgress } from '../../contracts/node-failure/run.ts';
import { readRuns } from '../../runtime/temporal/read-runs.ts';
import { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import { commandRunOf } from '../command/give-command.ts';
import type { TemporalAccess } from '../command/temporal-access.ts';
import { answered } from '../command/temporal-access.ts';

/**
 * The run that deals with the failure of a host; part of the JSON of `drover describe --json`. `progress` null: no
 * worker answers.
 */
export interface FailureDescription {
  workflowId: string;
  runId: string;
  progress: NodeFailureProgress | null;
}

/** A worker may be gone. */
const progressTimeoutMs = 5_000;

/** Null: no failure of the host is dealt with. */
export async function describeFailureRun(temporal: TemporalAccess, host: string): Promise<FailureDescription | null> {
  const workflowId = nodeFailureId(host, temporal.config.cluster);
  const handle = temporal.client.workflow.getHandle(workflowId);
  try {
    const { runId, status } = await readRuns(temporal.client, (workflow) =>
      answered(temporal, () => workflow.getHandle(workflowId).describe()),
    );
    if (status.name !== 'RUNNING' && status.name !== 'PAUSED') return null;
    const progress = await answered(
      temporal,
      () => handle.query(progressQuery<NodeFailureProgress>()),
      progressTimeoutMs,
    ).catch(() => null);
    return { workflowId, runId, progress };
  } catch (error) {
    temporal.abort.throwIfAborted();
    if (explainError(error).exitCode === exitCodes.notFound) return null;
    throw error;
  }
}

/**
 * Gives the run of a host's failure a command of an operator, and returns the sentence that it answers with.
 *
 * @throws CommandError: notFound when no such run is open, refused with the run's own sentence, unreachable when no
 * worker answers
 */
export const commandFailureRun = <Argument>(
  temporal: TemporalAccess,
  host: string,
  command: Command<Argument>,
  argument: Argument,
): Promise<string> =>
  // The run observes the host before it answers, and a system that is away takes its time.
  commandRunOf(temporal, host, {
    workflowId: nodeFailureId(host, temporal.config.cluster),
    command,
    argument,
    timeoutMs: 90_000,
    absent: noFailure,
  });

export const noFailure = (host: string, cause?: unknown): CommandError =>
  new CommandError(
    `No failure of ${host} is dealt with. Nothing was changed.`,
    exitCodes.notFound,
    `\`drover describe ${host}\` shows its state; docs/node-failure.md, when drover observes a host.`,
    cause,
  );
