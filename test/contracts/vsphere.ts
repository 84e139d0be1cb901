import { vcenterRestContract } from './vcenter-rest.ts';
import { vsphereAgentsContract } from './vsphere-agents.ts';
import { vsphereCallsContract } from './vsphere-calls.ts';
import { vsphereChangesContract } from './vsphere-changes.ts';
import type { VsphereCounterpart } from './vsphere-context.ts';
import { vsphereCreatesContract } from './vsphere-creates.ts';
import { vsphereFilesContract } from './vsphere-files.ts';
import { vsphereGuestsContract } from './vsphere-guests.ts';
import { vsphereObserveContract } from './vsphere-observe.ts';
import { vsphereIsosContract } from './vsphere-isos.ts';
import { vsphereMachinesContract } from './vsphere-machines.ts';
import { vspherePoliciesContract } from './vsphere-policies.ts';
import { vspherePowerContract } from './vsphere-power.ts';
import { vsphereTasksContract } from './vsphere-tasks.ts';
import { vsphereWatchContract } from './vsphere-watch.ts';
import { vsphereWitnessContract } from './vsphere-witness.ts';

/**
 * What drover's vSphere adapter relies on, as tests of everything above `Vim` and `VcenterRest`. The lab's vCenter and
 * the simulator's model pass the same.
 *
 * @param open a vCenter for one suite
 */
export function vsphereContract(open: () => Promise<VsphereCounterpart>): void {
  describe.each([
    ['the witness', vsphereWitnessContract],
    ['calls', vsphereCallsContract],
    ['creates', vsphereCreatesContract],
    ['changes', vsphereChangesContract],
    ['power', vspherePowerContract],
    ['tasks', vsphereTasksContract],
    ['observations', vsphereObserveContract],
    ['the watch', vsphereWatchContract],
    ['guests', vsphereGuestsContract],
    ['files', vsphereFilesContract],
    ['ISOs', vsphereIsosContract],
    ['resource policies', vspherePoliciesContract],
    ['machines', vsphereMachinesContract],
    ['VMs of agent pools', vsphereAgentsContract],
    ['REST', vcenterRestContract],
  ])('%s', (_, contract) => {
    contract(open);
  });
}
