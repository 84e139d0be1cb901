import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { conditions, customResource, int64, quantity, time, withRules } from './schema.ts';

const uuidPattern = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;

const groupSchema = withRules(
  z.object({
    trait: z
      .object({ name: z.string().min(1).describe('Name of the trait.') })
      .optional()
      .describe('Membership by a trait of the resource provider.'),
    aggregate: z
      .object({
        name: z.string().min(1).describe('Name of the aggregate.'),
        uuid: z.string().regex(uuidPattern).describe('Id of the aggregate.'),
        metadata: z.record(z.string(), z.string()).optional().describe('Metadata of the aggregate.'),
      })
      .optional()
      .describe('Membership in a host aggregate.'),
  }),
  {
    cel: '(has(self.trait) ? 1 : 0) + (has(self.aggregate) ? 1 : 0) == 1',
    message: 'exactly one group type must be set',
    holds: ({ trait, aggregate }) => (trait === undefined) !== (aggregate === undefined),
  },
);

const specSchema = withRules(
  z
    .object({
      version: z.string().optional().describe('Operating system version that the node shall run; `latest` is special.'),
      reboot: z.boolean().default(false).describe('Reboot the node after its operating system was updated.'),
      evacuateOnReboot: z.boolean().default(true).describe('Empty the node before it reboots.'),
      lifecycleEnabled: z.boolean().default(true).describe('Whether the lifecycle of the hypervisor is driven at all.'),
      skipTests: z.boolean().default(false).describe('Bring the hypervisor into service without testing it.'),
      customTraits: z.array(z.string()).default([]).describe('Traits that the resource provider shall carry.'),
      aggregates: z.array(z.string()).default([]).describe('Names of the host aggregates that it shall be in.'),
      groups: z.array(groupSchema).optional().describe('Typed memberships.'),
      allowedProjects: z.array(z.string()).default([]).describe('Ids of the projects that may use it; empty: all.'),
      highAvailability: z.boolean().default(true).describe('Restart its instances elsewhere when it fails.'),
      createCertManagerCertificate: z
        .boolean()
        .default(false)
        .describe('Let the node agent ask for its certificate itself.'),
      installCertificate: z.boolean().default(true).describe('Let the node agent install the certificate on the node.'),
      maintenance: z
        .enum(['', 'manual', 'auto', 'ha', 'termination'])
        .optional()
        .describe('Who takes the hypervisor out of service; empty: it is in service.'),
      maintenanceReason: z.string().optional().describe('Why it is out of service; needed with `manual`.'),
      overcommit: withRules(
        z
          .record(z.string(), z.number().meta({ format: 'double' }))
          .describe('By resource, how far it may be overcommitted.'),
        {
          cel: 'self.all(k, self[k] >= 1.0)',
          message: 'overcommit ratios must be >= 1.0',
          holds: (overcommit) => Object.values(overcommit).every((ratio) => ratio >= 1),
        },
      ).optional(),
    })
    .describe('What is asked for.'),
  {
    cel: "!has(oldSelf.maintenance) || oldSelf.maintenance != 'termination' || self.maintenance == 'ha' || self == oldSelf",
    message: "spec is immutable when maintenance is 'termination'; can only change maintenance to 'ha'",
  },
  {
    cel: "!has(self.maintenance) || self.maintenance != 'manual' || (has(self.maintenanceReason) && self.maintenanceReason.size() > 0)",
    message: "maintenanceReason must be non-empty when maintenance is 'manual'",
    holds: ({ maintenance, maintenanceReason }) => maintenance !== 'manual' || (maintenanceReason ?? '') !== '',
  },
);

const text = () => z.string().optional();
const unknownText = () => z.string().default('unknown').optional();
const texts = () => z.array(z.string());
const quantities = (description: string) => z.record(z.string(), quantity()).optional().describe(description);

const operatingSystemSchema = z.object({
  version: text(),
  variantID: text(),
  prettyVersion: text(),
  kernelName: text(),
  kernelRelease: text(),
  kernelVersion: text(),
  kernelCommandLine: text(),
  hardwareVendor: text(),
  hardwareModel: text(),
  hardwareSerial: text(),
  firmwareVersion: text(),
  firmwareVendor: text(),
  firmwareDate: time().optional(),
  gardenLinuxCommitID: text(),
  gardenLinuxFeatures: texts().optional(),
});

const updateStatusSchema = z.object({
  inProgress: z.boolean().default(false),
  installed: unknownText(),
  retry: z.int().default(3),
});

const instanceSchema = z.object({ id: z.string(), name: z.string(), active: z.boolean() });

const capabilitiesSchema = z.object({
  cpuArch: unknownText(),
  memory: quantity().optional(),
  cpus: quantity().optional(),
});

