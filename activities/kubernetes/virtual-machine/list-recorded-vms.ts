import { z } from 'zod';

import { virtualMachineAnnotations } from '../../../contracts/virtual-machine/metadata.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';

/** What a VirtualMachine says of the VM that it has. */
export interface RecordedVm {
  namespace: string;
  name: string;
  uid: string;
  /** `status.uniqueID`. */
  vmId: string;
  /** Of the vCenter. */
  managerId: string | null;
}

/** No more than is asked for here: one that does not fit its schema has a VM all the same. */
const recorded = z.object({
  metadata: z.object({
    namespace: z.string(),
    name: z.string(),
    uid: z.string(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
  status: z.object({ uniqueID: z.string().min(1) }),
});

/** Every VirtualMachine that says which VM is its own. */
export async function listRecordedVms(kubernetes: Kubernetes, signal: AbortSignal): Promise<RecordedVm[]> {
  const found = await openObjects(kubernetes).listValid({ ...resources.VirtualMachine, schema: recorded }, {}, signal);
  return found.map(({ metadata: { namespace, name, uid, annotations }, status }) => ({
    namespace,
    name,
    uid,
    vmId: status.uniqueID,
    managerId: annotations?.[virtualMachineAnnotations.managerId] ?? null,
  }));
}
