import { agentPoolAnnotations, vmPhases, vsphereAgentFinalizer } from '../../../contracts/agent-pool/metadata.ts';
import type {
  AgentVm,
  ObservedAgent,
  VsphereAgentInput,
  VsphereAgentObservation,
} from '../../../contracts/agent-pool/vsphere-agent.ts';
import type { Agent } from '../../../contracts/crds/agent.ts';
import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import type { VsphereAgent } from '../../../contracts/crds/vsphere-agent.ts';
import { type ErrorCode, errors } from '../../../contracts/errors.ts';
import { vsphereAgentId } from '../../../contracts/ids.ts';
import { digestOfRead } from '../../../contracts/kinds/digest.ts';
import { modeOf, pendingRetry } from '../../../contracts/kinds/requests.ts';
import { vsphereAgentKind } from '../../../contracts/kinds/vsphere-agent.ts';
import type { Unobserved } from '../../../contracts/runs.ts';
import { failureCode } from '../../../runtime/failure.ts';
import { neighbourResources, resources } from '../../../runtime/kubernetes/resources.ts';
import { readVsphereAgentInput } from '../../lib/input.ts';
import { describeAgentVm, findAgentVm, type VmTools } from '../vcenter/agent-vm.ts';
import { passingProblem, vcenterProblem } from '../vcenter/pool-vcenters.ts';
import type { VsphereAgentTools } from './dependencies.ts';
import { findBound, findUsers, isForced, readPool, vcenterIdOf, vmNameOf } from './read-subject.ts';

const unknown: ObservedAgent = {
  pool: null,
  problem: null,
  phase: null,
  machine: null,
  isInstalled: false,
  vm: null,
  recorded: { name: null, biosUUID: null, macAddress: null, conditions: [] },
};

export async function observeVsphereAgent(
  tools: VsphereAgentTools,
  input: VsphereAgentInput,
): Promise<VsphereAgentObservation | Unobserved> {
  const { client, settings, namespaces, scope } = tools;
  const { namespace, name } = readVsphereAgentInput(input);
  if (settings === null)
    return {
      kind: 'nothing',
      message: `VsphereAgents are switched off in drover’s settings (modes.VsphereAgent); ${namespace}/${name} is left as it is`,
    };
  if (namespaces.length > 0 && !namespaces.includes(namespace))
    return {
      kind: 'nothing',
      message: `drover’s settings have no pools in ${namespace} (agentPools.namespaces); ${namespace}/${name} is left as it is`,
    };
  const workflowId = vsphereAgentId(namespace, name, settings.cluster);
  if (scope.run !== null && scope.run.workflowId !== workflowId) {
    await tools.signalWithStart({ namespace, name });
    return { kind: 'handedOver', message: `Run ${workflowId} drives ${namespace}/${name}` };
  }
  const object = await client.get(resources.VsphereAgent, { namespace, name }, scope.signal);
  if (object === null)
    return {
      kind: 'observed',
      digest: null,
      settings: { ...settings, vcenter: '' },
      desired: null,
      observed: unknown,
      retry: null,
    };
  const pool = await readPool(tools, object);
  const deleting = object.metadata.deletionTimestamp !== undefined;
  const [users, isInstalled, atVcenter] = await Promise.all([
    deleting ? findUsers(tools, object, pool) : null,
    readIsInstalled(tools, object),
    pool === null ? nowhere : observeVm(tools, object, pool),
  ]);
  const { phase } = object.status?.vm ?? {};
  return {
    kind: 'observed',
    // Of what it names, nothing concerns one that is reconciled.
    digest: digestOfRead(vsphereAgentKind, object, []),
    settings: { ...settings, mode: modeOf(object, settings.mode), vcenter: atVcenter.vcenter },
    retry: pendingRetry(object),
    desired: {
      uid: object.metadata.uid,
      generation: object.metadata.generation,
      deleting,
      isHeld: object.metadata.finalizers?.includes(vsphereAgentFinalizer) ?? false,
      vmName: atVcenter.vmName,
      force: isForced(object, pool),
    },
    observed: {
      pool: pool === null ? null : describePool(pool),
      problem: atVcenter.problem,
      phase: vmPhases.find((one) => one === phase) ?? null,
      machine: users?.machine ?? null,
      ...agentOf(users?.agents ?? []),
      isInstalled,
      vm: atVcenter.vm,
      recorded: recordedOf(object),
    },
  };
}

/** One that is bound comes first; one that is being deleted, and is not, needs nothing. */
function agentOf(agents: readonly Agent[]): Pick<ObservedAgent, 'agent'> {
  const bound = findBound(agents);
  const agent = bound ?? agents.find(({ metadata }) => metadata.deletionTimestamp === undefined);
  return agent === undefined ? {} : { agent: { name: agent.metadata.name, isBound: bound !== undefined } };
}

const describePool = (pool: VsphereAgentPool): ObservedAgent['pool'] => ({
  uid: pool.metadata.uid,
  deleting: pool.metadata.deletionTimestamp !== undefined,
  deletes: pool.spec.cleanupPolicy === 'Delete',
  force: isForced(pool, null),
  isoPath: pool.status?.iso?.path || null,
});

