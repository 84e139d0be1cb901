import { Client, Connection, isGrpcDeadlineError, isGrpcServiceError } from '@temporalio/client';
import type { ClientInterceptors, ConnectionOptions } from '@temporalio/client';
import type { ApplicationFailure } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { NativeConnectionOptions } from '@temporalio/worker';
import type { Clock } from '../clock.ts';
import { createDataConverters, type DataConverters } from './data-converter.ts';
import { droverFailure } from '../failure.ts';
import { registerSecret } from '../redaction.ts';

/** Where Temporal is and how to talk to it. */
export interface TemporalSettings {
  /** host:port */
  address: string;
  namespace: string;
  /** Address, TLS, API key and metadata, as `Connection` and `NativeConnection` take them. */
  connection: NativeConnectionOptions;
  /** Of clients, where traces are on. */
  interceptors?: ClientInterceptors;
  converters: DataConverters;
}

/** A call's own limits: every call has a time-out, and most can be given up. */
export interface CallLimits {
  timeoutMs: number;
  /** Whose time the time-out is. */
  clock: Clock;
  abort?: AbortSignal;
}

/** The same for calls that have a time-out of their own unless the caller has another. */
export type OwnLimits = Omit<CallLimits, 'timeoutMs'> & Partial<Pick<CallLimits, 'timeoutMs'>>;

/** gRPC's own default lets two minutes pass between attempts to reach a server that is back already. */
const maxReconnectMs = 2_000;

const grpcStatus = { notFound: 5 } as const;

/**
 * The same profiles and variables as the `temporal` CLI: TEMPORAL_CONFIG_FILE (TOML), TEMPORAL_PROFILE,
 * TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_….
 *
 * @param payloadKeys file of the keys that payloads are encrypted with, as `temporal.payloadKeys` of drover's settings
 * has it
 * @throws InvalidConfiguration when the file, the profile or the keys cannot be read
 */
export function readTemporalSettings(
  env: NodeJS.ProcessEnv = process.env,
  payloadKeys: string | null = env['DROVER_PAYLOAD_KEYS'] || null,
): TemporalSettings {
  const { connectionOptions, namespace } = loadConnectConfig(env);
  if (typeof connectionOptions.apiKey === 'string') registerSecret(connectionOptions.apiKey);
  // The loader leaves what is not set as undefined; the connections distinguish that from a missing key.
  const connection = Object.fromEntries(
    Object.entries(connectionOptions).filter(([, value]) => value !== undefined),
  ) as NativeConnectionOptions;
  const address = connection.address ?? '127.0.0.1:7233';
  return {
    address,
    namespace: namespace ?? 'default',
    connection: { ...connection, address },
    converters: createDataConverters(payloadKeys),
  };
}

function loadConnectConfig(env: NodeJS.ProcessEnv): ReturnType<typeof loadClientConnectConfig> {
  const overrideEnvVars = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  try {
    return loadClientConnectConfig({ overrideEnvVars });
  } catch (error) {
    throw droverFailure('InvalidConfiguration', `Temporal’s client configuration cannot be read: ${describe(error)}`);
  }
}

/** Further lines of the message quote the file, and with it perhaps a key; so does the error itself. */
function describe(error: unknown): string {
  const { message, line, column } = error as Error & { line?: number; column?: number };
  const [words = ''] = message.split('\n');
  return line === undefined ? words : `${words} (line ${line}, column ${column})`;
}

/**
 * A client that connects when it is first used and again whenever Temporal comes back: for processes that outlive an
 * absence of Temporal. The caller closes `client.connection`.
 */
export function openClient(settings: TemporalSettings): Client {
  const connection = Connection.lazy({
    ...(settings.connection as ConnectionOptions),
    // No retries below those of the caller (docs/rules.md#retries); they would also hide what went wrong.
    interceptors: [],
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': maxReconnectMs },
  });
  const { namespace, interceptors } = settings;
  return new Client({
    connection,
    namespace,
    dataConverter: settings.converters.client,
    ...(interceptors === undefined ? {} : { interceptors }),
  });
}

/**
 * A client that is known to work: Temporal answered and has the namespace. The caller closes `client.connection`.
 *
 * @throws TemporalUnavailable naming the address; InvalidConfiguration when the namespace does not exist
 */
export async function connectClient(settings: TemporalSettings, limits: OwnLimits): Promise<Client> {
  const client = openClient(settings);
  try {
    await expectAnswer(client, settings, limits);
    return client;
  } catch (error) {
    await client.connection.close();
    throw error;
  }
}

/**
 * Makes sure that Temporal answers and has the namespace.
 *
 * @throws as {@link connectClient}
 */
export async function expectAnswer(
  client: Client,
  place: Pick<TemporalSettings, 'address' | 'namespace'>,
  { timeoutMs = 5_000, ...limits }: OwnLimits,
): Promise<void> {
  try {
    const { namespace } = place;
    await limited(client, { timeoutMs, ...limits }, () => client.workflowService.describeNamespace({ namespace }));
  } catch (error) {
    throw unreachable(place, error);
  }
}

/** The failure to show when Temporal cannot be reached: names the address and the namespace. */
export function unreachable(
  { address, namespace }: Pick<TemporalSettings, 'address' | 'namespace'>,
  error: unknown,
): ApplicationFailure {
  if (isGrpcServiceError(error) && (error.code as number) === grpcStatus.notFound) {
    return droverFailure('InvalidConfiguration', `Temporal at ${address} has no namespace ${namespace}`, {
      cause: error,
    });
  }
  return droverFailure(
    'TemporalUnavailable',
    `Temporal at ${address} (namespace ${namespace}) cannot be reached: ${wordsOf(error)}`,
    { cause: error },
  );
}

/** What went wrong, in the most specific message: the client wraps what gRPC said in a sentence that says nothing. */
export function wordsOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (isGrpcDeadlineError(cause)) return 'no answer in time';
  return isGrpcServiceError(cause)
    ? cause.details || cause.message
    : cause instanceof Error
      ? cause.message
      : String(cause);
}

/** Runs calls of `client` under a deadline, and ends them when `abort` says so. */
export async function limited<Result>(
  client: Client,
  { timeoutMs, clock, abort }: CallLimits,
  calls: () => Promise<Result>,
): Promise<Result> {
  // The client only listens for an abort that is still to come.
  abort?.throwIfAborted();
  const bounded = (): Promise<Result> => client.withDeadline(clock.now() + timeoutMs, calls);
  if (abort === undefined) return await bounded();
  // The client adds a listener for each request and removes none: on a signal that lives as long as the process they
  // would keep all its requests in memory.
  const own = new AbortController();
  const end = (): void => own.abort(abort.reason);
  abort.addEventListener('abort', end, { once: true });
  try {
    return await client.withAbortSignal(own.signal, bounded);
  } finally {
    abort.removeEventListener('abort', end);
  }
}
