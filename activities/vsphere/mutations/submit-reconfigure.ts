import type { Submission, VmSubject } from '../../../contracts/virtual-machine/activities.ts';
import type { ReconfigSpec } from '../../../contracts/virtual-machine/config.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { finalFailure } from '../../lib/wait.ts';
import { mutateVmByTask, type Tools } from '../dependencies.ts';
import { readBootOptions } from '../observation/config.ts';
import { configOf, readOwnedThere } from './find-vm.ts';
import { isThere } from './is-there.ts';
import { vmRef } from '../references.ts';
import { configSpec } from '../specs/config-spec.ts';
import type { VirtualMachine } from '../types.ts';
import type { VirtualMachineConfigSpec } from '../wire/vim/types.ts';

/** One ReconfigVM_Task for the version that the change was decided on. Where that is no more, it may be this very change that was made: then all is well. */
export async function submitReconfigure(
  tools: Tools,
  request: VmSubject & { changeVersion: string; spec: ReconfigSpec },
): Promise<Submission> {
  const seen = await readOwnedThere(tools, request);
  const { spec } = request;
  const { changeVersion, devices } = configOf(seen);
  if (changeVersion !== request.changeVersion) {
    if (isThere(spec, seen)) return null;
    throw changed(seen, request.changeVersion);
  }
  // Values of ExtraConfig may be a guest's secrets: only their keys are written down.
  const { extraConfig, ...plain } = spec;
  const after = { ...plain, ...(extraConfig !== undefined && { extraConfigKeys: extraConfig.map(({ key }) => key) }) };
  return reconfigure(
    tools,
    'submitReconfigure',
    request,
    configSpec(spec, { devices, bootOptions: readBootOptions(seen.properties) }),
    { changeVersion },
    after,
  );
}

/** @returns a failure that Temporal does not try again: with the same version it would fail again */
export const changed = ({ name, id }: VirtualMachine, version: string): Error =>
  finalFailure(
    droverFailure(
      'VirtualMachineConflict',
      `${name} (${id}) was changed since version ${version} of its configuration was read`,
    ),
  );

/**
 * Submits a change on the version that was read.
 *
 * @param isSecret of its failure, only the kind is told
 */
export async function reconfigure(
  tools: Tools,
  action: string,
  request: VmSubject,
  spec: VirtualMachineConfigSpec,
  before: { changeVersion: string },
  after: unknown,
  isSecret = false,
): Promise<Submission> {
  const taskId = await mutateVmByTask(tools, {
    action,
    owner: request,
    before,
    after,
    submit: () =>
      tools.gateway.submit(
        'ReconfigVM_Task',
        vmRef(request.vmId),
        { spec: { ...spec, changeVersion: before.changeVersion } },
        tools.scope.signal,
        { isSecret },
      ),
  });
  return { taskId, purpose: { kind: 'change', vmId: request.vmId, ...(isSecret && { isSecret }) } };
}
