import type { SubmittedTask, TaskPurpose } from '../../../contracts/virtual-machine/activities.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import { mutateVm, type Tools } from '../dependencies.ts';
import { confirmApi } from './confirm-api.ts';
import { confirmVcenter } from './confirm-vcenter.ts';
import { findVm, type VmIdentity } from './find-vm.ts';
import { neededApi } from '../specs/config-spec.ts';
import { deployBody, deployItem } from '../rest/deploy.ts';
import type { VcenterRest } from '../rest/client.ts';
import type { NewVm } from '../specs/new-vm.ts';

/** How long the answer, or the task, is waited for here; below the 15 s that a short activity has. */
const patienceMs = 8_000;
const pollMs = 500;

/**
 * Deploys an item of a content library. The call is answered when all is copied: until then vCenter has a task with the
 * VM's instance UUID as activation id, which an attempt after this one finds too.
 */
export async function submitDeploy(
  tools: Tools,
  rest: VcenterRest,
  request: NewVm & { itemId: string },
  identity: VmIdentity,
): Promise<{ vmId: string } | SubmittedTask> {
  const { gateway, scope, clock } = tools;
  const { create, owner, itemId } = request;
  const purpose: TaskPurpose = { kind: 'create', ...identity };
  const findOrJoin = async (): Promise<{ vmId: string } | SubmittedTask | null> => {
    // The task first: the VM is there before its disks are.
    const running = await gateway.findActivated(identity.instanceUuid, scope.signal);
    if (running !== null) return { taskId: running, purpose };
    const found = await findVm(tools, identity);
    return found === null ? null : { vmId: found.id };
  };
  // A VM has its name before it has its owner: another attempt may have begun to deploy it since its task was searched.
  const findMade = (): ReturnType<typeof findOrJoin> =>
    findOrJoin().catch((failure: unknown) => {
      if (['VirtualMachineNameTaken', 'VsphereBusy'].includes(failureCode(failure) ?? '')) return findOrJoin();
      throw failure;
    });
  const made = await findMade();
  if (made !== null) return made;
  await confirmVcenter(tools, create);
  await confirmApi(tools, neededApi(create.config));
  return mutateVm(tools, {
    action: 'submitNewVm',
    request,
    before: null,
    after: {
      vcenter: gateway.vcenter,
      name: create.name,
      instanceUuid: create.instanceUuid,
      uid: owner.uid,
      source: create.source,
      at: create.at,
    },
    idOf: (made) => ('vmId' in made ? made.vmId : made.taskId),
    submit: async () => {
      // The call is not aborted with this attempt: it continues when the attempt has found the task.
      const call = new AbortController();
      const answered = deployItem(rest, itemId, deployBody(create, owner), identity.instanceUuid, call.signal).then(
        (vmId) => ({ vmId }),
        (failure: unknown) => ({ failure }),
      );
      try {
        return await answerOrTask(answered);
      } catch (failure) {
        // It may still wait for a connection: sent after all, it would make a VM that nothing waits for any more.
        call.abort();
        throw failure;
      }
    },
  });

  async function answerOrTask(
    answered: Promise<{ vmId: string } | { failure: unknown }>,
  ): Promise<{ vmId: string } | SubmittedTask> {
    const untilMs = clock.now() + patienceMs;
    for (;;) {
      const said = await Promise.race([answered, clock.sleep(pollMs, scope.signal).then(() => null)]);
      if (said !== null && 'vmId' in said) return said;
      if (said !== null) {
        // The answer was lost, or another attempt has been faster.
        const there = await findMade();
        if (there !== null) return there;
        throw said.failure;
      }
      const taskId = await gateway.findActivated(identity.instanceUuid, scope.signal);
      if (taskId !== null) return { taskId, purpose };
      if (clock.now() >= untilMs)
        throw droverFailure(
          'VsphereUnavailable',
          `vCenter ${gateway.vcenter} has not said within ${patienceMs / 1_000} s whether it deploys ${create.name}`,
        );
    }
  }
}
