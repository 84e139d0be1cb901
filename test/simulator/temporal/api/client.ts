import { AsyncLocalStorage } from 'node:async_hooks';
import { Client } from '@temporalio/client';
import type { ConnectionLike } from '@temporalio/client';
import { createDataConverters } from '../../../../runtime/temporal/data-converter.ts';
import type { VirtualClock } from '../../clock.ts';
import { grpcError, grpcStatus } from './grpc.ts';
import type { Network } from '../../network.ts';
import { currentProcess, isSimulated } from '../../process.ts';
import { namespace } from '../sdk.ts';
import type { CallContext, Service } from './calls.ts';
import { toResponse } from './service.ts';

/** The SDK's own client, on a connection to the simulated server. */

/** How long the server lets a call wait before it answers that nothing has come. */
const longPollMs = 20_000;
/** No call has a deadline that is further away. */
const longestMs = 24 * 3_600_000;
/** Where a deadline is given as a time of the machine's clock: so much that may have gone on since. */
const roundingMs = 100;

interface CallLimits {
  /** In virtual time; null: none. */
  timeoutMs: number | null;
  abort: AbortSignal | null;
}

/**
 * One for all clients: each storage that was ever used stays in its caller's context, which is copied with every step
 * of a simulation.
 */
const limits = new AsyncLocalStorage<CallLimits>();
const current = (): CallLimits => limits.getStore() ?? { timeoutMs: null, abort: null };

type Handler = (request: unknown, context: CallContext) => unknown;

export interface ClientOptions {
  clock: VirtualClock;
  network: Network;
  service: Service;
}

/** What a simulated process calls goes through the network; what the test calls happens at once. */
export function createClient({ clock, network, service }: ClientOptions): Client {
  async function call(method: string, request: unknown): Promise<unknown> {
    const handler = (service as Record<string, Handler | undefined>)[method];
    if (handler === undefined) throw grpcError(grpcStatus.unimplemented, `the simulator does not support ${method}`);
    const isTest = !isSimulated(currentProcess());
    const context: CallContext = { longPollMs: isTest ? null : longPollMs };
    const { timeoutMs, abort } = current();
    if (abort?.aborted === true) throw grpcError(grpcStatus.cancelled, 'Cancelled on client');
    const controller = new AbortController();
    const onAbort = (): void => controller.abort(grpcError(grpcStatus.cancelled, 'Cancelled on client'));
    abort?.addEventListener('abort', onAbort, { once: true });
    const cancelTimer =
      timeoutMs === null
        ? undefined
        : clock.schedule(
            () =>
              controller.abort(grpcError(grpcStatus.deadlineExceeded, `Deadline exceeded after ${timeoutMs / 1_000}s`)),
            timeoutMs,
          );
    const effect = async (): Promise<unknown> => toResponse(method, await handler(request, context));
    try {
      if (isTest) return await unlessAborted(controller.signal, effect());
      const lost = (): Error => grpcError(grpcStatus.unavailable, 'Connection dropped');
      return await network.call(
        { system: 'temporal', verb: `${method[0]?.toUpperCase() ?? ''}${method.slice(1)}` },
        effect,
        controller.signal,
        lost,
      );
    } finally {
      cancelTimer?.();
      abort?.removeEventListener('abort', onAbort);
    }
  }

  const within = <Result>(more: Partial<CallLimits>, use: () => Promise<Result>): Promise<Result> =>
    limits.run({ ...current(), ...more }, use);
  const noOperator = new Proxy(
    {},
    {
      get: (_, method: string) => () =>
        Promise.reject(grpcError(grpcStatus.unimplemented, `the simulator does not support ${method}`)),
    },
  );
  const connection = {
    workflowService: new Proxy(
      {},
      { get: (_, method: string) => (method === 'then' ? undefined : (request: unknown) => call(method, request)) },
    ),
    operatorService: noOperator,
    plugins: [],
    close: () => Promise.resolve(),
    ensureConnected: () => Promise.resolve(),
    withDeadline: <Result>(deadline: number | Date, use: () => Promise<Result>) =>
      within({ timeoutMs: timeoutOf(Number(deadline), clock.now()) }, use),
    withMetadata: <Result>(_: unknown, use: () => Promise<Result>) => use(),
    withAbortSignal: <Result>(abort: AbortSignal, use: () => Promise<Result>) => within({ abort }, use),
  } as unknown as ConnectionLike;
  return new Client({
    connection,
    namespace,
    identity: 'simulation',
    dataConverter: createDataConverters(null).client,
  });
}

/** Of a deadline by the simulation's clock, or by the machine's where the caller has no other. */
function timeoutOf(deadlineMs: number, nowMs: number): number {
  const timeoutMs = deadlineMs - nowMs;
  if (timeoutMs >= 0 && timeoutMs < longestMs) return timeoutMs;
  return Math.max(0, Math.round((deadlineMs - Date.now()) / roundingMs) * roundingMs);
}

async function unlessAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
