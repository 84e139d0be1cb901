import { z } from 'zod';

/** A node of an OpenAPI v3 schema as `apiextensions.k8s.io/v1` takes it. */
export interface StructuralSchema {
  type?: string;
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  items?: StructuralSchema;
  required?: string[];
  [keyword: string]: unknown;
}

/**
 * Turns a zod schema into a structural schema: what kube-apiserver asks of a CRD so that it can prune, default and
 * validate. Zod's own JSON Schema has every keyword already, metadata (`x-kubernetes-…`) included; what is left is what
 * Kubernetes forbids or says differently.
 *
 * A field with a default is required: kube-apiserver fills defaults in before it validates. `.default(x).optional()` is
 * not required.
 *
 * @throws Error that names the path of what a structural schema cannot say: unions other than int-or-string,
 * references, look-arounds
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
export function toStructuralSchema(schema: z.ZodType): StructuralSchema {
  return structural(
    z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'output', reused: 'inline', cycles: 'throw' }),
    '$',
  );
}

type JsonSchema = Record<string, unknown>;

function structural(node: JsonSchema, path: string): StructuralSchema {
  const { properties, additionalProperties, items, required, anyOf, ...rest } = node;
  refuseUnsupported(rest, path);

  const result: StructuralSchema = { ...rest };
  if (rest['x-kubernetes-int-or-string'] === true) {
    // The one union there is; kube-apiserver wants exactly these two branches.
    result['anyOf'] = [{ type: 'integer' }, { type: 'string' }];
  } else if (anyOf !== undefined) {
    throw new Error(`${path}: a structural schema has no unions`);
  }
  if (rest['type'] === 'integer') withoutBounds(result);
  // The format says it; zod's pattern would only say it again, at length.
  if (rest['format'] === 'date-time') delete result['pattern'];

  if (properties !== undefined) {
    const fields = Object.entries(properties as Record<string, JsonSchema>);
    if (fields.length > 0)
      result.properties = Object.fromEntries(
        fields.map(([name, field]) => [name, structural(field, `${path}.${name}`)]),
      );
    if (isSchema(additionalProperties)) {
      // `looseObject`: unknown fields are kept instead of pruned.
      if (Object.keys(additionalProperties).length > 0)
        throw new Error(`${path}: properties and additionalProperties exclude each other`);
      result['x-kubernetes-preserve-unknown-fields'] = true;
    }
  } else if (isSchema(additionalProperties)) {
    result.additionalProperties = structural(additionalProperties, `${path}[*]`);
  }
  if (isSchema(items)) result.items = structural(items, `${path}[]`);
  if (Array.isArray(required) && required.length > 0) result.required = required as string[];
  return result;
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

function refuseUnsupported(node: JsonSchema, path: string): void {
  for (const keyword of ['$ref', '$defs', 'allOf', 'oneOf', 'not', 'patternProperties', 'propertyNames', 'const']) {
    if (keyword in node) throw new Error(`${path}: a structural schema has no ${keyword}`);
  }
  const { pattern } = node;
  // Go's regular expressions have no look-around.
  if (typeof pattern === 'string' && /\(\?(?:[=!]|<[=!])/.test(pattern))
    throw new Error(`${path}: Go cannot match ${pattern}`);
}

/** Leaves out the bounds that only say which integers JavaScript holds exactly. */
function withoutBounds(node: StructuralSchema): void {
  if (node['minimum'] === Number.MIN_SAFE_INTEGER) delete node['minimum'];
  if (node['maximum'] === Number.MAX_SAFE_INTEGER) delete node['maximum'];
}
