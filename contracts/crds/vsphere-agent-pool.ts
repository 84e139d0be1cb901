import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { conditions, customResource, int32, int64, time } from './schema.ts';
import { ownedVmSchema } from './vsphere-agent.ts';

const namePattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const labelPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const wordPattern = /^[A-Za-z0-9_.-]+$/;

const objectName = () => z.string().min(1).max(253).regex(namePattern);
const named = (description: string) => z.object({ name: objectName() }).describe(description);
const word = () => z.string().max(64).regex(wordPattern);
const name = () => z.string().min(1).max(256);

const vsphere = z.object({
  credentialsSecretRef: z
    .object({
      name: objectName(),
      namespace: z
        .string()
        .max(63)
        .regex(/^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
        .optional(),
    })
    .describe(
      'A Secret with the keys server, username and password, in the namespace of the pool, or in that of drover itself.',
    ),
  datacenter: name().default('dc1'),
  datastoreCluster: name().describe('Where the disks of the VMs are.'),
  diskEagerlyScrub: z.boolean().optional(),
  firmware: z.enum(['efi', 'bios']).default('efi'),
  folder: z.string().max(512).optional().describe('Of the VMs. Left out: the name of the hosted cluster.'),
  guestID: word().default('rhel9_64Guest'),
  isoDatastore: name().describe('Where the discovery ISO is.'),
  network: name(),
  networkAdapterType: word().default('vmxnet3'),
  resourcePool: z.string().min(1).max(512).describe('Its path: `cluster/Resources`.'),
  scsiType: word().default('pvscsi'),
  vmTags: z.array(z.string()).max(64).optional().describe('Ids of tags.'),
});

const template = z.object({
  diskGiB: int32().min(20).max(65_536).default(100),
  memoryMiB: int32().min(1_024).max(1_048_576).default(16_384),
  namePrefix: z
    .string()
    .max(58)
    .regex(/^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
    .optional()
    .describe('Of the names of VMs. Left out: each has the name of its VsphereAgent.'),
  numCPUs: int32().min(1).max(128).default(4),
});

const agent = z.object({
  approve: z.boolean().default(true).describe('Agents of VMs of the pool are approved.'),
  labels: z
    .record(z.string(), z.string())
    .meta({ minProperties: 1, maxProperties: 32 })
    .describe('Those that the NodePool selects its Agents by.'),
  role: z
    .string()
    .min(1)
    .max(63)
    .regex(/^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/)
    .default('worker'),
});

const iso = z.object({
  checkInterval: z.string().optional().describe('As Go writes durations: `10m`, which it is where it is left out.'),
  pathPrefix: z
    .string()
    .max(512)
    .regex(/^$|^[^/\s][^\s]*$/)
    .optional()
    .describe('Folder of the ISO in its datastore.'),
  retainVersions: int32().min(1).max(20).default(2),
});

const isoVersion = {
  path: z.string(),
  sha256: z.string(),
  sizeBytes: int64().optional(),
  uploadedAt: time().optional(),
};

const count = (description: string) => int32().optional().describe(description);

const status = z.object({
  agentMachines: count('Those of the NodePool.'),
  agentMachinesWithoutAgent: count('Those that are not ready and have no Agent.'),
  availableAgents: count('Those that can be taken now.'),
  boundAgents: count('Those that are taken.'),
  conditions: conditions().optional(),
  desiredReplicas: count('As many as there are AgentMachines.'),
  iso: z
    .object({
      checkedAt: time().optional(),
      datastore: z.string().optional().describe('Where it and its history are: vCenter, datacenter and datastore.'),
      etag: z.string().optional().describe('What the server calls these bytes.'),
      forceRefreshToken: z.string().optional(),
      history: z.array(z.object(isoVersion)).optional().describe('Newest first.'),
      path: z.string().optional(),
      sha256: z.string().optional(),
      sizeBytes: int64().optional(),
      uploadedAt: time().optional(),
      url: z.string().optional(),
    })
    .optional()
    .describe('The ISO that new VMs boot from.'),
  matchingAgents: count('Agents with the labels of the pool.'),
  observedGeneration: int64().optional(),
  ownedVMs: z.array(ownedVmSchema).optional(),
  plannedActions: z
    .array(z.object({ name: z.string().optional(), reason: z.string(), type: z.string() }))
    .optional()
    .describe('What is done, or would be.'),
  unreadyAgentMachines: count('Those that are not ready.'),
  waitingAgentMachines: count('Those for which there is no suitable Agent.'),
});

export const vsphereAgentPoolSchema = customResource('agent-forge.containeroo.ch/v1alpha1', 'VsphereAgentPool', {
  spec: z.object({
    agent,
    cleanupPolicy: z
      .enum(['Delete', 'Retain'])
      .default('Delete')
      .describe('`Retain`: VMs and Agents are made, and none is deleted.'),
    controlPlaneNamespace: z.string().min(1).max(63).regex(labelPattern).describe('Where the AgentMachines are.'),
    hostedClusterRef: named('The HostedCluster.'),
    infraEnvRef: named('The InfraEnv with the discovery ISO.'),
    iso: iso.optional(),
    nodePoolRef: named('The NodePool.'),
    template,
    vsphere,
  }),
  status: status.optional(),
});

/** VMs that become Nodes of a NodePool when it wants more of them (docs/agent-pools.md). */
export type VsphereAgentPool = z.output<typeof vsphereAgentPoolSchema>;

export const vsphereAgentPoolCrd: CrdBody = {
  shortNames: ['vap'],
  description: 'VMs in vSphere that become Agents of a NodePool when it waits for some.',
  schema: vsphereAgentPoolSchema,
  printColumns: [
    { name: 'Waiting', type: 'integer', jsonPath: '.status.waitingAgentMachines' },
    { name: 'Desired', type: 'integer', jsonPath: '.status.desiredReplicas' },
    { name: 'Agents', type: 'integer', jsonPath: '.status.matchingAgents' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
