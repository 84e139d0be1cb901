import { toCustomResourceDefinition } from './custom-resource-definition.ts';
import { definitions } from './definitions.ts';
import type { StructuralSchema } from './structural-schema.ts';

const definitionOf = (kind: string) => definitions.find((definition) => definition.kind === kind)!;
const [version] = toCustomResourceDefinition(definitionOf('Hypervisor')).spec.versions;
const part = (name: 'spec' | 'status'): StructuralSchema => version?.schema.openAPIV3Schema.properties?.[name] ?? {};

/** A field and its type, with the default where there is one. */
const fieldsOf = ({ properties = {} }: StructuralSchema): string[] =>
  Object.entries(properties).map(
    ([name, { type, default: value }]) => `${name}: ${type}${value === undefined ? '' : ` = ${JSON.stringify(value)}`}`,
  );

// Clients read and write these by name: a field more is harmless, one less or another breaks them.
test('the spec has every field of upstream, with its default', () => {
  expect(fieldsOf(part('spec'))).toEqual([
    'version: string',
    'reboot: boolean = false',
    'evacuateOnReboot: boolean = true',
    'lifecycleEnabled: boolean = true',
    'skipTests: boolean = false',
    'customTraits: array = []',
    'aggregates: array = []',
    'groups: array',
    'allowedProjects: array = []',
    'highAvailability: boolean = true',
    'createCertManagerCertificate: boolean = false',
    'installCertificate: boolean = true',
    'maintenance: string',
    'maintenanceReason: string',
    'overcommit: object',
  ]);
  expect(part('spec').properties?.['maintenance']?.['enum']).toEqual(['', 'manual', 'auto', 'ha', 'termination']);
  expect(part('spec').required?.toSorted()).toEqual([
    'aggregates',
    'allowedProjects',
    'createCertManagerCertificate',
    'customTraits',
    'evacuateOnReboot',
    'highAvailability',
    'installCertificate',
    'lifecycleEnabled',
    'reboot',
    'skipTests',
  ]);
});

test('the status has every field of upstream, and needs one', () => {
  expect(fieldsOf(part('status'))).toEqual([
    'libVirtVersion: string = "unknown"',
    'hypervisorVersion: string = "unknown"',
    'operatingSystem: object',
    'updateStatus: object',
    'instances: array',
    'capabilities: object',
    'domainCapabilities: object',
    'allocation: object',
    'capacity: object',
    'effectiveCapacity: object',
    'cells: array',
    'numInstances: integer = 0',
    'hypervisorId: string',
    'serviceId: string',
    'traits: array',
    'aggregates: array',
    'internalIp: string',
    'evicted: boolean',
    'conditions: array',
    'specHash: string',
  ]);
  expect(part('status').required).toEqual(['numInstances']);
});

test('the rules of the spec are those of upstream', () => {
  expect((part('spec')['x-kubernetes-validations'] as { message: string }[]).map(({ message }) => message)).toEqual([
    "spec is immutable when maintenance is 'termination'; can only change maintenance to 'ha'",
    "maintenanceReason must be non-empty when maintenance is 'manual'",
  ]);
});

test('H16: a Migration can be created, as its status is not required', () => {
  const [migration] = toCustomResourceDefinition(definitionOf('Migration')).spec.versions;
  expect(migration?.schema.openAPIV3Schema.required).toEqual(['spec']);
});
