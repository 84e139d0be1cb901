import { modeOf, pendingRetry } from '../../../contracts/kinds/requests.ts';
import { z } from 'zod';

import type { VirtualMachineSetResourcePolicy } from '../../../contracts/crds/virtual-machine-set-resource-policy.ts';
import { retryHandledAnnotation } from '../../../contracts/eviction/annotations.ts';
import { policyAnnotations, resourcePolicyId } from '../../../contracts/ids.ts';
import { readRecordedPolicy, readResourcePolicy } from '../../../contracts/resource-policy/read-resource-policy.ts';
import type {
  DesiredPolicy,
  ObservedPolicy,
  PolicyObservation,
  PolicySettings,
  PolicyStatus,
  RecordedPolicy,
  ResourcePolicyInput,
  ResourcePolicyObjectActivities,
} from '../../../contracts/resource-policy/resource-policy.ts';
import type { Unobserved } from '../../../contracts/runs.ts';
import { resourcePolicyFinalizer } from '../../../contracts/virtual-machine/metadata.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { type ActivityContext, type ForActivities, contextOf } from '../../lib/context.ts';
import { readResourcePolicyInput } from '../../lib/input.ts';
import { patchFinalizer } from '../lib/patch-finalizer.ts';
import { writeEvent } from '../lib/write-event.ts';

/** What the composition root gives to the activities on VirtualMachineSetResourcePolicies. */
export interface ResourcePolicyDependencies extends ForActivities<ActivityContext> {
  client: KubernetesObjects;
  /** Null: the kind is switched off. */
  settings: PolicySettings | null;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  /** Signals the policy's own run, starting it if need be. */
  signalWithStart: (input: ResourcePolicyInput) => Promise<void>;
}

type Tools = Omit<ResourcePolicyDependencies, 'scope'> & ActivityContext;

/** A VirtualMachine may hold anything: one that drover cannot read names a policy all the same. */
const userSchema = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z
    .object({ reserved: z.object({ resourcePolicyName: z.string().catch('') }).catch({ resourcePolicyName: '' }) })
    .catch({ reserved: { resourcePolicyName: '' } }),
});
const users = { ...resources.VirtualMachine, schema: userSchema };

/** Activities on VirtualMachineSetResourcePolicies, queue `kubernetes`. */
export function createResourcePolicyActivities(
  dependencies: ResourcePolicyDependencies,
): ResourcePolicyObjectActivities {
  const tools = (): Tools => contextOf(dependencies);
  return {
    observeResourcePolicy: (input) => observePolicy(tools(), input),
    patchPolicyFinalizer: ({ namespace, name, uid, present }) =>
      patchFinalizer(tools(), resources.VirtualMachineSetResourcePolicy, {
        key: { namespace, name },
        uid,
        finalizer: resourcePolicyFinalizer,
        present,
        action: 'patchPolicyFinalizer',
        object: `resourcepolicy/${namespace}/${name}`,
      }),
    publishResourcePolicy: (request) => retryConflicts(() => publish(tools(), request)),
  };
}

const nothing: RecordedPolicy = {
  modules: [],
  pools: [],
  made: null,
  observed: null,
  cancelled: null,
  waitsFor: null,
};

async function observePolicy(tools: Tools, input: ResourcePolicyInput): Promise<PolicyObservation | Unobserved> {
  const { client, settings, cluster, scope } = tools;
  const { namespace, name } = readResourcePolicyInput(input);
  if (settings === null)
    return {
      kind: 'nothing',
      message: `VirtualMachineSetResourcePolicies are switched off in drover’s settings (modes.VirtualMachineSetResourcePolicy); ${namespace}/${name} is left as it is`,
    };
  const workflowId = resourcePolicyId(namespace, name, cluster);
  if (scope.run !== null && scope.run.workflowId !== workflowId) {
    await tools.signalWithStart({ namespace, name });
    return { kind: 'handedOver', message: `Run ${workflowId} drives ${namespace}/${name}` };
  }
  const object = await client.get(resources.VirtualMachineSetResourcePolicy, { namespace, name }, scope.signal);
  // What is reconciled says so itself, in its annotations, and depends on nothing else.
  const common = { kind: 'observed', digest: null } as const;
  const unknown: ObservedPolicy = { recorded: nothing, usedBy: [], inVcenter: null };
  if (object === null) return { ...common, settings, desired: null, observed: unknown, retry: null };
  const desired = readResourcePolicy(object);
  const observed = { ...unknown, recorded: readRecordedPolicy(object) };
  const found = {
    ...common,
    settings: { ...settings, mode: modeOf(object, settings.mode) },
    retry: pendingRetry(object),
  };
  if (!desired.deleting) return { ...found, desired, observed };
  const [policies, machines] = await Promise.all([
    client.list(resources.VirtualMachineSetResourcePolicy, { namespace }, scope.signal),
    client.list(users, { namespace }, scope.signal),
  ]);
  const usedBy = machines
    .filter(({ spec }) => spec.reserved.resourcePolicyName === name)
    .map(({ metadata }) => metadata.name);
  // Of those that go together each removes what they share: none would, if each left it to the others.
  const others = policies.filter(
    ({ metadata }) => metadata.uid !== desired.uid && metadata.deletionTimestamp === undefined,
  );
  return { ...found, desired: ownOnly(desired, others), observed: { ...observed, usedBy } };
}

