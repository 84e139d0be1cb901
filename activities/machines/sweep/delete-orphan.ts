import { orphanSweepId } from '../../../contracts/ids.ts';
import { machineClass } from '../../../contracts/kinds/resources.ts';
import type { MachineDriver, SubmitDetach } from '../../../contracts/machine-safety/driver.ts';
import { judgeVm } from '../../../contracts/machine-safety/judge-vm.ts';
import type { DeleteOrphanAnswer, DeleteOrphanRequest } from '../../../contracts/machine-safety/sweep.ts';
import { failureCode } from '../../../runtime/failure.ts';
import { isError } from '../../../runtime/is-error.ts';
import { readKeeps } from '../../../runtime/sweep-keeps.ts';
import { announce } from '../../kubernetes/lib/write-event.ts';
import { mutate } from '../../lib/mutate.ts';
import { whileBeating } from '../../lib/wait.ts';
import { foundClasses, type FoundClass, openClass } from './open-class.ts';
import { readMachines, readMachinesElsewhere } from './read-machines.ts';
import type { SweepTools } from './sweep-tools.ts';

/** What the classes' Events say of. */
type Kept = Extract<DeleteOrphanAnswer, { outcome: 'kept' }>;

const kept = (gate: Kept['gate'], message: string, isOver = false): Kept => ({
  outcome: 'kept',
  gate,
  message,
  isOver,
});

/**
 * Everything that was decided on is read once more, and the VM is judged by it: what has changed meanwhile keeps it.
 * The freeze is asked last, with a probe of its own, right before the stop of users and the provider's own call, which
 * compares name and marks of the VM again.
 *
 * @throws what cannot be read, and as the provider answers: the VM stays
 */
export const deleteOrphan = (tools: SweepTools, request: DeleteOrphanRequest): Promise<DeleteOrphanAnswer> =>
  whileBeating(
    tools,
    () => undefined,
    async () => {
      const checked = await check(tools, request);
      return 'outcome' in checked ? checked : await remove(tools, request, checked);
    },
  );

interface Opened {
  machineClass: FoundClass;
  driver: MachineDriver;
}

async function check(
  tools: SweepTools,
  { namespace, providerId, machineName, machineClass, why, ...request }: DeleteOrphanRequest,
): Promise<Kept | Opened> {
  const { client, settings, scope, cluster } = tools;
  const { signal } = scope;
  if (settings === null || settings.mode !== 'act' || !settings.namespaces.includes(namespace))
    return kept('DryRun', `drover’s settings do not let it delete VMs of ${namespace} any more`, true);
  if (scope.run !== null && scope.run.workflowId !== orphanSweepId(namespace, cluster))
    return kept('DryRun', `only run ${orphanSweepId(namespace, cluster)} deletes VMs of ${namespace}`, true);
  const keep = (await readKeeps(client, settings.systemNamespace, signal)).find(providerId);
  if (keep !== undefined) return kept('KeptByUser', `kept by ${keep.by} since ${keep.at}`);
  const found = await client.get(foundClasses, { namespace, name: machineClass }, signal);
  if (found === null) return kept('Refused', `there is no MachineClass ${machineClass} any more`);
  const driver = await openClass(tools, namespace, found, signal);
  const { index, resourceVersion, clusterUid } = await readMachines(client, namespace, signal);
  if (clusterUid !== request.clusterUid || resourceVersion < request.resourceVersion)
    return kept(
      'Refused',
      `the Machines of ${namespace} are others than those that were observed: kube-apiserver was restored, or is another one`,
      true,
    );
  if (index.count === 0 && settings.sweep.approveWithoutMachines && !request.isApproved)
    return kept(
      'Refused',
      `there are no Machines in ${namespace} any more, so that every VM looks like an orphan`,
      true,
    );
  const elsewhere = settings.sweep.renamedAreKept
    ? await readMachinesElsewhere(client, settings.namespaces, namespace, signal)
    : [];
  const judged = judgeVm({ providerId, machineName }, index, settings.sweep, elsewhere);
  if (judged.verdict === 'keep') return kept('Refused', `it belongs to a Machine after all: ${judged.why}`);
  if (judged.why !== why) return kept('Refused', `it was ${why}, and is ${judged.why} now: the next sweep judges it`);
  if (settings.sweep.frozen) {
    const freeze = await tools.readFreshFreeze(namespace, signal);
    if (freeze.state !== 'thawed') return kept('Frozen', `${freeze.state}: ${freeze.reason}`, true);
  }
  return { machineClass: found, driver };
}

async function remove(
  tools: SweepTools,
  { namespace, providerId, machineName, why, reason, approvedBy }: DeleteOrphanRequest,
  { machineClass: found, driver }: Opened,
): Promise<DeleteOrphanAnswer> {
  const { settings, scope } = tools;
  const detachForeignDisks = settings?.sweep.detachForeignDisks ?? true;
  const { name, uid } = found.metadata;
  const mutation = {
    cause: reason,
    actor: approvedBy ?? 'drover',
    object: `machine-vm/${providerId}`,
    before: { machineName, machineClass: `${namespace}/${name}`, why },
  };
  const say = (eventReason: string, message: string, ...identity: string[]): Promise<void> =>
    announce(
      tools,
      {
        regarding: { resource: machineClass, namespace, name, uid },
        type: 'Normal',
        reason: eventReason,
        message: `VM ${machineName} (${providerId}) ${message}`,
      },
      [uid, eventReason, providerId, ...identity],
    );
  // An attempt that fails afterwards, or dies, leaves a VM without them: no other one would name them.
  const submitDetach: SubmitDetach = async (disks, submit) => {
    const taskId = await mutate(
      tools,
      { ...mutation, action: 'detachForeignDisks', after: { detached: disks } },
      submit,
      (requestId) => ({ requestId }),
    );
    await say(
      'OrphanDisksDetached',
      `is to be deleted. Its disks that are not its own are being detached, and are kept: ${disks.join(', ')}`,
      ...disks,
    );
    return taskId;
  };
  try {
    const { outcome, detachedDisks } = await mutate(
      tools,
      { ...mutation, action: 'deleteOrphan', after: null },
      () => driver.deleteMachine({ providerId, machineName, detachForeignDisks }, scope.signal, submitDetach),
      // One that was gone was not deleted by drover, or by an attempt that has its line.
      (answer) => (answer.outcome === 'gone' ? null : { after: answer }),
    );
    if (outcome === 'deleted') {
      const kept = detachedDisks.length === 0 ? '' : `. Detached before, and kept: ${detachedDisks.join(', ')}`;
      await say('OrphanDeleted', `was deleted: ${reason}${kept}`);
    }
    return { outcome, detachedDisks };
  } catch (error) {
    if (failureCode(error) !== 'VirtualMachineNotOwned' || !isError(error)) throw error;
    return kept('Refused', error.message);
  }
}
