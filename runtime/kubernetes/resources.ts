import type { z } from 'zod';

import { agentMachineSchema } from '../../contracts/crds/agent-machine.ts';
import { agentSchema } from '../../contracts/crds/agent.ts';
import { cdiConfigSchema, cdiSchema } from '../../contracts/crds/cdi.ts';
import { clusterMachineSchema } from '../../contracts/crds/cluster-machine.ts';
import { cnsNodeVmAttachmentSchema, cnsNodeVmBatchAttachmentSchema } from '../../contracts/crds/cns-attachments.ts';
import { dataSourceSchema } from '../../contracts/crds/data-source.ts';
import { dataVolumeSchema } from '../../contracts/crds/data-volume.ts';
import { evictionSchema } from '../../contracts/crds/eviction.ts';
import { hypervisorSchema } from '../../contracts/crds/hypervisor.ts';
import { infraEnvSchema } from '../../contracts/crds/infra-env.ts';
import { machineClassSchema } from '../../contracts/crds/machine-class.ts';
import { machineDeploymentSchema, machineSetSchema } from '../../contracts/crds/machine-set.ts';
import { machineSchema } from '../../contracts/crds/machine.ts';
import { migrationSchema } from '../../contracts/crds/migration.ts';
import { objectTransferSchema } from '../../contracts/crds/object-transfer.ts';
import { policyEvaluationSchema } from '../../contracts/crds/policy-evaluation.ts';
import { storageProfileSchema } from '../../contracts/crds/storage-profile.ts';
import { virtualMachineClassSchema } from '../../contracts/crds/virtual-machine-class.ts';
import {
  clusterVirtualMachineImageSchema,
  virtualMachineImageSchema,
} from '../../contracts/crds/virtual-machine-image.ts';
import { virtualMachineSetResourcePolicySchema } from '../../contracts/crds/virtual-machine-set-resource-policy.ts';
import { virtualMachineSchema } from '../../contracts/crds/virtual-machine.ts';
import { vsphereAgentPoolSchema } from '../../contracts/crds/vsphere-agent-pool.ts';
import { vsphereAgentSchema } from '../../contracts/crds/vsphere-agent.ts';
import { evictionKind } from '../../contracts/kinds/eviction.ts';
import { hypervisorKind } from '../../contracts/kinds/hypervisor.ts';
import { machineKind } from '../../contracts/kinds/machine.ts';
import {
  agent,
  agentMachine,
  cdiConfig,
  cdiInstallation,
  clusterMachine,
  clusterVirtualMachineImage,
  cnsNodeVmAttachment,
  cnsNodeVmBatchAttachment,
  dataSource,
  dataVolume,
  infraEnv,
  machineClass,
  machineDeployment,
  machineSet,
  migration,
  objectTransfer,
  policyEvaluation,
  virtualMachineClass,
  virtualMachineImage,
  vsphereAgent,
  vsphereAgentPool,
} from '../../contracts/kinds/resources.ts';
import { resourcePolicyKind } from '../../contracts/kinds/virtual-machine-set-resource-policy.ts';
import { storageProfileKind } from '../../contracts/kinds/storage-profile.ts';
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
  VsphereAgentPool: typed(vsphereAgentPool, vsphereAgentPoolSchema),
  VsphereAgent: typed(vsphereAgent, vsphereAgentSchema),
  DataVolume: typed(dataVolume, dataVolumeSchema),
  DataSource: typed(dataSource, dataSourceSchema),
  StorageProfile: typed(storageProfileKind, storageProfileSchema),
  ObjectTransfer: typed(objectTransfer, objectTransferSchema),
};

/** Those of others, as far as drover reads them. */
export const neighbourResources = {
  AgentMachine: typed(agentMachine, agentMachineSchema),
  Agent: typed(agent, agentSchema),
  InfraEnv: typed(infraEnv, infraEnvSchema),
  ClusterMachine: typed(clusterMachine, clusterMachineSchema),
  Cdi: typed(cdiInstallation, cdiSchema),
  CdiConfig: typed(cdiConfig, cdiConfigSchema),
  CnsNodeVmAttachment: typed(cnsNodeVmAttachment, cnsNodeVmAttachmentSchema),
  CnsNodeVMBatchAttachment: typed(cnsNodeVmBatchAttachment, cnsNodeVmBatchAttachmentSchema),
  PolicyEvaluation: typed(policyEvaluation, policyEvaluationSchema),
};
