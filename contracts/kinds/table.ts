import { evictionKind } from './eviction.ts';
import { hypervisorKind } from './hypervisor.ts';
import { virtualMachineKind } from './virtual-machine.ts';
import { resourcePolicyKind } from './virtual-machine-set-resource-policy.ts';

/** The kinds that drover drives: one row each, by the name that settings, search attributes, metrics and `drover stop --kind` use. */
export const kindTable = {
  [evictionKind.kind]: evictionKind,
  [hypervisorKind.kind]: hypervisorKind,
  [virtualMachineKind.kind]: virtualMachineKind,
  [resourcePolicyKind.kind]: resourcePolicyKind,
} as const;

export type Kind = keyof typeof kindTable;

export const kinds = Object.keys(kindTable) as Kind[];
