import type { Condition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';

/** What a test says of an Eviction; the rest does not matter to it. */
export interface Sample {
  name?: string;
  hypervisor?: string;
  reason?: string;
  generation?: number;
  createdAt?: string;
  annotations?: Record<string, string>;
  finalizers?: string[];
  deleting?: boolean;
  conditions?: Condition[];
}

export const sampleEviction = ({
  name = 'node-1',
  hypervisor = 'node-1',
  reason = 'test',
  generation = 1,
  createdAt = '2026-01-01T00:00:00Z',
  ...rest
}: Sample = {}): Eviction => ({
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Eviction',
  metadata: {
    name,
    uid: `uid-of-${name}`,
    resourceVersion: '1',
    generation,
    creationTimestamp: createdAt,
    ...(rest.annotations && { annotations: rest.annotations }),
    ...(rest.finalizers && { finalizers: rest.finalizers }),
    ...(rest.deleting && { deletionTimestamp: '2026-01-02T00:00:00Z' }),
  },
  spec: { hypervisor, reason },
  ...(rest.conditions && { status: { conditions: rest.conditions } }),
});

export const sampleCondition = (
  type: string,
  status: Condition['status'],
  reason: string,
  observedGeneration = 1,
): Condition => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
  observedGeneration,
});
