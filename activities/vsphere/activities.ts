import type { VirtualMachineVsphereActivities } from '../../contracts/virtual-machine-activities.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { currentScope } from '../nova/scope.ts';
import { systemClock } from '../nova/wait.ts';
import { awaitTask } from './await-task.ts';
import type { Tools, VsphereDependencies } from './dependencies.ts';
import { openInventory } from './look/inventory.ts';
import { openIsos } from './look/isos.ts';
import { lookAtVirtualMachine } from './look/look.ts';
import { cancelVsphereTask, stopCreate } from './stop-create.ts';
import { submitDestroy, submitDetachDisks } from './submit-destroy.ts';
import { submitHardwareUpgrade } from './submit-hardware-upgrade.ts';
import { submitAdoption, submitRelease } from './submit-marks.ts';
import { submitNewVm } from './submit-new-vm.ts';
import { submitPower } from './submit-power.ts';
import { submitReconfigure } from './submit-reconfigure.ts';

/** Activities on the VMs of one vCenter, queue `vsphere:<vcenter>`. */
export function createVirtualMachineVsphereActivities({ gateway, rest, places, stopGate, audit, scope = currentScope, clock = systemClock }: VsphereDependencies): VirtualMachineVsphereActivities {
  const tools = (): Tools => ({ gateway, stopGate, audit, scope: scope(), clock });
  const memory = { inventory: openInventory(gateway), isos: openIsos(rest) };
  return {
    lookAtVirtualMachine: (request) => lookAtVirtualMachine(tools(), memory, places, request),
    submitNewVm: (request) => submitNewVm(tools(), rest, request),
    stopCreate: (request) => stopCreate(tools(), request),
    submitAdoption: (request) => submitAdoption(tools(), request),
    submitReconfigure: (request) => submitReconfigure(tools(), request),
    submitHardwareUpgrade: (request) => submitHardwareUpgrade(tools(), request),
    submitBootstrap: () => Promise.reject(droverFailure('VsphereNotSupported', 'Guests are not set up yet')),
    attachClusterModule: () => Promise.reject(droverFailure('VsphereNotSupported', 'VMs are not put into cluster modules yet')),
    submitPower: (request) => submitPower(tools(), request),
    submitBackup: () => Promise.reject(droverFailure('VsphereNotSupported', 'Objects are not stored with their VMs yet')),
    submitDetachDisks: (request) => submitDetachDisks(tools(), request),
    submitDestroy: (request) => submitDestroy(tools(), request),
    submitRelease: (request) => submitRelease(tools(), request),
    cancelVsphereTask: (request) => cancelVsphereTask(tools(), request),
    awaitTask: (task) => awaitTask(tools(), task),
  };
}
