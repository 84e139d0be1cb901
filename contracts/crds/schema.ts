import { z } from 'zod';

/** One `x-kubernetes-validations` rule, and the same rule for values that have not passed kube-apiserver. */
export interface Rule<Value> {
  /** CEL; `self` is the value, `oldSelf` what it was. */
  cel: string;
  message: string;
  /** Left out for transition rules: a single value cannot break them. */
  holds?: (value: Value) => boolean;
}

/** Attaches CEL rules to a schema. Call it last but for `optional` and `default`: metadata belongs to one instance. */
export function withRules<Schema extends z.ZodType>(schema: Schema, ...rules: Rule<z.output<Schema>>[]): Schema {
  const checked = rules.reduce(
    (current, { holds, message }) => (holds === undefined ? current : current.refine(holds, message)),
    schema,
  );
  return checked.meta({
    ...schema.meta(),
    'x-kubernetes-validations': rules.map(({ cel, message }) => ({ rule: cel, message })),
  });
}

/** Go's int64, as far as JSON numbers of this size are exact. */
export const int64 = (): z.ZodInt => z.int().meta({ format: 'int64' });

/** Go's int32; kube-apiserver checks the bounds by the format. */
export const int32 = (): z.ZodInt => z.int().meta({ format: 'int32' });

/** Any form of UUID that kube-apiserver takes. */
export const uuid = (): z.ZodString => z.string().meta({ format: 'uuid' });

/** A list that is merged by the named fields. */
export const listMap = <Item extends z.ZodType>(keys: readonly string[], item: Item) =>
  z.array(item).meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys });

/** A port or its name. */
export const intOrString = () => z.union([z.int(), z.string()]).meta({ 'x-kubernetes-int-or-string': true });

/** JSON of any kind, kept as it is. */
export const anything = () => z.unknown().meta({ 'x-kubernetes-preserve-unknown-fields': true });

/** An object of any fields, kept as it is. */
export const anyObject = () => z.looseObject({});

/** An object of the same namespace. */
export const reference = () => z.object({ apiVersion: z.string(), kind: z.string(), name: z.string() });

/** `metav1.Time`: RFC 3339. */
export const time = (): z.ZodISODateTime => z.iso.datetime({ offset: true });

const quantityPattern =
  /^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$/;

/** `resource.Quantity`: `512Gi`, `"128"`, `128`. */
export const quantity = () =>
  z
    .union([z.int(), z.string().regex(quantityPattern)])
    .meta({ 'x-kubernetes-int-or-string': true, pattern: quantityPattern.source });

const wholePattern = /^[0-9]+([kKMGTPE]i?)?$/;

/** A quantity of whole units: no fractions of a CPU. */
export const wholeQuantity = () =>
  z
    .union([z.int(), z.string().regex(wholePattern)])
    .meta({ 'x-kubernetes-int-or-string': true, pattern: wholePattern.source });

const conditionSchema = z.object({
  type: z.string().max(316).describe('What the condition is about.'),
  status: z.enum(['True', 'False', 'Unknown']),
  observedGeneration: int64().min(0).exactOptional().describe('The metadata.generation that the condition speaks of.'),
  lastTransitionTime: time().describe('When the status last changed.'),
  reason: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
    .describe('Why, in one word for programs.'),
  message: z.string().max(32_768).describe('Why, in a sentence for people.'),
});

/** `metav1.Condition` list, keyed by type. */
export const conditions = () =>
  z.array(conditionSchema).meta({
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
    description: 'What is known of the object, one row per type.',
  });

/**
 * Conditions of others’ kinds: `metav1.Condition`, or that of Cluster API's first versions, which may have no reason
 * and a severity.
 */
export const looseConditions = () =>
  z
    .array(
      z.looseObject({
        type: z.string(),
        status: z.string(),
        reason: z.string().optional(),
        message: z.string().optional(),
        lastTransitionTime: z.string().optional(),
      }),
    )
    .optional();

/**
 * The part of `metav1.ObjectMeta` that drover reads. kube-apiserver keeps its own schema of it, so none is generated.
 */
const objectMetaSchema = z.object({
  name: z.string(),
  namespace: z.string().optional(),
  uid: z.string(),
  resourceVersion: z.string(),
  generation: z.int(),
  creationTimestamp: z.string(),
  deletionTimestamp: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  finalizers: z.array(z.string()).optional(),
  /** Written back as they came. */
  ownerReferences: z
    .array(z.looseObject({ kind: z.string(), uid: z.string(), controller: z.boolean().optional() }))
    .optional(),
  managedFields: z
    .array(
      z.object({
        manager: z.string().optional(),
        operation: z.string().optional(),
        subresource: z.string().optional(),
        fieldsV1: z.record(z.string(), z.unknown()).optional(),
      }),
    )
    .optional(),
});

export type ObjectMeta = z.output<typeof objectMetaSchema>;

/**
 * A whole custom resource as kube-apiserver serves it.
 * @param parts mostly `spec` and `status`; some kinds have neither
 */
export const customResource = <
  const ApiVersion extends string,
  const Kind extends string,
  Parts extends Readonly<Record<string, z.ZodType>>,
>(
  apiVersion: ApiVersion,
  kind: Kind,
  parts: Parts,
) => z.object({ apiVersion: z.literal(apiVersion), kind: z.literal(kind), metadata: objectMetaSchema, ...parts });
