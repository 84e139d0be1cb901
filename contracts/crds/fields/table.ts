import { refusedFields, type RefusedFields } from '../../virtual-machine/refused-fields.ts';
import { vsphereAgentFields, vsphereAgentPoolFields } from './agents.ts';
import { dataSourceFields, dataVolumeFields, objectTransferFields, storageProfileFields } from './data-volumes.ts';
import type { FieldRows } from './field.ts';
import { evictionFields, hypervisorFields, migrationFields } from './hypervisors.ts';
import { machineClassFields, machineDeploymentFields, machineFields, machineSetFields } from './machines.ts';
import {
  resourcePolicyFields,
  virtualMachineClassFields,
  virtualMachineImageFields,
} from './virtual-machine-neighbours.ts';
import { virtualMachineSpecFields } from './virtual-machine-spec.ts';
import { virtualMachineStatusFields } from './virtual-machine-status.ts';

/**
 * What becomes of every field of every custom resource that drover defines, by kind, in the order of docs/fields.md.
 */
export const fieldTable: Readonly<Record<string, FieldRows>> = {
  VirtualMachine: { ...virtualMachineSpecFields, ...virtualMachineStatusFields },
  VirtualMachineClass: virtualMachineClassFields,
  VirtualMachineImage: virtualMachineImageFields,
  ClusterVirtualMachineImage: virtualMachineImageFields,
  VirtualMachineSetResourcePolicy: resourcePolicyFields,
  VsphereAgentPool: vsphereAgentPoolFields,
  VsphereAgent: vsphereAgentFields,
  Hypervisor: hypervisorFields,
  Eviction: evictionFields,
  Migration: migrationFields,
  DataVolume: dataVolumeFields,
  DataSource: dataSourceFields,
  ObjectTransfer: objectTransferFields,
  StorageProfile: storageProfileFields,
  Machine: machineFields,
  MachineClass: machineClassFields,
  MachineSet: machineSetFields,
  MachineDeployment: machineDeploymentFields,
};

/** Of the kinds that have a table of refused fields. */
export const refusedByKind: Readonly<Record<string, RefusedFields>> = {
  VirtualMachine: refusedFields,
};
