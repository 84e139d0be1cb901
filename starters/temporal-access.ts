import type { Client } from '@temporalio/client';
import { evictionId } from '../contracts/ids.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Config } from '../runtime/config-schema.ts';
import { loadConfig } from '../runtime/config.ts';
import type { CallLimits } from '../runtime/temporal.ts';
import { connectClient, limited, readTemporalSettings } from '../runtime/temporal.ts';
import { exitCodes } from './exit-codes.ts';
import { explainError } from './explain-error.ts';

/** What a command needs to speak with Temporal. */
export interface TemporalAccess {
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
export async function withTemporal<Result>(abort: AbortSignal, use: (access: TemporalAccess) => Promise<Result>): Promise<Result> {
  const { config } = loadConfig();
  const settings = readTemporalSettings(process.env, config.temporal.payloadKeys);
  const client = await connectClient(settings, { timeoutMs: answerTimeoutMs, clock: systemClock, abort });
  try {
    return await use({ client, address: settings.address, namespace: settings.namespace, config, abort });
  } finally {
    await client.connection.close();
  }
}

/** Calls of Temporal under a person's patience. */
export const answered = <Result>({ client, abort }: TemporalAccess, calls: () => Promise<Result>, timeoutMs: CallLimits['timeoutMs'] = answerTimeoutMs): Promise<Result> =>
  limited(client, { timeoutMs, clock: systemClock, abort }, calls);

/** Whether an eviction of the host runs. */
export async function isRunning(access: TemporalAccess, host: string): Promise<boolean> {
  try {
    const { status } = await answered(access, () => access.client.workflow.getHandle(evictionId(host, access.config.cluster)).describe());
    return status.name === 'RUNNING' || status.name === 'PAUSED';
  } catch (error) {
    if (explainError(error).exitCode === exitCodes.notFound) return false;
    throw error;
  }
}
