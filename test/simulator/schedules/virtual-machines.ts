import { annotations, resourcePolicyId, virtualMachineId } from '../../../contracts/ids.ts';
import { inventory } from '../../../lab/vsphere/handle.ts';
import { vmManifest, vmFixture } from '../../../lab/vsphere/vm-fixture.ts';
import type { Action, Actions, Cast } from './cast.ts';
import { cancel, choose, create, isEven, patch, remove, terminate, vmoperator, vmPath, witnessOf } from './cast.ts';
import type { EventKind, ScheduledEvent } from './schedule.ts';

/** What users do to virtual machines and to the policies that these share, and what others do to them in vCenter. */

const vmOf = ({ vms }: Cast, event: ScheduledEvent): string => choose(vms, event);
const policyOf = ({ policies }: Cast, event: ScheduledEvent): string => choose(policies, event);
const vmId = (cast: Cast, event: ScheduledEvent): string => virtualMachineId(cast.namespace, vmOf(cast, event));
const policyId = (cast: Cast, event: ScheduledEvent): string => resourcePolicyId(cast.namespace, policyOf(cast, event));

const ofVm = (cast: Cast, event: ScheduledEvent): string => vmPath(cast, 'virtualmachines', vmOf(cast, event));
const policies = 'virtualmachinesetresourcepolicies';
const edit =
  (body: (event: ScheduledEvent) => object): Action =>
  (cast, event) =>
    patch(cast, ofVm(cast, event), body(event));
const inVcenter = (cast: Cast, event: ScheduledEvent): string =>
  `${inventory.vmFolder}/${cast.namespace}/${vmOf(cast, event)}`;

export const createPolicy = (cast: Cast, name: string): Promise<unknown> =>
  create(cast, vmPath(cast, policies), {
    apiVersion: vmoperator,
    kind: 'VirtualMachineSetResourcePolicy',
    metadata: { namespace: cast.namespace, name },
    spec: { folder: `${name}-folder`, resourcePool: { name: `${name}-pool` }, clusterModuleGroups: ['web'] },
  });

const changePolicy: Action = (cast, event) =>
  patch(cast, vmPath(cast, policies, policyOf(cast, event)), {
    spec: { resourcePool: { reservations: { memory: `${64 + (event.forMs % 64)}Mi` } } },
  });

/** A policy's run is over within seconds: who wants to catch one has to make it have work. */
const whileItChanges =
  (action: Action): Action =>
  async (cast, event) => {
    await changePolicy(cast, event);
    await cast.deployment.simulation.clock.sleep(event.forMs % 500);
    await action(cast, event);
  };

type OfVms = Extract<EventKind, `${string}Vm` | `${string}VmOutside` | `${string}Policy`>;

export const virtualMachineActions: Actions<OfVms> = {
  createVm: (cast, event) =>
    create(
      cast,
      vmPath(cast, 'virtualmachines'),
      vmManifest(
        cast.namespace,
        vmOf(cast, event),
        isEven(event) ? {} : { reserved: { resourcePolicyName: policyOf(cast, event) } },
      ),
    ),
  deleteVm: (cast, event) => remove(cast, ofVm(cast, event)),
  powerVm: edit((event) => ({ spec: { powerState: isEven(event) ? 'PoweredOn' : 'PoweredOff' } })),
  resizeVm: edit((event) => ({
    spec: { className: isEven(event) ? vmFixture.classes.large : vmFixture.classes.small },
  })),
  retryVm: edit(({ atMs }) => ({ metadata: { annotations: { [annotations.retry]: String(atMs) } } })),
  cancelVm: cancel(vmId),
  terminateVm: terminate(vmId),
  powerVmOutside: (cast, event) => witnessOf(cast).setPower(inVcenter(cast, event), isEven(event) ? 'on' : 'off'),
  destroyVmOutside: (cast, event) => witnessOf(cast).destroyVm(inVcenter(cast, event)),

  createPolicy: (cast, event) => createPolicy(cast, policyOf(cast, event)),
  changePolicy,
  deletePolicy: (cast, event) => remove(cast, vmPath(cast, policies, policyOf(cast, event))),
  cancelPolicy: whileItChanges(cancel(policyId)),
  terminatePolicy: whileItChanges(terminate(policyId)),
};