function recordedOf({ status }: VsphereAgent): ObservedAgent['recorded'] {
  const { name = null, biosUUID = null, macAddress = null } = status?.vm ?? {};
  return {
    name,
    biosUUID,
    macAddress,
    conditions: (status?.conditions ?? []).map(({ lastTransitionTime: _since, ...condition }) => condition),
  };
}

/** Its Agent is written to its disk. */
async function readIsInstalled({ client, scope }: VsphereAgentTools, object: VsphereAgent): Promise<boolean> {
  const { name, namespace = object.metadata.namespace ?? '' } = object.status?.vm?.agentRef ?? {};
  if (name === undefined) return false;
  const agent = await client.get(neighbourResources.Agent, { namespace, name }, scope.signal);
  return agent?.status?.conditions?.some(({ type, status }) => type === 'Installed' && status === 'True') ?? false;
}

/** Its place is taken by a VM that drover does not touch. */
const others: readonly (string | null)[] = [
  'VirtualMachineNameTaken',
  'VirtualMachineNotOwned',
  'VirtualMachineAmbiguous',
] satisfies ErrorCode[];

function othersProblem(error: unknown): ObservedAgent['problem'] {
  const code = failureCode(error);
  return code === null || !others.includes(code)
    ? null
    : { reason: errors[code].reason, message: (error as Error).message };
}

/** What no attempt asks a vCenter, until a user has put it right. */
const notAsked: readonly (string | null)[] = [
  'InvalidObject',
  'InvalidConfiguration',
  'KubernetesForbidden',
  'VsphereCredentialRefused',
] satisfies ErrorCode[];

/** While its pool goes by force, also what passes by itself is a problem: how long it lasts, the run knows. */
function problemOf(error: unknown, object: VsphereAgent, pool: VsphereAgentPool): ObservedAgent['problem'] {
  const others = othersProblem(error);
  if (others !== null) return others;
  const problem = vcenterProblem(error);
  if (!isLeft(object, pool)) return problem;
  const unseen = problem ?? passingProblem(error);
  const code = failureCode(error);
  // One that is busy is there: its turn comes.
  if (unseen === null || code === 'VsphereBusy') return unseen;
  return { ...unseen, vcenter: notAsked.includes(code) ? 'notAsked' : 'noAnswer' };
}

/** Its VM is not found as it was made at another vCenter than its pool leads to now. Null: it is not so. */
async function findMoved(
  { vcenter, scope }: VmTools,
  object: VsphereAgent,
  pool: VsphereAgentPool,
): Promise<ObservedAgent['problem']> {
  const madeAt = vcenterIdOf(object);
  const id = madeAt === null ? null : await vcenter.gateway.managerId(scope.signal);
  if (id === madeAt) return null;
  const { reason } = errors.VsphereReplaced;
  const message = `its VM was made at vCenter ${madeAt}, and its pool leads to ${vcenter.name} (${id}): have the pool name the one before until the VM is gone; or, where it is gone already, take the annotation ${agentPoolAnnotations.vcenterId} off this VsphereAgent`;
  return isLeft(object, pool) ? { reason, message, vcenter: 'notAsked' } : { reason, message };
}

/** It goes by force with its pool. */
const isLeft = ({ metadata }: VsphereAgent, pool: VsphereAgentPool): boolean =>
  metadata.deletionTimestamp !== undefined && pool.metadata.deletionTimestamp !== undefined && isForced(pool, null);

interface AtVcenter {
  /** As drover's settings call it; empty: the pool names none of them. */
  vcenter: string;
  vmName: string;
  problem: ObservedAgent['problem'];
  vm: AgentVm | null;
}

const nowhere: AtVcenter = { vcenter: '', vmName: '', problem: null, vm: null };

async function observeVm(tools: VsphereAgentTools, object: VsphereAgent, pool: VsphereAgentPool): Promise<AtVcenter> {
  const { namespace = '', name, uid, deletionTimestamp } = object.metadata;
  let at: AtVcenter = nowhere;
  try {
    at = { ...at, vmName: vmNameOf(object) };
    return await tools.vcenters.use(pool, tools.scope.signal, async (vcenter) => {
      at = { ...at, vcenter: vcenter.name };
      const vmTools = { ...tools, vcenter };
      const vm = await findAgentVm(vmTools, {
        pool,
        agent: { namespace, name, uid },
        vmName: at.vmName,
        cause: 'its observation',
        isGoing: deletionTimestamp !== undefined,
        recordedUuid: object.status?.vm?.biosUUID || null,
      });
      if (vm !== null) return { ...at, vm: await describeAgentVm(vmTools, vm, pool) };
      return { ...at, problem: await findMoved(vmTools, object, pool) };
    });
  } catch (error) {
    const problem = problemOf(error, object, pool);
    if (problem === null) throw error;
    return { ...at, problem };
  }
}
