import type { z } from 'zod';

import { evictionSchema } from '../../contracts/crds/eviction.ts';
import { hypervisorSchema } from '../../contracts/crds/hypervisor.ts';
import { machineClassSchema } from '../../contracts/crds/machine-class.ts';
import { machineDeploymentSchema, machineSetSchema } from '../../contracts/crds/machine-set.ts';
import { machineSchema } from '../../contracts/crds/machine.ts';
import { migrationSchema } from '../../contracts/crds/migration.ts';
import { virtualMachineClassSchema } from '../../contracts/crds/virtual-machine-class.ts';
import {
  clusterVirtualMachineImageSchema,
  virtualMachineImageSchema,
} from '../../contracts/crds/virtual-machine-image.ts';
import { virtualMachineSetResourcePolicySchema } from '../../contracts/crds/virtual-machine-set-resource-policy.ts';
import { virtualMachineSchema } from '../../contracts/crds/virtual-machine.ts';
import { evictionKind } from '../../contracts/kinds/eviction.ts';
import { hypervisorKind } from '../../contracts/kinds/hypervisor.ts';
import { machineKind } from '../../contracts/kinds/machine.ts';
import {
  clusterVirtualMachineImage,
  machineClass,
  machineDeployment,
  machineSet,
  migration,
  virtualMachineClass,
  virtualMachineImage,
} from '../../contracts/kinds/resources.ts';
import { resourcePolicyKind } from '../../contracts/kinds/virtual-machine-set-resource-policy.ts';
import { virtualMachineKind } from '../../contracts/kinds/virtual-machine.ts';
import type { Resource } from './objects.ts';

/** A row, which holds no schema as workflows import it, with the schema of what is read of its objects. */
export const typed = <Schema extends z.ZodType>(
  { group, version, kind, plural }: Omit<Resource, 'schema'>,
  schema: Schema,
): Resource<Schema> => ({ group, version, kind, plural, schema });

/** The custom resources that drover defines, whole. */
export const resources = {
  Eviction: typed(evictionKind, evictionSchema),
  Hypervisor: typed(hypervisorKind, hypervisorSchema),
  Migration: typed(migration, migrationSchema),
  VirtualMachine: typed(virtualMachineKind, virtualMachineSchema),
  VirtualMachineClass: typed(virtualMachineClass, virtualMachineClassSchema),
  VirtualMachineImage: typed(virtualMachineImage, virtualMachineImageSchema),
  ClusterVirtualMachineImage: typed(clusterVirtualMachineImage, clusterVirtualMachineImageSchema),
  Machine: typed(machineKind, machineSchema),
  MachineClass: typed(machineClass, machineClassSchema),
  MachineSet: typed(machineSet, machineSetSchema),
  MachineDeployment: typed(machineDeployment, machineDeploymentSchema),
  VirtualMachineSetResourcePolicy: typed(resourcePolicyKind, virtualMachineSetResourcePolicySchema),
};
