import { hypervisorSchema } from '../../contracts/crds/hypervisor.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';

/** What a test says of a Hypervisor; the rest does not matter to it. */
interface Sample {
  generation?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  spec?: Partial<NonNullable<Hypervisor['spec']>>;
}

export const sampleHypervisor = ({
  generation = 1,
  labels = {},
  annotations = {},
  spec = {},
}: Sample = {}): Hypervisor =>
  hypervisorSchema.parse({
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Hypervisor',
    metadata: {
      name: 'node-1',
      uid: 'hv-1',
      resourceVersion: '1',
      generation,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels,
      annotations,
    },
    spec,
  });
