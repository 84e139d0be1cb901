import type { ResourceDefinition } from './definition.ts';
import { evictionDefinition } from './eviction.ts';
import { hypervisorDefinition } from './hypervisor.ts';
import { migrationDefinition } from './migration.ts';
import { virtualMachineClassDefinition } from './virtual-machine-class.ts';
import { clusterVirtualMachineImageDefinition, virtualMachineImageDefinition } from './virtual-machine-image.ts';
import { virtualMachineSetResourcePolicyDefinition } from './virtual-machine-set-resource-policy.ts';
import { virtualMachineDefinition } from './virtual-machine.ts';

/** What the lifecycles of hypervisors need. */
export const hypervisorDefinitions: readonly ResourceDefinition[] = [
  evictionDefinition,
  hypervisorDefinition,
  migrationDefinition,
];

/** What the lifecycle of virtual machines needs, where vm-operator's own are not installed. */
const virtualMachineDefinitions: readonly ResourceDefinition[] = [
  virtualMachineDefinition,
  virtualMachineClassDefinition,
  virtualMachineImageDefinition,
  clusterVirtualMachineImageDefinition,
  virtualMachineSetResourcePolicyDefinition,
];

/** Every custom resource that drover defines. A new group is more rows here. */
export const definitions: readonly ResourceDefinition[] = [...hypervisorDefinitions, ...virtualMachineDefinitions];
