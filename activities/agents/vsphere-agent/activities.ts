import { agentPoolAnnotations, vsphereAgentFinalizer } from '../../../contracts/agent-pool/metadata.ts';
import type { AgentVm, SlotReleased, VsphereAgentActivities } from '../../../contracts/agent-pool/vsphere-agent.ts';
import type { Along } from '../../../contracts/virtual-machine/activities.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { patchFinalizer } from '../../kubernetes/lib/patch-finalizer.ts';
import { contextOf } from '../../lib/context.ts';
import { whileBeating } from '../../lib/wait.ts';
import { deleteAgent } from '../agent-pool/delete-agent.ts';
import {
  attachAgentTags,
  createAgentVm,
  describeAgentVm,
  ejectAgentIso,
  findAgentVm,
  powerOnAgentVm,
  type VmTools,
} from '../vcenter/agent-vm.ts';
import { destroyVm } from '../vcenter/destroy-vm.ts';
import { ownerOf } from '../vcenter/agent-vm-spec.ts';
import type { VsphereAgentDependencies, VsphereAgentTools } from './dependencies.ts';
import { observeVsphereAgent } from './observe.ts';
import { publishVsphereAgent } from './publish.ts';
import { type OfAgent, readSubject, readSubjectToDestroy, type Subject } from './read-subject.ts';

/** @throws ObjectNotFound */
const gone = ({ namespace, name }: OfAgent): Error =>
  droverFailure('ObjectNotFound', `VsphereAgent ${namespace}/${name} is gone or being deleted, or its pool is gone`);

/** @throws VsphereObjectNotFound */
function isoOf({ pool: { metadata }, isoPath }: Pick<Subject, 'pool' | 'isoPath'>): string {
  if (isoPath !== null) return isoPath;
  throw droverFailure(
    'VsphereObjectNotFound',
    `Pool ${metadata.namespace ?? ''}/${metadata.name} has no discovery ISO at its vCenter yet`,
  );
}

async function noteVcenter(
  { vcenter, scope: { signal } }: VmTools,
  client: VsphereAgentDependencies['client'],
  { agent, vcenterId }: Subject,
): Promise<void> {
  const id = await vcenter.gateway.managerId(signal);
  if (id === vcenterId) return;
  const change = { metadata: { annotations: { [agentPoolAnnotations.vcenterId]: id } } };
  await client.patch(resources.VsphereAgent, agent, change, signal);
}

/**
 * Activities on VsphereAgents and their VMs, queue `agents`. They heartbeat, so that a worker that dies
 * is replaced soon.
 */
export function createVsphereAgentActivities(dependencies: VsphereAgentDependencies): VsphereAgentActivities {
  const tools = (): VsphereAgentTools => contextOf(dependencies);
  const beating = <Result>(work: (own: VsphereAgentTools) => Promise<Result>): Promise<Result> => {
    const own = tools();
    return whileBeating(
      own,
      () => undefined,
      () => work(own),
    );
  };
  /** @returns null: there is nothing to change any more */
  const onVm = <Result>(
    request: OfAgent,
    cause: string,
    work: (vm: VmTools, of: Subject & { cause: string }) => Promise<Result>,
    read = readSubject,
  ): Promise<Result | null> =>
    beating(async (own) => {
      const subject = await read(own, request);
      if (subject === null) return null;
      return await own.vcenters.use(subject.pool, own.scope.signal, (vcenter) =>
        work({ ...own, vcenter }, { ...subject, cause }),
      );
    });
  /** One that is not released here, the run releases. */
  const released = async (slot: Along['slot']): Promise<SlotReleased> => {
    if (slot === undefined) return {};
    return await dependencies.releaseSlot(slot).then(
      () => ({ isSlotReleased: true }),
      () => ({}),
    );
  };
  return {
    observeVsphereAgent: (input) => beating((own) => observeVsphereAgent(own, input)),
    patchVsphereAgentFinalizer: ({ namespace, name, uid, present }) =>
      patchFinalizer(tools(), resources.VsphereAgent, {
        key: { namespace, name },
        uid,
        finalizer: vsphereAgentFinalizer,
        present,
        action: 'patchVsphereAgentFinalizer',
        object: `agent/${namespace}/${name}`,
      }),
    createAgentVm: async ({ slot, ...request }) => {
      const made = await onVm(request, 'its pool has no VM for it', async (vm, of): Promise<AgentVm & SlotReleased> => {
        // Before: without it, a VM of which no answer came would be looked for wherever the pool leads to by then.
        await noteVcenter(vm, dependencies.client, of);
        const created = await createAgentVm(vm, {
          ...of,
          iso: isoOf(of),
          cluster: dependencies.settings?.cluster ?? '',
        });
        // vCenter creates no longer: the next one need not wait until this one is on.
        const releasing = released(slot);
        const vmNow = await describeAgentVm(vm, created, of.pool);
        // Tags come first: who selects VMs by them is to see it from its first start on.
        const isReady = vmNow.missingTags.length === 0;
        if (isReady) await powerOnAgentVm(vm, of);
        return { ...vmNow, ...(isReady && { isOn: true }), ...(await releasing) };
      });
      if (made === null) throw gone(request);
      return made;
    },
    attachAgentTags: async (request) => void (await onVm(request, 'its pool has tags', attachAgentTags)),
    powerOnAgentVm: async (request) => void (await onVm(request, 'it is to boot the discovery ISO', powerOnAgentVm)),
    ejectAgentIso: async (request) => void (await onVm(request, 'it is installed', ejectAgentIso)),
    destroyAgentVm: async ({ slot, ...request }) => {
      const destroy = async (vm: VmTools, of: Subject & { cause: string }): Promise<boolean> => {
        // Before: one that nothing runs any more may still be taken for a host.
        for (const agent of of.unbound)
          await deleteAgent({ ...vm, client: dependencies.client }, of.pool, agent, of.cause);
        const find = () => findAgentVm(vm, { ...of, isGoing: true });
        return await destroyVm(vm, find, { owner: ownerOf(of.agent), cause: of.cause });
      };
      const cause = 'its VsphereAgent is being deleted';
      // One that is bound meanwhile is another version.
      await retryConflicts(() => onVm(request, cause, destroy, readSubjectToDestroy));
      return await released(slot);
    },
    publishVsphereAgent: (request) => retryConflicts(() => publishVsphereAgent(tools(), request)),
  };
}
