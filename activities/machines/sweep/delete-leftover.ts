import { orphanSweepId } from '../../../contracts/ids.ts';
import type { DeleteLeftoverAnswer, DeleteLeftoverRequest } from '../../../contracts/machine-safety/sweep.ts';
import { failureCode } from '../../../runtime/failure.ts';
import { isError } from '../../../runtime/is-error.ts';
import { mutate } from '../../lib/mutate.ts';
import { whileBeating } from '../../lib/wait.ts';
import { foundClasses, openClass } from './open-class.ts';
import type { SweepTools } from './sweep-tools.ts';

const kept = (message: string): DeleteLeftoverAnswer => ({ outcome: 'kept', message });

/**
 * The class has to list it still: then it carries the marks, and no VM has it. The provider's own call looks at
 * it once more.
 *
 * @throws what cannot be read, and as the provider answers: it stays
 */
export const deleteLeftover = (tools: SweepTools, request: DeleteLeftoverRequest): Promise<DeleteLeftoverAnswer> =>
  whileBeating(
    tools,
    () => undefined,
    () => checkAndDelete(tools, request),
  );

async function checkAndDelete(
  tools: SweepTools,
  { namespace, machineClass, kind, id, by, at }: DeleteLeftoverRequest,
): Promise<DeleteLeftoverAnswer> {
  const { client, settings, scope, cluster } = tools;
  const { signal } = scope;
  if (settings === null || settings.mode !== 'act' || !settings.namespaces.includes(namespace))
    return kept(`drover’s settings do not let it delete anything of ${namespace}`);
  const fixedId = orphanSweepId(namespace, cluster);
  if (scope.run !== null && scope.run.workflowId !== fixedId)
    return kept(`only run ${fixedId} deletes leftovers of ${namespace}`);
  const found = await client.get(foundClasses, { namespace, name: machineClass }, signal);
  if (found === null) return kept(`there is no MachineClass ${machineClass}`);
  const driver = await openClass(tools, namespace, found, signal);
  const listed = (await driver.listLeftovers(signal)).find((one) => one.kind === kind && one.id === id);
  if (listed === undefined)
    return kept(`MachineClass ${machineClass} lists no such ${kind}: it is gone, a VM has it, or it has lost a mark`);
  if (settings.sweep.frozen) {
    const freeze = await tools.readFreshFreeze(namespace, signal);
    if (freeze.state !== 'thawed') return kept(`${freeze.state}: ${freeze.reason}`);
  }
  const { name, createdMs } = listed;
  try {
    const isDeleted = await mutate(
      tools,
      {
        action: 'deleteLeftover',
        cause: `asked for by ${by}${at === '' ? '' : ` at ${at}`}`,
        actor: by,
        object: `machine-${kind}/${id}`,
        before: { name, createdMs, machineClass: `${namespace}/${machineClass}` },
        after: null,
      },
      () => driver.deleteLeftover({ kind, id }, signal),
    );
    return isDeleted
      ? { outcome: 'deleted', message: `${kind} ${name} was deleted` }
      : { outcome: 'gone', message: `${kind} ${name} was gone` };
  } catch (error) {
    if (failureCode(error) !== 'VirtualMachineNotOwned' || !isError(error)) throw error;
    return kept(error.message);
  }
}
