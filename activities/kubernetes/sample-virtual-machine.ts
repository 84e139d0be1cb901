import type { VirtualMachine } from '../../contracts/crds/virtual-machine.ts';
import { virtualMachineSchema } from '../../contracts/crds/virtual-machine.ts';

/** What a test says of a VirtualMachine; the rest does not matter to it. */
export interface VirtualMachineSample {
  metadata?: Partial<VirtualMachine['metadata']>;
  spec?: object;
  status?: object;
}

export const apiVersion = 'vmoperator.vmware.com/v1alpha6';
export const sampleMetadata = {
  name: 'web',
  namespace: 'team',
  uid: 'vm-uid',
  resourceVersion: '1',
  generation: 3,
  creationTimestamp: '2026-01-01T00:00:00Z',
};

export const sampleVirtualMachine = ({ metadata, spec = {}, status }: VirtualMachineSample = {}): VirtualMachine =>
  virtualMachineSchema.parse({
    apiVersion,
    kind: 'VirtualMachine',
    metadata: { ...sampleMetadata, ...metadata },
    spec,
    ...(status && { status }),
  });
