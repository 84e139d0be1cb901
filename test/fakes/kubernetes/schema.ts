import type { StructuralSchema } from '../../../contracts/crds/structural-schema.ts';
import type { Fields } from './field-set.ts';
import { copyOf, isFields, stepOf } from './field-set.ts';
import type { FieldError } from './refusal.ts';

/**
 * What kube-apiserver does with a custom resource by the schema of its CRD: fields that it does not know are dropped,
 * defaults filled in, the rest is validated. CEL rules (`x-kubernetes-validations`) are the real one's alone.
 */

/** The value without what the schema does not know, and with its defaults. */
export function pruneAndDefault(value: unknown, schema: StructuralSchema): unknown {
  if (isFields(value)) {
    const { properties = {}, additionalProperties } = schema;
    const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true;
    const entries = Object.entries(value).flatMap(([name, field]): [string, unknown][] => {
      const below = properties[name] ?? additionalProperties;
      if (below === undefined) return keepsUnknown ? [[name, field]] : [];
      // A null that the schema does not take makes place for the default.
      if (field === null && below['nullable'] !== true && 'default' in below) return [];
      return [[name, pruneAndDefault(field, below)]];
    });
    const there = Object.fromEntries(entries);
    const defaults = Object.entries(properties).flatMap(([name, below]): [string, unknown][] =>
      name in there || !('default' in below) ? [] : [[name, pruneAndDefault(copyOf(below['default']), below)]],
    );
    return { ...there, ...Object.fromEntries(defaults) };
  }
  if (!Array.isArray(value) || schema.items === undefined) return value;
  const { items } = schema;
  return value.map((item: unknown) => pruneAndDefault(item, items));
}

/** Whether CEL rules are among the schema. */
export const hasRules = (schema: StructuralSchema): boolean =>
  'x-kubernetes-validations' in schema ||
  [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties].some(
    (below) => below !== undefined && hasRules(below),
  );

/** What is wrong with a value; the words are those of kube-openapi's validation. */
export function validate(value: unknown, schema: StructuralSchema, path = ''): FieldError[] {
  const wrongType = checkType(value, schema, path);
  if (wrongType !== null) return [wrongType];
  if (value === null) return [];
  if (isFields(value)) return [...checkRequired(value, schema, path), ...checkFields(value, schema, path)];
  if (Array.isArray(value))
    return [
      ...checkList(value, schema, path),
      ...value.flatMap((item: unknown, index) => validate(item, schema.items ?? {}, `${path}[${index}]`)),
    ];
  return [
    ...checkEnum(value, schema, path),
    ...(typeof value === 'string' ? checkText(value, schema, path) : []),
    ...(typeof value === 'number' ? checkNumber(value, schema, path) : []),
  ];
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

const inBody = (value: unknown, path: string, words: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field: path,
  message: `Invalid value: ${JSON.stringify(value)}: ${path} in body ${words}`,
});

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function checkType(value: unknown, schema: StructuralSchema, path: string): FieldError | null {
  const { type } = schema;
  const given = typeOf(value);
  if (given === 'null' && schema['nullable'] === true) return null;
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (given === 'integer' || given === 'string') return null;
    return wrongType(path, 'integer,string', given);
  }
  if (type === undefined || type === given || (type === 'number' && given === 'integer')) return null;
  // Of numbers it names Go's types.
  if (given === 'number') return wrongType(path, (schema['format'] as string | undefined) ?? type, 'float64');
  return wrongType(path, type, given);
}

const wrongType = (path: string, type: string, given: string): FieldError => ({
  reason: 'FieldValueTypeInvalid',
  field: path,
  message: `Invalid value: "${given}": ${path} in body must be of type ${type}: "${given}"`,
});

const checkRequired = (value: Fields, { required = [] }: StructuralSchema, path: string): FieldError[] =>
  required
    .filter((name) => value[name] === undefined || value[name] === null)
    .map((name) => ({ reason: 'FieldValueRequired', field: join(path, name), message: 'Required value' }));

function checkFields(
  value: Fields,
  { properties = {}, additionalProperties, required = [] }: StructuralSchema,
  path: string,
): FieldError[] {
  return Object.entries(value).flatMap(([name, field]) => {
    const below = properties[name] ?? additionalProperties;
    const isMissing = field === null && required.includes(name);
    return below === undefined || isMissing ? [] : validate(field, below, join(path, name));
  });
}

function checkList(items: readonly unknown[], schema: StructuralSchema, path: string): FieldError[] {
  const most = schema['maxItems'];
  const tooMany: FieldError[] =
    typeof most === 'number' && items.length > most
      ? [
          {
            reason: 'FieldValueTooMany',
            field: path,
            message: `Too many: ${items.length}: must have at most ${most} items`,
          },
        ]
      : [];
  const listType = schema['x-kubernetes-list-type'];
  if (listType !== 'map' && listType !== 'set') return tooMany;
  const seen = new Set<string>();
  const duplicates = items.flatMap((item, index): FieldError[] => {
    const step = stepOf(item, schema);
    const isNew = !seen.has(step);
    seen.add(step);
    return isNew
      ? []
      : [{ reason: 'FieldValueDuplicate', field: `${path}[${index}]`, message: `Duplicate value: ${step.slice(2)}` }];
  });
  return [...tooMany, ...duplicates];
}

function checkEnum(value: unknown, schema: StructuralSchema, path: string): FieldError[] {
  const allowed = schema['enum'];
  if (!Array.isArray(allowed) || allowed.includes(value)) return [];
  const supported = allowed.map((one) => JSON.stringify(one)).join(', ');
  return [
    {
      reason: 'FieldValueNotSupported',
      field: path,
      message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}`,
    },
  ];
}

function checkText(value: string, schema: StructuralSchema, path: string): FieldError[] {
  const { minLength, maxLength, pattern, format } = schema as {
    minLength?: number;
    maxLength?: number;
    pattern?: string;
    format?: string;
  };
  // Go counts characters, not UTF-16 units.
  const { length } = Array.from(value);
  if (maxLength !== undefined && length > maxLength) {
    return [{ reason: 'FieldValueTooLong', field: path, message: `Too long: may not be more than ${maxLength} bytes` }];
  }
  if (minLength !== undefined && length < minLength) {
    return [inBody(value, path, `should be at least ${minLength} chars long`)];
  }
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) {
    return [inBody(value, path, `should match '${pattern}'`)];
  }
  if (format === undefined || formats[format]?.test(value) !== false) return [];
  const wrong = inBody(value, path, `must be of type ${format}: ${JSON.stringify(value)}`);
  return [{ ...wrong, reason: 'FieldValueTypeInvalid' }];
}

/** The formats of texts that drover's schemas use. */
const formats: Readonly<Record<string, RegExp>> = {
  'date-time': /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/u,
  uuid: /^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$/u,
};

function checkNumber(value: number, schema: StructuralSchema, path: string): FieldError[] {
  const { minimum, maximum, format } = schema as { minimum?: number; maximum?: number; format?: string };
  const errors: FieldError[] = [];
  if (format === 'int32' && Math.abs(value) > 2 ** 31) errors.push(inBody(value, path, 'must be of type int32'));
  if (minimum !== undefined && value < minimum)
    errors.push(inBody(value, path, `should be greater than or equal to ${minimum}`));
  if (maximum !== undefined && value > maximum)
    errors.push(inBody(value, path, `should be less than or equal to ${maximum}`));
  return errors;
}
