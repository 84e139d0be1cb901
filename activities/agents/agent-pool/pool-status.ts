import type { PoolCounts } from '../../../contracts/agent-pool/agent-pool.ts';
import type { JudgedVm } from '../../../contracts/agent-pool/judge-vm.ts';
import type { Named } from '../../../contracts/agent-pool/pool-facts.ts';
import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import type { VsphereAgent } from '../../../contracts/crds/vsphere-agent.ts';
import { agentPoolAnnotations } from '../../../contracts/agent-pool/metadata.ts';
import { agent, agentMachine, clusterMachine } from '../../../contracts/kinds/resources.ts';
import { apiVersionOf, type Resource } from '../../../contracts/kinds/object.ts';
import { patchHolds } from '../../kubernetes/lib/merge-patch.ts';
import type { World } from './read-world.ts';

/** What a pool and its VsphereAgents say of what was judged. All of it is pure. */

type PoolStatus = NonNullable<VsphereAgentPool['status']>;
type OwnedVm = NonNullable<PoolStatus['ownedVMs']>[number];

/** `metav1.Time`, which has no fractions of a second. */
const timeOf = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/u, 'Z');

const reference = (resource: Resource, namespace: string, { name, uid }: Named) => ({
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
  namespace,
  name,
  // A merge would leave that of the one before.
  uid,
});

/** One that is gone is still named: whether it was there says what the VM is. */
const agentOf = ({ agent: found, vm }: JudgedVm): Named | null => found ?? vm.agentRef;

/** What its pool says of a VM, in its VsphereAgent; null takes a field away. */
export function vmPatchOf(judged: JudgedVm, { metadata, spec }: VsphereAgentPool) {
  const { vm, machine, phase, reason, sinceMs } = judged;
  const found = agentOf(judged);
  // Where the AgentMachine has no owner, and no Machine has its name, it stands for itself.
  const kind = judged.machineState === 'absent' && machine?.uid === null ? agentMachine : clusterMachine;
  return {
    name: vm.foundName ?? vm.vmName,
    phase,
    reason,
    lastTransitionTime: timeOf(sinceMs),
    agentRef: found === null ? null : reference(agent, metadata.namespace ?? '', found),
    machineRef: machine === null ? null : reference(kind, spec.controlPlaneNamespace, machine),
  };
}

/**
 * Its run takes the ISO out when it is told that it is installed: it cannot watch an Agent that it does not know yet.
 * An annotation, as the definition of agent-forge-operator has no field for it.
 */
const metadataPatchOf = ({ agent: found }: JudgedVm) =>
  found?.isInstalled === true ? { annotations: { [agentPoolAnnotations.installed]: 'true' } } : null;

/** Without what is not known. */
const known = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

function ownedVmOf(judged: JudgedVm, pool: VsphereAgentPool): OwnedVm {
  const { agentRef, machineRef, ...rest } = vmPatchOf(judged, pool);
  const { biosUuid, mac } = judged.vm;
  return {
    ...rest,
    ...known({
      biosUUID: biosUuid,
      macAddress: mac,
      agentRef: agentRef === null ? null : known(agentRef),
      machineRef: machineRef === null ? null : known(machineRef),
    }),
  };
}

const countsOf = (counts: PoolCounts) => ({
  desiredReplicas: counts.agentMachines,
  agentMachines: counts.agentMachines,
  waitingAgentMachines: counts.waiting,
  unreadyAgentMachines: counts.unready,
  agentMachinesWithoutAgent: counts.withoutAgent,
  matchingAgents: counts.matching,
  boundAgents: counts.bound,
  availableAgents: counts.available,
});

/** Counts and VMs, as the pool is to list them. */
export const listedOf = ({ pool, judged }: Pick<World, 'pool' | 'judged'>) => ({
  ...countsOf(judged.counts),
  ownedVMs: judged.vms.map((one) => ownedVmOf(one, pool)),
});

/** VsphereAgents that say something else than what was judged; null: that is said. */
export const unsaid = ({
  pool,
  judged,
  vsphereAgents,
}: Pick<World, 'pool' | 'judged' | 'vsphereAgents'>): {
  object: VsphereAgent;
  status: { vm: ReturnType<typeof vmPatchOf> } | null;
  metadata: ReturnType<typeof metadataPatchOf>;
}[] =>
  judged.vms.flatMap((one) => {
    const object = vsphereAgents.find(({ metadata }) => metadata.name === one.vm.name);
    // One that is being deleted is told too: its run waits for its Machine to be gone.
    if (object === undefined) return [];
    const status = { vm: vmPatchOf(one, pool) };
    const metadata = metadataPatchOf(one);
    const isStatusSaid = patchHolds(object.status, status);
    const isMetadataSaid = metadata === null || patchHolds(object.metadata, metadata);
    if (isStatusSaid && isMetadataSaid) return [];
    return [{ object, status: isStatusSaid ? null : status, metadata: isMetadataSaid ? null : metadata }];
  });

/** Whether counts, VMs and each VsphereAgent say what was judged. */
export const isListed = (world: World): boolean =>
  patchHolds(world.pool.status, listedOf(world)) && unsaid(world).length === 0;
