import type { VirtualMachineVsphereActivities } from '../../contracts/virtual-machine/activities.ts';
import { currentScope } from '../lib/context.ts';
import { attachClusterModule } from './mutations/attach-cluster-module.ts';
import { awaitTask } from './tasks/await-task.ts';
import type { Tools, VsphereDependencies } from './dependencies.ts';
import { openInventory } from './observation/inventory.ts';
import { openIsos } from './observation/isos.ts';
import { openProfiles } from './observation/profiles.ts';
import { observeVirtualMachineInVcenter } from './observation/observe.ts';
import { observeAfter } from './tasks/observe-after.ts';
import { cancelVsphereTask, stopCreate } from './tasks/cancel-task.ts';
import { submitBackup } from './mutations/submit-backup.ts';
import { submitBootstrap } from './mutations/submit-bootstrap.ts';
import { submitDestroy, submitDetachDisks } from './mutations/submit-destroy.ts';
import { submitFileOperation } from './mutations/submit-file-operation.ts';
import { submitHardwareUpgrade, submitReconfigure } from './mutations/submit-reconfigure.ts';
import { submitAdoption, submitRelease } from './mutations/submit-ownership.ts';
import { submitNewVm } from './mutations/submit-new-vm.ts';
import { submitPower } from './mutations/submit-power.ts';
import { submitPromotion } from './mutations/submit-promotion.ts';
import { openRecentObservations, type RecentObservations } from './watch/recent-observations.ts';

/** Activities on the VMs of one vCenter, queue `vsphere:<vcenter>`. */
export function createVirtualMachineVsphereActivities(
  dependencies: VsphereDependencies,
): VirtualMachineVsphereActivities {
  const { gateway, clock, scope = currentScope } = dependencies;
  const recent = dependencies.recent ?? openRecentObservations();
  return observeAfter(createCalls({ ...dependencies, recent }), {
    gateway,
    recent,
    execution: () => ({ scope: scope(clock), clock }),
  });
}

function createCalls({
  gateway,
  rest,
  places,
  readBootstrap,
  readBackup,
  recent,
  stopGate,
  audit,
  scope = currentScope,
  clock,
}: VsphereDependencies & { recent: RecentObservations }): VirtualMachineVsphereActivities {
  const tools = (): Tools => ({ gateway, recent, stopGate, audit, scope: scope(clock), clock });
  const around = {
    inventory: openInventory(gateway, clock),
    isos: openIsos(rest, clock),
    profiles: openProfiles(gateway, clock),
    rest,
    recent,
  };
  return {
    observeVirtualMachineInVcenter: (request) => observeVirtualMachineInVcenter(tools(), around, places, request),
    submitNewVm: (request) => submitNewVm(tools(), rest, request),
    submitFileOperation: (request) => submitFileOperation(tools(), request),
    stopCreate: (request) => stopCreate(tools(), request),
    submitAdoption: (request) => submitAdoption(tools(), request),
    submitReconfigure: (request) => submitReconfigure(tools(), request),
    submitHardwareUpgrade: (request) => submitHardwareUpgrade(tools(), request),
    submitBootstrap: (request) => submitBootstrap(tools(), readBootstrap, request),
    attachClusterModule: (request) => attachClusterModule(tools(), rest, request),
    submitPromotion: (request) => submitPromotion(tools(), request),
    submitPower: (request) => submitPower(tools(), request),
    submitBackup: (request) => submitBackup(tools(), readBackup, request),
    submitDetachDisks: (request) => submitDetachDisks(tools(), request),
    submitDestroy: (request) => submitDestroy(tools(), request),
    submitRelease: (request) => submitRelease(tools(), request),
    cancelVsphereTask: (request) => cancelVsphereTask(tools(), request),
    awaitTask: (task) => awaitTask(tools(), task),
  };
}
