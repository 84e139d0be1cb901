import type { FieldError } from './refusal.ts';
import type { ObjectMetadata } from './stored-object.ts';

const namePattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/u;
const labelValuePattern = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/u;
const qualifiedNamePattern = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/u;

const nameWords =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelWords =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const qualifiedWords =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const prefixWords = `prefix part ${nameWords}`;

const annotationBytesLimit = 262_144;

const invalidValue = (field: string, value: unknown, words: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${JSON.stringify(value)}: ${words}`,
});

const required = (field: string, message: string): FieldError => ({ reason: 'FieldValueRequired', field, message });
const tooLong = (field: string, bytes: number): FieldError => ({
  reason: 'FieldValueTooLong',
  field,
  message: `Too long: may not be more than ${bytes} bytes`,
});

/** `prefix/name`, the prefix being a domain that may be left out. */
function validateQualified(field: string, key: string): FieldError[] {
  const slash = key.indexOf('/');
  const prefix = slash < 0 ? null : key.slice(0, slash);
  const name = key.slice(slash + 1);
  return [
    ...(prefix === null || namePattern.test(prefix) ? [] : [invalidValue(field, key, prefixWords)]),
    ...(name.length > 63 ? [invalidValue(field, key, 'name part must be no more than 63 bytes')] : []),
    ...(qualifiedNamePattern.test(name) ? [] : [invalidValue(field, key, qualifiedWords)]),
  ];
}

function validateName(name: string): FieldError[] {
  if (name === '') return [required('metadata.name', 'Required value: name or generateName is required')];
  return [
    ...(name.length > 253 ? [invalidValue('metadata.name', name, 'must be no more than 253 bytes')] : []),
    ...(namePattern.test(name) ? [] : [invalidValue('metadata.name', name, nameWords)]),
  ];
}

const validateLabel = ([key, value]: [string, string]): FieldError[] => [
  ...validateQualified('metadata.labels', key),
  ...(value.length > 63 ? [invalidValue('metadata.labels', value, 'must be no more than 63 bytes')] : []),
  ...(labelValuePattern.test(value) ? [] : [invalidValue('metadata.labels', value, labelWords)]),
];

type Validated = Pick<ObjectMetadata, 'name' | 'labels' | 'annotations' | 'finalizers'>;

/** What is wrong with an object's metadata, as `ValidateObjectMeta` has it. */
export function validateMetadata({ name, labels = {}, annotations = {}, finalizers = [] }: Validated): FieldError[] {
  const bytes = Buffer.byteLength(Object.entries(annotations).flat().join(''));
  return [
    ...validateName(name),
    ...Object.entries(labels).flatMap(validateLabel),
    ...Object.keys(annotations).flatMap((key) => validateQualified('metadata.annotations', key.toLowerCase())),
    ...(bytes > annotationBytesLimit ? [tooLong('metadata.annotations', annotationBytesLimit)] : []),
    ...finalizers.flatMap((finalizer) => validateQualified('metadata.finalizers', finalizer)),
  ];
}

/** What is wrong with a new version of an object's metadata. */
export function validateMetadataChange(before: ObjectMetadata, after: ObjectMetadata): FieldError[] {
  const fields = ['namespace', 'uid', 'deletionTimestamp'] as const;
  const immutable = fields.flatMap((field) =>
    after[field] === undefined || after[field] === before[field]
      ? []
      : [invalidValue(`metadata.${field}`, after[field], 'field is immutable')],
  );
  const added = (after.finalizers ?? []).filter((finalizer) => before.finalizers?.includes(finalizer) !== true);
  if (before.deletionTimestamp === undefined || added.length === 0) return immutable;
  const found = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
  const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${found}}`;
  return [...immutable, { reason: 'FieldValueForbidden', field: 'metadata.finalizers', message }];
}