const domainCapabilitiesSchema = z.object({
  arch: unknownText(),
  hypervisorType: unknownText(),
  supportedDevices: texts().default([]).optional().describe('As `video`, `video/nvidia`.'),
  supportedCpuModes: texts().default([]).optional().describe('As `mode/<name>`, `mode/<name>/<value>`.'),
  supportedFeatures: texts().default([]).optional(),
});

const cellSchema = z.object({
  cellID: int64().describe('Number of the NUMA cell.'),
  allocation: quantities('What instances use of it, by resource.'),
  capacity: quantities('What it has, by resource.'),
  effectiveCapacity: quantities('What it has with overcommit, by resource.'),
});

const statusSchema = z
  .object({
    libVirtVersion: unknownText(),
    hypervisorVersion: unknownText(),
    operatingSystem: operatingSystemSchema.optional().describe('What the node runs.'),
    updateStatus: updateStatusSchema.optional().describe('How an update of the operating system goes.'),
    instances: z.array(instanceSchema).optional().describe('Domains that libvirt knows.'),
    capabilities: capabilitiesSchema.optional().describe('What libvirt says of the host.'),
    domainCapabilities: domainCapabilitiesSchema
      .optional()
      .describe('What libvirt says of the domains the host can run.'),
    allocation: quantities('What instances use, by resource.'),
    capacity: quantities('What the host has, by resource.'),
    effectiveCapacity: quantities('What the host has with overcommit, by resource.'),
    cells: z.array(cellSchema).optional().describe('The same by NUMA cell.'),
    numInstances: z.int().default(0).describe('How many instances there are.'),
    hypervisorId: text().describe('Id of the hypervisor in Nova, and of its resource provider in Placement.'),
    serviceId: text().describe('Id of the compute service in Nova.'),
    traits: texts().optional().describe('Traits that the resource provider carries.'),
    aggregates: z
      .array(z.object({ name: z.string(), uuid: z.string(), metadata: z.record(z.string(), z.string()).optional() }))
      .optional()
      .describe('Host aggregates that it is in.'),
    internalIp: text().describe('Address of the node.'),
    evicted: z.boolean().optional().describe('Whether it is empty.'),
    conditions: conditions().optional(),
    specHash: text(),
  })
  .describe('What is known of it.');

export const hypervisorSchema = customResource('kvm.cloud.sap/v1', 'Hypervisor', {
  spec: specSchema.optional(),
  status: statusSchema.optional(),
});

/** A compute host and its lifecycle. See docs/compatibility.md#hypervisor-object. */
export type Hypervisor = z.output<typeof hypervisorSchema>;
export type HypervisorStatus = NonNullable<Hypervisor['status']>;

const condition = (type: string, field: 'status' | 'reason' | 'message'): string =>
  `.status.conditions[?(@.type=="${type}")].${field}`;

export const hypervisorCrd: CrdBody = {
  shortNames: ['hv'],
  description: 'A compute host and its lifecycle.',
  schema: hypervisorSchema,
  printColumns: [
    { name: 'Zone', type: 'string', jsonPath: '.metadata.labels.topology\\.kubernetes\\.io/zone', priority: 2 },
    {
      name: 'Building Block',
      type: 'string',
      jsonPath: '.metadata.labels.kubernetes\\.metal\\.cloud\\.sap/bb',
      priority: 2,
    },
    { name: 'Group', type: 'string', jsonPath: '.metadata.labels.worker\\.garden\\.sapcloud\\.io/group', priority: 2 },
    { name: 'Ready', type: 'string', jsonPath: condition('Ready', 'status') },
    { name: 'State', type: 'string', jsonPath: condition('Ready', 'reason') },
    { name: 'Taint', type: 'string', jsonPath: condition('Tainted', 'message') },
    { name: 'Lifecycle', type: 'boolean', jsonPath: '.spec.lifecycleEnabled' },
    { name: 'High Availability', type: 'boolean', jsonPath: '.spec.highAvailability' },
    { name: 'Skip Tests', type: 'boolean', jsonPath: '.spec.skipTests' },
    { name: 'Version', type: 'string', jsonPath: '.status.operatingSystem.prettyVersion' },
    { name: 'IP', type: 'string', jsonPath: '.status.internalIp' },
    { name: 'Instances', type: 'integer', jsonPath: '.status.numInstances' },
    { name: 'Hardware', type: 'string', jsonPath: '.status.operatingSystem.hardwareModel', priority: 2 },
    { name: 'Kernel', type: 'string', jsonPath: '.status.operatingSystem.kernelRelease', priority: 2 },
    { name: 'Onboarding', type: 'string', jsonPath: condition('Onboarding', 'reason'), priority: 3 },
    { name: 'Service ID', type: 'string', jsonPath: '.status.serviceId', priority: 3 },
    { name: 'Hypervisor ID', type: 'string', jsonPath: '.status.hypervisorId', priority: 3 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
