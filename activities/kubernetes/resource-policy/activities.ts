import type { VirtualMachineSetResourcePolicy } from '../../../contracts/crds/virtual-machine-set-resource-policy.ts';
import { policyAnnotations, resourcePolicyId } from '../../../contracts/ids.ts';
import {
  readRecordedPolicy,
  readResourcePolicy,
  resourcePolicyMode,
} from '../../../contracts/resource-policy/read-resource-policy.ts';
import type {
  DesiredResourcePolicy,
  PolicyNote,
  RecordedResourcePolicy,
  ResourcePolicyInput,
  ResourcePolicyObjectActivities,
  ResourcePolicyRead,
  ResourcePolicySettings,
} from '../../../contracts/resource-policy/resource-policy.ts';
import { resourcePolicyFinalizer } from '../../../contracts/virtual-machine/marks.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { mutate, type MutationTools } from '../lib/mutate.ts';
import type { ResourcePolicyClient } from './client.ts';
import { readResourcePolicyInput } from './input.ts';
import { currentKubernetesScope, type KubernetesScope } from '../lib/scope.ts';
import { writeEvent } from '../lib/write-event.ts';

/** What the composition root gives to the activities on VirtualMachineSetResourcePolicies. */
export interface ResourcePolicyDependencies extends Pick<MutationTools, 'stopGate' | 'audit'> {
  client: ResourcePolicyClient;
  /** Null: the kind is switched off. */
  settings: ResourcePolicySettings | null;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  /** Signals the policy's own run, starting it if need be. */
  signalWithStart: (input: ResourcePolicyInput) => Promise<void>;
  /** The running activity. Default: Temporal's. */
  scope?: (clock: Clock) => KubernetesScope;
  clock: Clock;
}

type Tools = Omit<ResourcePolicyDependencies, 'scope'> & { scope: KubernetesScope };

/** Activities on VirtualMachineSetResourcePolicies, queue `kubernetes`. */
export function createResourcePolicyActivities({
  scope = currentKubernetesScope,
  ...rest
}: ResourcePolicyDependencies): ResourcePolicyObjectActivities {
  const tools = (): Tools => ({ ...rest, scope: scope(rest.clock) });
  return {
    readResourcePolicy: (input) => readPolicy(tools(), input),
    noteResourcePolicy: (request) => retryConflicts(() => note(tools(), request)),
  };
}

const nothing: RecordedResourcePolicy = { modules: [], pools: [], made: null, observed: null, waitsFor: null };

async function readPolicy(tools: Tools, input: ResourcePolicyInput): Promise<ResourcePolicyRead> {
  const { client, settings, cluster, scope } = tools;
  const { namespace, name } = readResourcePolicyInput(input);
  if (settings === null)
    return {
      next: 'nothing',
      message: `VirtualMachineSetResourcePolicies are switched off in drover’s settings (modes.VirtualMachineSetResourcePolicy); ${namespace}/${name} is left as it is`,
    };
  const workflowId = resourcePolicyId(namespace, name, cluster);
  if (scope.run !== null && scope.run.workflowId !== workflowId) {
    await tools.signalWithStart({ namespace, name });
    return { next: 'handedOver', workflowId };
  }
  const object = await client.get({ namespace, name }, scope.signal);
  if (object === null) return { next: 'run', settings, desired: null, recorded: nothing, usedBy: [] };
  const desired = readResourcePolicy(object);
  const recorded = readRecordedPolicy(object);
  const own = { ...settings, mode: resourcePolicyMode(object, settings.mode) };
  if (!desired.deleting) return { next: 'run', settings: own, desired, recorded, usedBy: [] };
  const [others, users] = await Promise.all([
    client.list(namespace, scope.signal),
    client.listUsers(namespace, scope.signal),
  ]);
  const usedBy = users.filter(({ policy }) => policy === name).map((user) => user.name);
  return {
    next: 'run',
    settings: own,
    desired: ownOnly(
      desired,
      others.filter(({ metadata }) => metadata.uid !== desired.uid),
    ),
    recorded,
    usedBy,
  };
}

