import { toCustomResourceDefinition } from '../../contracts/crds/custom-resource-definition.ts';
import type { ResourceDefinition } from '../../contracts/crds/definition.ts';
import { definitions } from '../../contracts/crds/definitions.ts';
import type { ComparedDefinition } from './compare-crd.ts';
import { compareDefinitions } from './compare-crd.ts';

const definitionOf = (kind: string) => definitions.find((definition) => definition.kind === kind)!;
const evictionDefinition = definitionOf('Eviction');
const migrationDefinition = definitionOf('Migration');

interface Loose {
  spec: {
    versions: {
      served: boolean;
      subresources?: object;
      schema: {
        openAPIV3Schema: {
          required?: string[];
          properties: Record<string, { properties: Record<string, unknown>; required?: string[] }>;
        };
      };
    }[];
  };
}

/** drover's own definition, with one thing changed. */
function changed(
  definition: ResourceDefinition,
  change: (version: Loose['spec']['versions'][number]) => void,
): ComparedDefinition {
  const copy = structuredClone(toCustomResourceDefinition(definition)) as unknown as Loose;
  const [version] = copy.spec.versions;
  if (version === undefined) throw new Error('no version');
  change(version);
  return copy as unknown as ComparedDefinition;
}
const own = (definition: ResourceDefinition) => toCustomResourceDefinition(definition) as ComparedDefinition;

test.each<[why: string, definition: ResourceDefinition, change: Parameters<typeof changed>[1], differences: unknown[]]>(
  [
    ['the same', evictionDefinition, () => undefined, []],
    [
      'a field more',
      evictionDefinition,
      ({ schema }) => void (schema.openAPIV3Schema.properties['status']!.properties['more'] = { type: 'string' }),
      [],
    ],
    [
      'a field less',
      evictionDefinition,
      ({ schema }) => void delete schema.openAPIV3Schema.properties['status']!.properties['outstandingRamMb'],
      ['status.outstandingRamMb is missing'],
    ],
    [
      'another type',
      evictionDefinition,
      ({ schema }) => void (schema.openAPIV3Schema.properties['spec']!.properties['reason'] = { type: 'integer' }),
      ['spec.reason is integer instead of string'],
    ],
    [
      'a rule less',
      evictionDefinition,
      ({ schema }) => void (schema.openAPIV3Schema.properties['spec']!.properties['hypervisor'] = { type: 'string' }),
      ['spec.hypervisor lacks the rule `self == oldSelf`'],
    ],
    [
      'a version that is not served',
      evictionDefinition,
      (version) => void (version.served = false),
      ['version v1 is not served'],
    ],
    [
      'no subresource',
      evictionDefinition,
      (version) => void delete version.subresources,
      ['it has no status subresource'],
    ],
    [
      'the node agent’s Migration',
      migrationDefinition,
      ({ schema }) => void (schema.openAPIV3Schema.required = ['metadata', 'spec', 'status']),
      ['status is required'],
    ],
  ],
)('%s', (_why, definition, change, differences) => {
  expect(compareDefinitions(own(definition), changed(definition, change))).toEqual(differences);
});

test('a version that is not there', () => {
  expect(compareDefinitions(own(evictionDefinition), { spec: { versions: [] } })).toEqual(['version v1 is not served']);
});
