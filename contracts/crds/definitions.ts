import type { z } from 'zod';
import type { Resource } from '../kinds/object.ts';
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
  infraEnv,
  machineClass,
  machineDeployment,
  machineSet,
  migration,
  objectTransfer,
  policyEvaluation,
  virtualMachineClass,
  virtualMachineImage,
} from '../kinds/resources.ts';
import { type Kind, kinds, kindTable } from '../kinds/table.ts';
import { agentMachineCrd } from './agent-machine.ts';
import { agentCrd } from './agent.ts';
import { cdiConfigCrd, cdiCrd } from './cdi.ts';
import { clusterMachineCrd } from './cluster-machine.ts';
import { cnsNodeVmAttachmentCrd, cnsNodeVmBatchAttachmentCrd } from './cns-attachments.ts';
import { dataSourceCrd } from './data-source.ts';
import { dataVolumeCrd } from './data-volume.ts';
import type { CrdBody, ResourceDefinition } from './definition.ts';
import { evictionCrd } from './eviction.ts';
import { hypervisorCrd } from './hypervisor.ts';
import { infraEnvCrd } from './infra-env.ts';
import { machineClassCrd } from './machine-class.ts';
import { machineDeploymentCrd, machineSetCrd } from './machine-set.ts';
import { machineCrd } from './machine.ts';
import { migrationCrd } from './migration.ts';
import { objectTransferCrd } from './object-transfer.ts';
import { policyEvaluationCrd } from './policy-evaluation.ts';
import { storageProfileCrd } from './storage-profile.ts';
import { virtualMachineClassCrd } from './virtual-machine-class.ts';
import { clusterVirtualMachineImageCrd, virtualMachineImageCrd } from './virtual-machine-image.ts';
import { virtualMachineSetResourcePolicyCrd } from './virtual-machine-set-resource-policy.ts';
import { virtualMachineCrd } from './virtual-machine.ts';
import { vsphereAgentPoolCrd } from './vsphere-agent-pool.ts';
import { vsphereAgentCrd } from './vsphere-agent.ts';

/** Of the kinds that drover drives. Schemas stand apart from the rows of the kind table, which workflows import. */
export const crdsOfKinds: Readonly<Record<Kind, CrdBody>> = {
  Eviction: evictionCrd,
  Hypervisor: hypervisorCrd,
  VirtualMachine: virtualMachineCrd,
  VirtualMachineSetResourcePolicy: virtualMachineSetResourcePolicyCrd,
  Machine: machineCrd,
  VsphereAgentPool: vsphereAgentPoolCrd,
  VsphereAgent: vsphereAgentCrd,
  DataVolume: dataVolumeCrd,
  StorageProfile: storageProfileCrd,
};

const others: readonly (readonly [Resource, CrdBody])[] = [
  [migration, migrationCrd],
  [virtualMachineClass, virtualMachineClassCrd],
  [virtualMachineImage, virtualMachineImageCrd],
  [clusterVirtualMachineImage, clusterVirtualMachineImageCrd],
  [machineClass, machineClassCrd],
  [machineSet, machineSetCrd],
  [machineDeployment, machineDeploymentCrd],
  [dataSource, dataSourceCrd],
  [objectTransfer, objectTransferCrd],
];

const neighbours: readonly (readonly [Resource, CrdBody])[] = [
  [agentMachine, agentMachineCrd],
  [agent, agentCrd],
  [infraEnv, infraEnvCrd],
  [clusterMachine, clusterMachineCrd],
  [cdiInstallation, cdiCrd],
  [cdiConfig, cdiConfigCrd],
  [cnsNodeVmAttachment, cnsNodeVmAttachmentCrd],
  [cnsNodeVmBatchAttachment, cnsNodeVmBatchAttachmentCrd],
  [policyEvaluation, policyEvaluationCrd],
];

/** Of an object as kube-apiserver serves it. */
export const schemaOf = (kind: Kind): z.ZodType => crdsOfKinds[kind].schema;

const definitionOf = ([{ group, version, kind, plural, namespaced }, body]: readonly [
  Resource,
  CrdBody,
]): ResourceDefinition => ({ group, version, kind, plural, namespaced, ...body });

/** Every custom resource that drover defines. */
export const definitions: readonly ResourceDefinition[] = [
  ...kinds.map((kind) => [kindTable[kind], crdsOfKinds[kind]] as const),
  ...others,
].map(definitionOf);

/**
 * Of what drover reads beside its own: as much as it reads, for labs and tests. Where it is used, its owners have
 * installed it.
 */
export const neighbourDefinitions: readonly ResourceDefinition[] = neighbours.map(definitionOf);
