import { Client, Connection, isGrpcDeadlineError, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import type { ClientInterceptors, ConnectionOptions } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { ApplicationFailure } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { NativeConnectionOptions } from '@temporalio/worker';
import type { EvictionInput } from '../contracts/eviction.ts';
import type { HypervisorInput } from '../contracts/hypervisor.ts';
import type { GuestsFailing, GuestWatchInput } from '../contracts/guest-watch.ts';
import { evictionId, guestWatchId, hypervisorId, type Kind, nodeFailureId, resourcePolicyId, vcenterWatchId, virtualMachineId, workflowQueue, workflowTypes } from '../contracts/ids.ts';
import { messages, type ObjectChanged } from '../contracts/messages.ts';
import type { NodeFailureInput } from '../contracts/node-failure-activities.ts';
import type { ResourcePolicyInput } from '../contracts/resource-policy.ts';
import { searchAttributes } from '../contracts/search-attributes.ts';
import type { VcenterWatchInput } from '../contracts/vcenter-watch.ts';
import type { VirtualMachineInput } from '../contracts/virtual-machine-lifecycle.ts';
import { createDataConverters, type DataConverters } from './data-converter.ts';
import { droverFailure } from './failure.ts';
import { registerSecret } from './redaction.ts';

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
  abort?: AbortSignal;
}

/** gRPC's own default lets two minutes pass between attempts to reach a server that is back already. */
const maxReconnectMs = 2_000;

const grpcStatus = { notFound: 5 } as const;

/**
 * The same profiles and variables as the `temporal` CLI: TEMPORAL_CONFIG_FILE (TOML), TEMPORAL_PROFILE, TEMPORAL_ADDRESS,
 * TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_….
 *
 * @param payloadKeys file of the keys that payloads are encrypted with, as `temporal.payloadKeys` of drover's settings has it
 * @throws InvalidConfiguration when the file, the profile or the keys cannot be read
 */
export function readTemporalSettings(env: NodeJS.ProcessEnv = process.env, payloadKeys: string | null = env['DROVER_PAYLOAD_KEYS'] || null): TemporalSettings {
  const { connectionOptions, namespace } = loadConnectConfig(env);
  if (typeof connectionOptions.apiKey === 'string') registerSecret(connectionOptions.apiKey);
  // The loader leaves what is not set as undefined; the connections tell that from a missing key.
  const connection = Object.fromEntries(Object.entries(connectionOptions).filter(([, value]) => value !== undefined)) as NativeConnectionOptions;
  const address = connection.address ?? '127.0.0.1:7233';
  return { address, namespace: namespace ?? 'default', connection: { ...connection, address }, converters: createDataConverters(payloadKeys) };
}

