import type { Client } from '@temporalio/client';
import type { Config } from '../../runtime/config/config-schema.ts';
import { isRunOpen } from '../../runtime/temporal/is-run-open.ts';
import type { CallLimits } from '../../runtime/temporal/temporal.ts';
import { expectAnswer, limited } from '../../runtime/temporal/temporal.ts';
import type { CommandContext } from './context.ts';

/** What a command needs to speak with Temporal. */
export interface TemporalAccess {
  /** Of the command that speaks. */
  context: CommandContext;
  client: Client;
  /** host:port */
  address: string;
  namespace: string;
  config: Config;
  abort: AbortSignal;
}

/** How long Temporal may take to answer a person. */
export const answerTimeoutMs = 20_000;

/** Runs `use` with a client that is known to work, and closes it. */
export async function withTemporal<Result>(
  context: CommandContext,
  abort: AbortSignal,
  use: (access: TemporalAccess) => Promise<Result>,
): Promise<Result> {
  const { config } = await context.loadConfig();
  const opened = await context.openTemporal(config);
  const { client, address, namespace } = opened;
  try {
    await expectAnswer(client, opened, { timeoutMs: answerTimeoutMs, clock: context.clock, abort });
    return await use({ context, client, address, namespace, config, abort });
  } finally {
    await client.connection.close();
  }
}

/** Calls of Temporal under a person's patience. */
export const answered = <Result>(
  { context: { clock }, client, abort }: TemporalAccess,
  calls: () => Promise<Result>,
  timeoutMs: CallLimits['timeoutMs'] = answerTimeoutMs,
): Promise<Result> => limited(client, { timeoutMs, clock, abort }, calls);

/** Whether a run under that id is open: `evictionId` of a host, `nodeFailureId`, and the like. */
export const isRunning = (
  { client, context: { clock }, abort }: TemporalAccess,
  workflowId: string,
): Promise<boolean> => isRunOpen(client, workflowId, { timeoutMs: answerTimeoutMs, clock, abort });
