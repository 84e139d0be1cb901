import type { AgentPoolActivities, ReplacedMachine } from '../../../contracts/agent-pool/agent-pool.ts';
import { failureDetail } from '../../../runtime/failure.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { neighbourResources } from '../../../runtime/kubernetes/resources.ts';
import { announce } from '../../kubernetes/lib/write-event.ts';
import { mutate } from '../../lib/mutate.ts';
import type { AgentPoolTools } from './dependencies.ts';
import { findPool, readWorld, type World } from './read-world.ts';

type Delete = AgentPoolActivities['deleteMachines'];
type Outcome = { isDeleted: boolean; forbidden: string | null };

/**
 * Those that are judged the same again. One that is going already goes for an attempt before this one, or for a user:
 * it counts as deleted.
 */
export async function deleteMachines(
  tools: AgentPoolTools,
  { machines, ...of }: Parameters<Delete>[0],
): Promise<Awaited<ReturnType<Delete>>> {
  const pool = await findPool(tools, of);
  const world = pool === null || tools.settings === null ? null : await readWorld(tools, pool, tools.settings.rules);
  const deleted: string[] = [];
  const kept: string[] = [];
  let forbidden: string | null = null;
  for (const machine of machines) {
    const outcome = await deleteOne(tools, world, machine);
    (outcome.isDeleted ? deleted : kept).push(machine.name);
    forbidden ??= outcome.forbidden;
  }
  return { deleted, kept, forbidden };
}

async function deleteOne(tools: AgentPoolTools, world: World | null, machine: ReplacedMachine): Promise<Outcome> {
  const keep: Outcome = { isDeleted: false, forbidden: null };
  if (world === null) return keep;
  if (isGoing(world, machine)) return { isDeleted: true, forbidden: null };
  const { machines = [] } = world.judged.replacement ?? {};
  if (!machines.some(({ uid, vm }) => uid === machine.uid && vm === machine.vm)) return keep;
  const { client, scope } = tools;
  const { metadata, spec } = world.pool;
  const { name, uid, vm } = machine;
  const key = { namespace: spec.controlPlaneNamespace, name };
  const mutation = {
    action: 'deleteMachine',
    cause: `VM ${vm} is of another template, and another VM stands ready`,
    object: `machine/${key.namespace}/${name}`,
    before: { uid, vm },
    after: null,
  };
  try {
    await mutate(tools, mutation, () =>
      client.delete(neighbourResources.ClusterMachine, { ...key, uid }, scope.signal),
    );
  } catch (error) {
    if (isFailure(error, 'ObjectConflict')) return keep;
    if (!isFailure(error, 'KubernetesForbidden')) throw error;
    return { isDeleted: false, forbidden: sayForbidden(key.namespace, failureDetail(error)) };
  }
  const { namespace = '' } = metadata;
  await announce(
    tools,
    {
      regarding: { kind: 'VsphereAgentPool', namespace, name: metadata.name, uid: metadata.uid },
      type: 'Normal',
      reason: 'MachineDeleted',
      message: `Machine ${name} is deleted, as VM ${vm} is of another template: Cluster API drains its Node, and makes another`,
    },
    [uid, 'MachineDeleted'],
  );
  return { isDeleted: true, forbidden: null };
}

/** Or gone already. */
function isGoing({ judged }: World, { uid, vm }: ReplacedMachine): boolean {
  const found = judged.vms.find((one) => one.vm.name === vm && one.machine?.uid === uid);
  return found === undefined || !['none', 'present'].includes(found.machineState);
}

const sayForbidden = (namespace: string, answer: string): string =>
  `drover may not delete Machines in ${namespace}: bind the ClusterRole drover-worker-agent-replacement there (deploy/rbac/agent-replacement.yaml says how). ${answer.slice(0, 500)}`;