function loadConnectConfig(env: NodeJS.ProcessEnv): ReturnType<typeof loadClientConnectConfig> {
  const overrideEnvVars = Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
  try {
    return loadClientConnectConfig({ overrideEnvVars });
  } catch (error) {
    throw droverFailure('InvalidConfiguration', `Temporal’s client configuration cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * A client that connects when it is first used and again whenever Temporal comes back: for processes that outlive an absence of Temporal.
 * The caller closes `client.connection`.
 */
export function openClient(settings: TemporalSettings): Client {
  const connection = Connection.lazy({
    ...(settings.connection as ConnectionOptions),
    // No retries below those of whoever calls (design section 2, rule 3); they would also hide what went wrong.
    interceptors: [],
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': maxReconnectMs },
  });
  const { namespace, interceptors } = settings;
  return new Client({ connection, namespace, dataConverter: settings.converters.client, ...(interceptors === undefined ? {} : { interceptors }) });
}

/**
 * A client that is known to work: Temporal answered and has the namespace. The caller closes `client.connection`.
 *
 * @throws TemporalUnavailable naming the address; InvalidConfiguration when the namespace does not exist
 */
export async function connectClient(settings: TemporalSettings, { timeoutMs, abort }: CallLimits = { timeoutMs: 5_000 }): Promise<Client> {
  const client = openClient(settings);
  try {
    await limited(client, { timeoutMs, ...(abort && { abort }) }, () => client.workflowService.describeNamespace({ namespace: settings.namespace }));
    return client;
  } catch (error) {
    await client.connection.close();
    throw unreachable(settings, error);
  }
}

/** The failure to show when Temporal cannot be reached, whoever tried: names the address and the namespace. */
export function unreachable({ address, namespace }: Pick<TemporalSettings, 'address' | 'namespace'>, error: unknown): ApplicationFailure {
  if (isGrpcServiceError(error) && (error.code as number) === grpcStatus.notFound) {
    return droverFailure('InvalidConfiguration', `Temporal at ${address} has no namespace ${namespace}`, { cause: error });
  }
  return droverFailure('TemporalUnavailable', `Temporal at ${address} (namespace ${namespace}) cannot be reached: ${wordsOf(error)}`, { cause: error });
}

/** What went wrong, in the words of whoever knows most: the client wraps what gRPC said in a sentence that says nothing. */
export function wordsOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (isGrpcDeadlineError(cause)) return 'no answer in time';
  return isGrpcServiceError(cause) ? cause.details || cause.message : cause instanceof Error ? cause.message : String(cause);
}

/** Runs calls of `client` under a deadline, and ends them when `abort` says so. */
export async function limited<Result>(client: Client, { timeoutMs, abort }: CallLimits, calls: () => Promise<Result>): Promise<Result> {
  // The client only listens for an abort that is still to come.
  abort?.throwIfAborted();
  const bounded = (): Promise<Result> => client.withDeadline(Date.now() + timeoutMs, calls);
  return abort === undefined ? bounded() : client.withAbortSignal(abort, bounded);
}

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);
const attributeKeys = { kind: keyword(searchAttributes.kind), object: keyword(searchAttributes.object), host: keyword(searchAttributes.host) };

/** What all kinds of runs are told and, where none is open, started with. */
interface ToldRun {
  workflowType: string;
  workflowId: string;
  input: EvictionInput | HypervisorInput | NodeFailureInput | VirtualMachineInput | ResourcePolicyInput;
  message: { name: 'objectChanged'; signal: ObjectChanged } | { name: 'guestsFailing'; signal: GuestsFailing };
  kind: Kind | 'NodeFailure';
  object: string;
  /** The compute host concerned; null: none. */
  host: string | null;
  startedBy: string;
  /** Markdown. */
  summary: string;
  details: readonly string[];
}

/**
 * One call of the server, so that a run which just ends cannot miss it (design section 1). Runs have no time-outs: they may take days.
 *
 * @returns the run id that got the signal
 */
async function signalWithStart(client: Client, told: ToldRun, limits: CallLimits): Promise<string> {
  const handle = await limited(client, limits, () =>
    client.workflow.signalWithStart(told.workflowType, {
      workflowId: told.workflowId,
      taskQueue: workflowQueue,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [told.input],
      signal: messages[told.message.name],
      signalArgs: [told.message.signal],
      typedSearchAttributes: [
        { key: attributeKeys.kind, value: told.kind },
        { key: attributeKeys.object, value: told.object },
        ...(told.host === null ? [] : [{ key: attributeKeys.host, value: told.host }]),
      ],
      memo: { startedBy: told.startedBy },
      staticSummary: told.summary,
      staticDetails: told.details.join('\n\n'),
    }),
  );
  return handle.signaledRunId;
}

/** Which run to tell, and what. */
export interface EvictionSignal {
  /** The Eviction's `spec.hypervisor`. */
  host: string;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  signal: ObjectChanged;
  /** Name of the Eviction. */
  eviction: string;
  /** Who asked for the eviction, as far as known; kept in the memo of a run that this starts. */
  startedBy?: string;
}

/** Tells the run that empties `host` that its Eviction changed, starting it if none is open. Returns the id of the run. */
export const signalWithStartEviction = (
  client: Client,
  { host, cluster, signal, eviction, startedBy = 'k8s-bridge' }: EvictionSignal,
  limits: CallLimits = { timeoutMs: 5_000 },
): Promise<string> =>
  signalWithStart(
    client,
    {
      workflowType: workflowTypes.evictHypervisor,
      workflowId: evictionId(host, cluster),
      input: { hypervisor: host },
      message: { name: 'objectChanged', signal },
      kind: 'Eviction',
      object: eviction,
      host,
      startedBy,
      summary: `Evict ${host}`,
      details: [
        `Empties compute host **${host}**: disables its compute service, moves its instances one by one, and says in the Eviction \`${eviction}\` how it went.`,
        `Watch it with \`drover watch ${host}\` or \`kubectl get evictions ${eviction}\`. Stop it with \`drover cancel ${host}\`, or by cancelling this run.`,
      ],
    },
    limits,
  );

