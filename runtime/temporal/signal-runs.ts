import type { Client } from '@temporalio/client';
import type { EvictionInput } from '../../contracts/eviction/eviction.ts';
import type { GuestsFailing } from '../../contracts/node-failure/guest-watch.ts';
import type { HypervisorInput } from '../../contracts/hypervisor/hypervisor.ts';
import {
  evictionId,
  hypervisorId,
  type Kind,
  nodeFailureId,
  resourcePolicyId,
  virtualMachineId,
  workflowQueue,
  workflowTypes,
} from '../../contracts/ids.ts';
import { messages, type ObjectChanged } from '../../contracts/messages.ts';
import type { NodeFailureInput } from '../../contracts/node-failure/activities.ts';
import type { ResourcePolicyInput } from '../../contracts/resource-policy/resource-policy.ts';
import type { VirtualMachineInput } from '../../contracts/virtual-machine/lifecycle.ts';
import { attributeKeys } from './search-attribute-keys.ts';
import { limited, type OwnLimits } from './temporal.ts';

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
async function signalWithStart(
  client: Client,
  told: ToldRun,
  { timeoutMs = 5_000, ...limits }: OwnLimits,
): Promise<string> {
  const handle = await limited(client, { timeoutMs, ...limits }, () =>
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
  limits: OwnLimits,
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

const toldRun = (
  kind: keyof typeof hypervisorRuns,
  { hypervisor, cluster, startedBy = 'k8s-bridge' }: Omit<HypervisorSignal, 'signal'>,
  message: ToldRun['message'],
): ToldRun => {
  const { workflowType, idOf, summary, details } = hypervisorRuns[kind];
  return {
    workflowType,
    workflowId: idOf(hypervisor, cluster),
    input: { hypervisor },
    message,
    kind,
    object: hypervisor,
    host: hypervisor,
    startedBy,
    summary: summary(hypervisor),
    details: details(hypervisor),
  };
};

const signalWithStartRun =
  (kind: keyof typeof hypervisorRuns) =>
  (client: Client, { signal, ...told }: HypervisorSignal, limits: OwnLimits): Promise<string> =>
    signalWithStart(client, toldRun(kind, told, { name: 'objectChanged', signal }), limits);

/** Tells the run that drives `hypervisor` that it, its Node or an Eviction of it changed, starting it if none is open. Returns the id of the run. */
export const signalWithStartHypervisor = signalWithStartRun('Hypervisor');

/** Tells the run of the failure of `hypervisor` to look, starting it if none is open. Returns the id of the run. */
export const signalWithStartNodeFailure = signalWithStartRun('NodeFailure');

/** The same, because too many guests of the host fail. */
export const signalGuestsFailing = (
  client: Client,
  told: Omit<HypervisorSignal, 'signal'>,
  signal: GuestsFailing,
  limits: OwnLimits,
): Promise<string> => signalWithStart(client, toldRun('NodeFailure', told, { name: 'guestsFailing', signal }), limits);

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
  (
    client: Client,
    { namespace, name, cluster, signal, startedBy = 'k8s-bridge' }: VirtualMachineSignal,
    limits: OwnLimits,
  ): Promise<string> => {
    const { workflowType, idOf, summary, details } = namespacedRuns[kind];
    const object = `${namespace}/${name}`;
    const told: ToldRun = {
      workflowType,
      workflowId: idOf(namespace, name, cluster),
      input: { namespace, name },
      message: { name: 'objectChanged', signal },
      kind,
      object,
      host: null,
      startedBy,
      summary: summary(object),
      details: details(namespace, name),
    };
    return signalWithStart(client, told, limits);
  };

/** Tells the run that drives a VirtualMachine that it, or something it names, changed, starting it if none is open. Returns the id of the run. */
export const signalWithStartVirtualMachine = signalWithStartNamespaced('VirtualMachine');

/** The same for the run of a VirtualMachineSetResourcePolicy. */
export const signalWithStartResourcePolicy = signalWithStartNamespaced('VirtualMachineSetResourcePolicy');
