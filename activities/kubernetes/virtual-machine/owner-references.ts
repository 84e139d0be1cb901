import { apiVersionOf } from '../../../contracts/kinds/object.ts';
import { virtualMachine } from '../../../contracts/kinds/resources.ts';
import type { ObjectName } from '../../../contracts/virtual-machine/mutations.ts';

/** Of what is made for a VirtualMachine: garbage collection takes it with that. VM Operator writes the same. */
export const ownerReferences = ({ name, uid }: ObjectName) => [
  {
    apiVersion: apiVersionOf(virtualMachine),
    kind: virtualMachine.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  },
];