export interface HypervisorSignal extends Pick<EvictionSignal, 'cluster' | 'signal'> {
  /** Name of the Hypervisor, which is its Node's. */
  hypervisor: string;
  /** Who asked, as far as known; kept in the memo of a run that this starts. */
  startedBy?: string;
}

/** The runs that bear a hypervisor's name: what they are to the people who find them in the Web UI. */
const hypervisorRuns = {
  Hypervisor: {
    workflowType: workflowTypes.reconcileHypervisor,
    idOf: hypervisorId,
    summary: (hypervisor: string) => `Drive hypervisor ${hypervisor}`,
    details: (hypervisor: string) => [
      `Brings compute host **${hypervisor}** to where its Hypervisor and its Node want it: into service, into maintenance, or out of Nova.`,
      `What it waits for, and why, is in the conditions: \`kubectl describe hypervisor ${hypervisor}\`.`,
    ],
  },
  NodeFailure: {
    workflowType: workflowTypes.handleNodeFailure,
    idOf: nodeFailureId,
    summary: (hypervisor: string) => `Judge whether ${hypervisor} has failed`,
    details: (hypervisor: string) => [
      `Judges whether compute host **${hypervisor}** has failed. A dead one is fenced and evacuated, on evidence only; who may give it is in docs/node-failure.md.`,
      `What was found, and what to type, is in the condition \`NodeFailure\`: \`kubectl describe hypervisor ${hypervisor}\`.`,
    ],
  },
} as const;

const toldRun = (kind: keyof typeof hypervisorRuns, { hypervisor, cluster, startedBy = 'k8s-bridge' }: Omit<HypervisorSignal, 'signal'>, message: ToldRun['message']): ToldRun => {
  const { workflowType, idOf, summary, details } = hypervisorRuns[kind];
  return { workflowType, workflowId: idOf(hypervisor, cluster), input: { hypervisor }, message, kind, object: hypervisor, host: hypervisor, startedBy, summary: summary(hypervisor), details: details(hypervisor) };
};

const signalWithStartRun =
  (kind: keyof typeof hypervisorRuns) =>
  (client: Client, { signal, ...told }: HypervisorSignal, limits: CallLimits = { timeoutMs: 5_000 }): Promise<string> =>
    signalWithStart(client, toldRun(kind, told, { name: 'objectChanged', signal }), limits);

/** Tells the run that drives `hypervisor` that it, its Node or an Eviction of it changed, starting it if none is open. Returns the id of the run. */
export const signalWithStartHypervisor = signalWithStartRun('Hypervisor');

/** Tells the run of the failure of `hypervisor` to look, starting it if none is open. Returns the id of the run. */
export const signalWithStartNodeFailure = signalWithStartRun('NodeFailure');

/** The same, because too many guests of the host fail. */
export const signalGuestsFailing = (client: Client, told: Omit<HypervisorSignal, 'signal'>, signal: GuestsFailing, limits: CallLimits = { timeoutMs: 5_000 }): Promise<string> =>
  signalWithStart(client, toldRun('NodeFailure', told, { name: 'guestsFailing', signal }), limits);

export interface VirtualMachineSignal extends Pick<EvictionSignal, 'cluster' | 'signal' | 'startedBy'> {
  namespace: string;
  name: string;
}

/** The runs of objects that have a namespace: what they are to the people who find them in the Web UI. */
const namespacedRuns = {
  VirtualMachine: {
    workflowType: workflowTypes.reconcileVirtualMachine,
    idOf: virtualMachineId,
    summary: (object: string) => `Drive VM ${object}`,
    details: (namespace: string, name: string) => [
      `Brings the VM of VirtualMachine **${namespace}/${name}** to where its spec wants it: made, configured, on or off, or gone.`,
      `What it waits for, and why, is in the conditions: \`kubectl describe vm -n ${namespace} ${name}\`.`,
    ],
  },
  VirtualMachineSetResourcePolicy: {
    workflowType: workflowTypes.reconcileSetResourcePolicy,
    idOf: resourcePolicyId,
    summary: (object: string) => `Make policy ${object}`,
    details: (namespace: string, name: string) => [
      `Makes what VirtualMachineSetResourcePolicy **${namespace}/${name}** names in vCenter: a folder, resource pools and cluster modules. They go with it.`,
      `What it waits for is in its Events: \`kubectl describe virtualmachinesetresourcepolicy -n ${namespace} ${name}\`.`,
    ],
  },
} as const;

