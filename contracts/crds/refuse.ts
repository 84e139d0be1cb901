import type { RefusedField, RefusedFields } from '../virtual-machine/refused-fields.ts';
import type { StructuralSchema } from './structural-schema.ts';

/**
 * The same schema with a rule on each field that drover does not do, so that kube-apiserver refuses what asks for one.
 * The rule stands on the field itself: what was stored before and is not changed stays as it is.
 *
 * @param spec of `spec`
 * @throws Error for a field that the schema does not have
 */
export const refuse = (spec: StructuralSchema, fields: RefusedFields): StructuralSchema =>
  Object.entries(fields).reduce((schema, [path, field]) => withRuleAt(schema, path.split('.'), field, path), spec);

function withRuleAt(
  schema: StructuralSchema,
  [step, ...below]: readonly string[],
  field: RefusedField,
  path: string,
): StructuralSchema {
  if (step === undefined) return withRule(schema, field);
  const isList = step.endsWith('[]');
  const name = isList ? step.slice(0, -2) : step;
  const found = schema.properties?.[name];
  if (found === undefined || (isList && found.items === undefined)) throw new Error(`There is no field ${path}`);
  const changed = isList
    ? { ...found, items: withRuleAt(found.items ?? {}, below, field, path) }
    : withRuleAt(found, below, field, path);
  return { ...schema, properties: { ...schema.properties, [name]: changed } };
}

function withRule(schema: StructuralSchema, { not, harmless }: RefusedField): StructuralSchema {
  const before = (schema['x-kubernetes-validations'] ?? []) as readonly object[];
  const known = schema['enum'] as readonly string[] | undefined;
  const rule = { rule: ruleFor(schema, harmless), message: `drover does not ${not}` };
  return {
    ...schema,
    // kube-apiserver estimates what a rule costs by the longest text that is possible: in a list it would be too much.
    ...(known !== undefined && { maxLength: Math.max(...known.map(({ length }) => length)) }),
    'x-kubernetes-validations': [...before, rule],
  };
}

/** CEL that holds for what asks for nothing. */
function ruleFor({ type, properties = {}, ...schema }: StructuralSchema, harmless: RefusedField['harmless']): string {
  if (type === 'array') return 'size(self) == 0';
  if (type === 'object')
    return Object.keys(properties)
      .map((name) => `!has(self.${name})`)
      .join(' && ');
  const allowed = type === 'string' && schema['enum'] === undefined ? ['', ...harmless] : harmless;
  // Not `in`: to make a list costs more than kube-apiserver allows in a list without bounds.
  return allowed.map((value) => `self == ${JSON.stringify(value)}`).join(' || ') || 'false';
}
