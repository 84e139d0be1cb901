import type { Condition } from '../../contracts/conditions.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import type { ComputeServiceRecord } from '../nova/types.ts';

/** A hypervisor in service as its Hypervisor and Nova show it, for tests. */

export const condition = (type: string, status: Condition['status'], reason: string): Condition => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
  observedGeneration: 1,
});

const aggregate = (name: string): object => ({ name, uuid: `uuid-of-${name}`, metadata: {} });

export function hypervisorOf(name: string, status: object = {}, metadata: object = {}, spec: object = {}): Hypervisor {
  const said = {
    numInstances: 0,
    serviceId: `service-of-${name}`,
    hypervisorId: `hypervisor-of-${name}`,
    aggregates: [aggregate('zone-a'), aggregate('tenants')],
    traits: ['CUSTOM_FAST', 'HW_CPU_X86_VMX'],
    conditions: [condition('Lifecycle', 'True', 'Active'), condition('HypervisorDisabled', 'False', 'Succeeded')],
  };
  return {
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Hypervisor',
    metadata: {
      name,
      uid: `uid-of-${name}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadata,
    },
    spec: { customTraits: ['CUSTOM_FAST'], ...spec },
    status: { ...said, ...status },
  } as unknown as Hypervisor;
}

export const serviceOf = (host: string, more: Partial<ComputeServiceRecord> = {}): ComputeServiceRecord => ({
  id: `service-of-${host}`,
  host,
  zone: 'zone-a',
  status: 'enabled',
  disabledReason: null,
  state: 'up',
  forcedDown: false,
  cellDown: false,
  ...more,
});