/** Without what another policy of the namespace names too. */
function ownOnly(
  desired: DesiredResourcePolicy,
  others: readonly VirtualMachineSetResourcePolicy[],
): DesiredResourcePolicy {
  const { folder, resourcePool } = desired;
  const named = others.map(readResourcePolicy);
  const isShared = (is: (other: DesiredResourcePolicy) => boolean): boolean => named.some(is);
  return {
    ...desired,
    folder: folder !== null && isShared((other) => other.folder === folder) ? null : folder,
    resourcePool:
      resourcePool !== null && isShared((other) => other.resourcePool?.name === resourcePool.name)
        ? null
        : resourcePool,
  };
}

/** On the version that was read; a policy that is gone, or is another one of that name, is told nothing. */
async function note(
  tools: Tools,
  { namespace, name, uid, note: wanted }: Parameters<ResourcePolicyObjectActivities['noteResourcePolicy']>[0],
): Promise<void> {
  const { client, scope } = tools;
  const found = await client.get({ namespace, name }, scope.signal);
  if (found?.metadata.uid !== uid) return;
  try {
    const written = await writeStatus(tools, found, wanted);
    await writeMetadata(tools, written, wanted);
  } catch (error) {
    if (!isFailure(error, 'ObjectNotFound')) throw error;
  }
  const { waitsFor } = wanted;
  if (typeof waitsFor !== 'string' || waitsFor === readRecordedPolicy(found).waitsFor) return;
  await writeEvent(
    tools,
    {
      regarding: { kind: 'VirtualMachineSetResourcePolicy', namespace, name, uid },
      type: 'Normal',
      reason: 'Waiting',
      message: `Waiting for ${waitsFor}`,
    },
    [uid, String(scope.scheduledMs), waitsFor],
  );
}

async function writeStatus(
  { client, scope }: Tools,
  found: VirtualMachineSetResourcePolicy,
  { modules, pools }: PolicyNote,
): Promise<VirtualMachineSetResourcePolicy> {
  const { namespace = '', name, uid, resourceVersion } = found.metadata;
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
  if (
    Object.entries(status).every(
      ([field, value]) => JSON.stringify(found.status?.[field as keyof typeof status] ?? []) === JSON.stringify(value),
    )
  )
    return found;
  return await client.patchStatus({ namespace, name, uid, resourceVersion }, status, scope.signal);
}

async function writeMetadata(
  tools: Tools,
  found: VirtualMachineSetResourcePolicy,
  { finalizer, made, observed, waitsFor }: PolicyNote,
): Promise<void> {
  const { client, scope } = tools;
  const { namespace = '', name, uid, resourceVersion, finalizers = [], annotations: given = {} } = found.metadata;
  const said = made !== undefined ? String(made) : observed !== undefined ? `observed ${observed}` : undefined;
  const annotations: Record<string, string | null> = {
    ...(said !== undefined && said !== given[policyAnnotations.made] && { [policyAnnotations.made]: said }),
    ...(waitsFor !== undefined &&
      waitsFor !== (given[policyAnnotations.waitsFor] ?? null) && { [policyAnnotations.waitsFor]: waitsFor }),
  };
  const others = finalizers.filter((one) => one !== resourcePolicyFinalizer);
  const isHeld = others.length < finalizers.length;
  const isTurned = finalizer !== undefined && (finalizer === 'add') !== isHeld;
  const change = {
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(isTurned && { finalizers: isHeld ? others : [...finalizers, resourcePolicyFinalizer] }),
  };
  if (Object.keys(change).length === 0) return;
  const write = (): Promise<unknown> => client.patch({ namespace, name, uid, resourceVersion }, change, scope.signal);
  // What it says of itself is a report: that goes on while drover is stopped.
  if (!isTurned) return void (await write());
  await mutate(
    tools,
    {
      action: 'noteResourcePolicy',
      cause: 'its lifecycle',
      object: `resourcepolicy/${namespace}/${name}`,
      before: finalizers,
      after: change.finalizers ?? [],
    },
    write,
  );
}
