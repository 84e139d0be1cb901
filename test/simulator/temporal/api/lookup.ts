import type { Run } from '../run.ts';
import type { Server } from '../server.ts';
import { findRun, isOpen } from '../server.ts';
import { grpcStatus, refuse } from './grpc.ts';

/** A run, as requests name it. */
type Execution = { workflowId?: string | null; runId?: string | null } | null | undefined;

/** @throws GrpcError, NOT_FOUND */
export const knownRun = (server: Server, execution: Execution): Run =>
  findRun(server, execution?.workflowId ?? '', execution?.runId) ??
  refuse(grpcStatus.notFound, `workflow not found for ID: ${execution?.workflowId ?? ''}`);

/** @throws GrpcError, NOT_FOUND: also where it has closed */
export function openRun(server: Server, execution: Execution): Run {
  const run = knownRun(server, execution);
  return isOpen(run) ? run : refuse(grpcStatus.notFound, 'workflow execution already completed');
}

/** Waits, but no longer than `ms`; null: as long as it takes. */
export async function within(server: Server, ms: number | null, awaited: Promise<unknown>): Promise<void> {
  if (ms === null) return void (await awaited);
  const { promise, resolve } = Promise.withResolvers<void>();
  const entry = server.after(ms, resolve);
  try {
    await Promise.race([awaited, promise]);
  } finally {
    server.clock.cancel(entry);
  }
}
