import { stringify } from 'yaml';
import type { PrintColumn, ResourceDefinition } from './definition.ts';
import { refuse } from './refuse.ts';
import { toStructuralSchema } from './structural-schema.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** The part of `apiextensions.k8s.io/v1` that drover writes. */
export interface CustomResourceDefinition {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'CustomResourceDefinition';
  metadata: { name: string };
  spec: {
    group: string;
    names: {
      kind: string;
      listKind: string;
      plural: string;
      singular: string;
      shortNames?: readonly string[];
      categories?: readonly string[];
    };
    scope: 'Cluster' | 'Namespaced';
    /** Of several versions. Left out, the webhook of another operator would stay. */
    conversion?: { strategy: 'None' };
    versions: {
      name: string;
      served: true;
      storage: boolean;
      schema: { openAPIV3Schema: StructuralSchema };
      subresources: { status: object };
      additionalPrinterColumns: readonly PrintColumn[];
    }[];
  };
}

/** Where `npm run crds` writes a definition, below `deploy`. */
export const definitionFile = ({ group, plural }: Pick<ResourceDefinition, 'group' | 'plural'>): string =>
  `crds/${group}_${plural}.yaml`;

/** The version that is stored, and those that are served besides, as it is: with the status subresource. */
export function toCustomResourceDefinition(definition: ResourceDefinition): CustomResourceDefinition {
  const { group, version, kind, plural, namespaced, shortNames, categories, printColumns, olderVersions } = definition;
  const rest = {
    schema: { openAPIV3Schema: wholeObject(definition) },
    subresources: { status: {} },
    additionalPrinterColumns: printColumns,
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(shortNames && { shortNames }),
        ...(categories && { categories }),
      },
      scope: namespaced ? 'Namespaced' : 'Cluster',
      ...(olderVersions !== undefined && { conversion: { strategy: 'None' as const } }),
      versions: [
        { name: version, served: true, storage: true, ...rest },
        ...(olderVersions ?? []).map((name) => ({ name, served: true as const, storage: false, ...rest })),
      ],
    },
  };
}

/** As YAML. What several versions share stands there once, and is referred to by the others. */
export function toYaml(definition: ResourceDefinition): string {
  const crd = toCustomResourceDefinition(definition);
  const [first, ...older] = crd.spec.versions.map(({ name, served, storage, ...rest }) => ({
    name,
    served,
    storage,
    rest,
  }));
  if (first === undefined || older.length === 0)
    return stringify(crd, { aliasDuplicateObjects: false, lineWidth: 120 });
  // Within it nothing is shared: a reader finds a field where it is.
  const rest = JSON.parse(JSON.stringify(first.rest)) as typeof first.rest;
  const versions = [first, ...older].map((version) => ({ ...version, rest: undefined, ...rest }));
  return stringify({ ...crd, spec: { ...crd.spec, versions } }, { lineWidth: 120 });
}

/**
 * kube-apiserver has its own idea of the fields that all objects share: their schema must say no more than the type.
 */
function wholeObject({ schema, description, refused = {} }: ResourceDefinition): StructuralSchema {
  const { properties, required } = toStructuralSchema(schema);
  const spec = properties?.['spec'];
  const needed = required?.filter((field) => !['apiVersion', 'kind', 'metadata'].includes(field)) ?? [];
  return {
    description,
    type: 'object',
    properties: {
      ...properties,
      ...(spec !== undefined && { spec: refuse(spec, refused) }),
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
    },
    ...(needed.length > 0 && { required: needed }),
  };
}