/** Without what another policy of the namespace, which stays, names too. */
function ownOnly(desired: DesiredPolicy, others: readonly VirtualMachineSetResourcePolicy[]): DesiredPolicy {
  const { folder, resourcePool } = desired;
  const named = others.map(readResourcePolicy);
  return {
    ...desired,
    folder: named.some((other) => other.folder === folder) ? null : folder,
    resourcePool: named.some((other) => other.resourcePool?.name === resourcePool?.name) ? null : resourcePool,
  };
}

type Requests = {
  [Name in keyof ResourcePolicyObjectActivities]: Parameters<ResourcePolicyObjectActivities[Name]>[0];
};

/** What the object says of itself is no mutation that `drover stop` holds back. */
async function publish(
  tools: Tools,
  { namespace, name, uid, status, retryHandled }: Requests['publishResourcePolicy'],
): Promise<void> {
  const { client, scope } = tools;
  const found = await client.get(resources.VirtualMachineSetResourcePolicy, { namespace, name }, scope.signal);
  if (found?.metadata.uid !== uid) return;
  try {
    const written = await writeStatus(tools, found, status);
    const annotations = annotationsOf(found, status, retryHandled);
    if (Object.keys(annotations).length > 0)
      await client.patch(
        resources.VirtualMachineSetResourcePolicy,
        written,
        { metadata: { annotations } },
        scope.signal,
      );
  } catch (error) {
    if (!isFailure(error, 'ObjectNotFound')) throw error;
  }
  const { waitsFor, observed, cancelled } = status;
  if (typeof waitsFor !== 'string' || waitsFor === readRecordedPolicy(found).waitsFor) return;
  const isWaiting = observed === undefined && cancelled === undefined;
  await writeEvent(
    tools,
    {
      regarding: { kind: 'VirtualMachineSetResourcePolicy', namespace, name, uid },
      type: 'Normal',
      reason: isWaiting ? 'Waiting' : observed === undefined ? 'Cancelled' : 'ObserveOnly',
      message: isWaiting ? `Waiting for ${waitsFor}` : waitsFor,
    },
    [uid, String(scope.scheduledMs), waitsFor],
  );
}

/** @returns metadata of the object then */
async function writeStatus(
  { client, scope }: Tools,
  found: VirtualMachineSetResourcePolicy,
  { modules, pools }: PolicyStatus,
): Promise<VirtualMachineSetResourcePolicy['metadata']> {
  const status = {
    ...(modules !== undefined && {
      clustermodules: modules.map(({ cluster, group, module }) => ({
        clusterMoID: cluster,
        groupName: group,
        moduleUUID: module,
      })),
    }),
    ...(pools !== undefined && {
      resourcePools: pools.map(({ cluster, pool }) => ({ clusterMoID: cluster, childResourcePoolMoID: pool })),
    }),
  };
  const isSaid = Object.entries(status).every(
    ([field, value]) => JSON.stringify(found.status?.[field as keyof typeof status] ?? []) === JSON.stringify(value),
  );
  if (isSaid) return found.metadata;
  return (await client.patchStatus(resources.VirtualMachineSetResourcePolicy, found.metadata, status, scope.signal))
    .metadata;
}

/** Those that differ; null takes one away. */
function annotationsOf(
  { metadata: { annotations: given = {} } }: VirtualMachineSetResourcePolicy,
  { made, observed, cancelled, waitsFor }: PolicyStatus,
  retryHandled: string | null,
): Record<string, string | null> {
  const wanted = {
    ...(made !== undefined && { [policyAnnotations.made]: String(made) }),
    ...(observed !== undefined && { [policyAnnotations.made]: `observed ${observed}` }),
    ...(cancelled !== undefined && { [policyAnnotations.made]: `cancelled ${cancelled}` }),
    ...(waitsFor !== undefined && { [policyAnnotations.waitsFor]: waitsFor }),
    ...(retryHandled !== null && { [retryHandledAnnotation]: retryHandled }),
  };
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => value !== (given[key] ?? null)));
}
