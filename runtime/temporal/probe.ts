import type { Client } from '@temporalio/client';
import type { Clock } from '../clock.ts';
import { limited, unreachable } from './temporal.ts';

/** What a health page says of Temporal; null: it answers. */
export async function probeTemporal(client: Client, clock: Clock): Promise<string | null> {
  try {
    await limited(client, { timeoutMs: 1_000, clock }, () => client.workflowService.getSystemInfo({}));
    return null;
  } catch (error) {
    const { address = 'its address' } = (client.connection as { options?: { address?: string } }).options ?? {};
    return unreachable({ address, namespace: client.options.namespace }, error).message;
  }
}
