/** A CustomResourceDefinition, as far as it is compared. */
export interface ComparedDefinition {
  spec: { versions: ComparedVersion[] };
}
interface ComparedVersion {
  name: string;
  served?: boolean;
  storage?: boolean;
  schema?: { openAPIV3Schema?: unknown };
  subresources?: { status?: unknown };
}

/**
 * How the installed definition differs from drover's own where it matters: the version that drover reads is served, it
 * has the status subresource, and its schema knows every field with the same type, requires nothing else and has the
 * same rules. What the installed one has beyond that, as a newer one of the replaced operator may, does no harm.
 * Returns one sentence per difference.
 */
export function compareDefinitions(own: ComparedDefinition, installed: ComparedDefinition): string[] {
  return own.spec.versions.flatMap((version) => {
    // Clients of older versions are no business of drover's.
    if (version.storage === false) return [];
    const there = installed.spec.versions.find(({ name }) => name === version.name);
    if (there === undefined || there.served !== true) return [`version ${version.name} is not served`];
    const status =
      version.subresources?.status !== undefined && there.subresources?.status === undefined
        ? ['it has no status subresource']
        : [];
    return [...status, ...compareSchemas(version.schema?.openAPIV3Schema, there.schema?.openAPIV3Schema, '')];
  });
}

interface Schema {
  type?: string;
  required?: string[];
  properties?: Record<string, unknown>;
  items?: unknown;
  additionalProperties?: unknown;
  'x-kubernetes-validations'?: { rule: string }[];
}

function compareSchemas(own: unknown, installed: unknown, path: string): string[] {
  const [ours, theirs] = [own, installed] as [Schema | undefined, Schema | undefined];
  if (ours === undefined || typeof ours !== 'object') return [];
  if (theirs === undefined) return [`${path} is missing`];
  if (ours.type !== undefined && ours.type !== theirs.type)
    return [`${path} is ${theirs.type ?? 'anything'} instead of ${ours.type}`];
  return [
    ...compareRequired(ours, theirs, path),
    ...compareRules(ours, theirs, path),
    ...Object.entries(ours.properties ?? {}).flatMap(([name, schema]) =>
      compareSchemas(schema, theirs.properties?.[name], path === '' ? name : `${path}.${name}`),
    ),
    ...compareSchemas(ours.items, theirs.items ?? (ours.items === undefined ? undefined : {}), `${path}[]`),
    ...compareSchemas(ours.additionalProperties, theirs.additionalProperties ?? {}, `${path}.*`),
  ];
}

/** What only the installed one requires makes kube-apiserver refuse what drover writes. */
const compareRequired = (ours: Schema, theirs: Schema, path: string): string[] =>
  (theirs.required ?? [])
    .filter((name) => !(ours.required ?? []).includes(name) && !common.has(name))
    .map((name) => `${path === '' ? '' : `${path}.`}${name} is required`);

/** Fields of every object: kube-apiserver validates them whatever a schema says. */
const common = new Set(['apiVersion', 'kind', 'metadata']);

const compareRules = (ours: Schema, theirs: Schema, path: string): string[] => {
  const rules = new Set((theirs['x-kubernetes-validations'] ?? []).map(({ rule }) => rule));
  return (ours['x-kubernetes-validations'] ?? [])
    .filter(({ rule }) => !rules.has(rule))
    .map(({ rule }) => `${path} lacks the rule \`${rule}\``);
};
