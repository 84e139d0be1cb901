import { virtualMachineAnnotations } from '../../../contracts/virtual-machine/marks.ts';
import type { Outcome } from '../../../contracts/virtual-machine/plan.ts';
import { findOwn } from './find-own.ts';
import { isConnected } from './plan-config.ts';
import { planCreate } from './plan-create.ts';
import { planUpdate } from './plan-update.ts';
import type { Context, VmContext } from '../step.ts';
import { act, failureOf, isAttempt, patch, retry, stop, wait } from '../step.ts';

/**
 * Makes the VM if there is none, and brings it up to date if there is one. Sources: seed 000 "CreateOrUpdate Decision Logic";
 * vm-and-machine.md A.4 N4–N8. The workflow id is the lock; what another run has begun is seen as a create in flight.
 */
export function planCreateOrUpdate(context: Context): Outcome {
  const { desired, observed, memory, settings } = context;
  if (desired.managerId !== observed.managerId) {
    return patch('create', 'Note which vCenter it is in', {
      annotations: { [virtualMachineAnnotations.managerId]: observed.managerId },
    });
  }
  const found = findOwn(desired, observed.candidates);
  switch (found.kind) {
    case 'foreign':
      return stop('NotOwned', found.message);
    case 'ambiguous':
      return stop('Ambiguous', found.message);
    case 'own':
      if (observed.vm === null || observed.vm.moId !== found.moId)
        return wait('Updating', 'another look at its VM', context.nowMs + settings.recheckMs);
      return found.mark === 'drover'
        ? planUpdate({ ...context, vm: observed.vm })
        : planAdoption({ ...context, vm: observed.vm });
    case 'none': {
      const task = memory.create?.task ?? null;
      if (task !== null)
        return act('create', [
          `Wait until VM ${desired.name} is made`,
          { do: 'awaitTask', task, deadlineMs: settings.taskMs },
        ]);
      const failure = failureOf(context, 'create');
      const outcome = planCreate(context);
      return failure !== undefined && isAttempt(outcome) ? retry(failure) : outcome;
    }
  }
}

/** Takes a VM over: without the mark nothing is done to it. */
export function planAdoption(context: VmContext): Outcome {
  const { desired, vm } = context;
  if (vm.config === null || !isConnected(context))
    return stop('NotConnected', `${vm.name} cannot be taken over while it is ${vm.connectionState}`);
  const phase = desired.deleting ? 'delete' : 'config';
  const failure = failureOf(context, phase);
  return failure === undefined
    ? act(phase, [
        `Take VM ${vm.name} over: write the ownership mark`,
        { do: 'adopt', moId: vm.moId, changeVersion: vm.config.changeVersion },
      ])
    : retry(failure);
}