const signalWithStartNamespaced =
  (kind: keyof typeof namespacedRuns) =>
  (client: Client, { namespace, name, cluster, signal, startedBy = 'k8s-bridge' }: VirtualMachineSignal, limits: CallLimits = { timeoutMs: 5_000 }): Promise<string> => {
    const { workflowType, idOf, summary, details } = namespacedRuns[kind];
    const object = `${namespace}/${name}`;
    const told: ToldRun = { workflowType, workflowId: idOf(namespace, name, cluster), input: { namespace, name }, message: { name: 'objectChanged', signal }, kind, object, host: null, startedBy, summary: summary(object), details: details(namespace, name) };
    return signalWithStart(client, told, limits);
  };

/** Tells the run that drives a VirtualMachine that it, or something it names, changed, starting it if none is open. Returns the id of the run. */
export const signalWithStartVirtualMachine = signalWithStartNamespaced('VirtualMachine');

/** The same for the run of a VirtualMachineSetResourcePolicy. */
export const signalWithStartResourcePolicy = signalWithStartNamespaced('VirtualMachineSetResourcePolicy');

/** A run that a worker begins and that goes on until somebody ends it. */
interface StandingRun {
  workflowType: string;
  workflowId: string;
  input: GuestWatchInput | VcenterWatchInput;
  kind: string;
  /** What it is about; null: nothing of its own. */
  object: string | null;
  summary: string;
  details: string;
}

/** Begins them. One that is open already goes on. */
async function startStanding(client: Client, runs: readonly StandingRun[], limits: CallLimits): Promise<void> {
  const start = ({ workflowType, workflowId, input, kind, object, summary, details }: StandingRun): Promise<unknown> =>
    client.workflow.start(workflowType, {
      workflowId,
      taskQueue: workflowQueue,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [input],
      typedSearchAttributes: [{ key: attributeKeys.kind, value: kind }, ...(object === null ? [] : [{ key: attributeKeys.object, value: object }])],
      memo: { startedBy: 'a worker' },
      staticSummary: summary,
      staticDetails: details,
    });
  await limited(client, limits, () => Promise.all(runs.map(start)));
}

/** Has the guests of every shard watched. */
export const startGuestWatches = (client: Client, { shards, cluster }: { shards: number; cluster: string }, limits: CallLimits = { timeoutMs: 20_000 }): Promise<void> =>
  startStanding(
    client,
    Array.from({ length: shards }, (_, shard) => ({
      workflowType: workflowTypes.watchGuests,
      workflowId: guestWatchId(shard, cluster),
      input: { shard },
      kind: 'GuestWatch',
      object: null,
      summary: `Listen to guests, shard ${shard}`,
      details: 'Keeps a connection to the libvirt of each hypervisor of its shard, and tells the run of a host’s failure when too many of its guests fail: docs/node-failure.md. Cancelling it stops nobody’s work.',
    })),
    limits,
  );

/** Has the VMs of these vCenters watched. */
export const startVcenterWatches = (client: Client, { vcenters, cluster }: { vcenters: readonly string[]; cluster: string }, limits: CallLimits = { timeoutMs: 20_000 }): Promise<void> =>
  startStanding(
    client,
    vcenters.map((vcenter) => ({
      workflowType: workflowTypes.watchVcenter,
      workflowId: vcenterWatchId(vcenter, cluster),
      input: { vcenter },
      kind: 'VcenterWatch',
      object: vcenter,
      summary: `Watch the VMs of vCenter ${vcenter}`,
      details: `Has vCenter **${vcenter}** tell of VMs that change, and tells the run of their VirtualMachine: docs/virtual-machine.md. How it gets on is in the heartbeat of its activity. Cancelling it stops nobody’s work.`,
    })),
    limits,
  );

/** Cancels the watches over these vCenters, where there are any. */
export async function endVcenterWatches(client: Client, { vcenters, cluster }: { vcenters: readonly string[]; cluster: string }, limits: CallLimits = { timeoutMs: 20_000 }): Promise<void> {
  const end = async (vcenter: string): Promise<void> => {
    try {
      await client.workflow.getHandle(vcenterWatchId(vcenter, cluster)).cancel();
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  };
  await limited(client, limits, () => Promise.all(vcenters.map(end)));
}
