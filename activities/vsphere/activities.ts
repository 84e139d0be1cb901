import type { VsphereVmActivities } from '../../contracts/virtual-machine.ts';
import { currentScope } from '../nova/scope.ts';
import { systemClock } from '../nova/wait.ts';
import { awaitTask } from './await-task.ts';
import type { Tools, VsphereDependencies } from './dependencies.ts';
import { findVm } from './find-vm.ts';
import { askGuest, submitDestroy, submitDetachDisks, submitPower, submitReconfigure } from './submit-change.ts';
import { submitNewVm } from './submit-new-vm.ts';

/** Activities on the VMs of one vCenter, queue `vsphere:<vcenter>`. */
export function createVsphereVmActivities({ gateway, stopGate, audit, scope = currentScope, clock = systemClock }: VsphereDependencies): VsphereVmActivities {
  const tools = (): Tools => ({ gateway, stopGate, audit, scope: scope(), clock });
  return {
    findVm: async (identity) => {
      const found = await findVm(tools(), identity);
      return found === null ? null : { vmId: found.id };
    },
    submitClone: ({ source, vm, cause }) => submitNewVm(tools(), { source }, vm, cause),
    submitCreate: ({ datastoreName, vm, cause }) => submitNewVm(tools(), { datastoreName }, vm, cause),
    submitReconfigure: (request) => submitReconfigure(tools(), request),
    submitPower: (request) => submitPower(tools(), request),
    askGuest: (request) => askGuest(tools(), request),
    submitDetachDisks: (request) => submitDetachDisks(tools(), request),
    submitDestroy: (request) => submitDestroy(tools(), request),
    awaitTask: (task) => awaitTask(tools(), task),
  };
}
