import { findCondition } from '../../contracts/conditions.ts';
import { virtualMachineConditions as types } from '../../contracts/virtual-machine/conditions.ts';
import type { VirtualMachineDecision, VirtualMachinePlan } from '../../contracts/virtual-machine/plan.ts';
import type { Context } from './step.ts';

/** What is worth an Event, in upstream's words: once, when it comes to be so. Source: vm-and-machine.md A.4, Events. */
export function judgeEvent(
  { desired, observed, memory }: Context,
  decision: VirtualMachineDecision,
): VirtualMachinePlan['event'] {
  const before = findCondition(observed.recorded.conditions, types.lifecycle);
  const operation = desired.deleting ? 'Delete' : observed.vm === null ? 'Create' : 'Update';
  const releases =
    decision.next === 'act' &&
    decision.steps.some(
      (step) =>
        step.do === 'patchVirtualMachine' &&
        step.patches.some(({ removeFinalizers = [] }) => removeFinalizers.length > 0),
    );
  if (desired.deleting)
    return releases ? good('Delete') : failed(operation, decision, before?.message, memory.failures.length > 0);
  const wasCreated = findCondition(observed.recorded.conditions, types.created)?.status === 'True';
  if (observed.vm !== null && !wasCreated && memory.failures.length === 0) return good('Create');
  if (
    decision.next === 'done' &&
    decision.end === 'settled' &&
    before !== undefined &&
    (before.status !== 'True' || (before.observedGeneration ?? desired.generation) !== desired.generation)
  )
    return good('Update');
  return failed(operation, decision, before?.message, memory.failures.length > 0);
}

const good = (operation: string): VirtualMachinePlan['event'] => ({
  type: 'Normal',
  reason: `${operation}Success`,
  message: `${operation} success`,
});

/** What is only waited for is no failure. */
function failed(
  operation: string,
  decision: VirtualMachineDecision,
  before: string | undefined,
  hasFailed: boolean,
): VirtualMachinePlan['event'] {
  const rests = decision.next === 'done' && decision.end === 'rests' && decision.state !== 'Paused';
  const retries = decision.next === 'wait' && hasFailed;
  if (!rests && !retries) return null;
  const message = decision.next === 'done' ? decision.message : decision.next === 'wait' ? decision.for : '';
  return before?.endsWith(message) === true ? null : { type: 'Warning', reason: `${operation}Failure`, message };
}
