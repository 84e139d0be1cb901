import { z } from 'zod';
import { checkAnswer } from '../runtime/kubernetes/kubernetes-faults.ts';

/** What every Kubernetes object has, as far as the bridge reads it; all else is kept as it came. */
export const kubeObjectSchema = z.looseObject({
  metadata: z.looseObject({
    name: z.string().min(1),
    namespace: z.string().optional(),
    uid: z.string().min(1),
    resourceVersion: z.string().min(1),
    /** Kinds without a spec have none. */
    generation: z.int().default(0),
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
    finalizers: z.array(z.string()).optional(),
    creationTimestamp: z.string().optional(),
    deletionTimestamp: z.string().optional(),
  }),
  status: z.unknown().optional(),
});

export type KubeObject = z.output<typeof kubeObjectSchema>;

/** One page of a collection. */
const kubeListSchema = z.looseObject({
  metadata: z.looseObject({ resourceVersion: z.string().min(1), continue: z.string().optional() }),
  // An empty list of the Go types is null on the wire.
  items: z
    .array(kubeObjectSchema)
    .nullable()
    .transform((items) => items ?? []),
});

/** @throws AnswerMalformed */
export const readKubeList = (answer: unknown): z.output<typeof kubeListSchema> =>
  checkAnswer(kubeListSchema, answer, 'a page of a list');

/** A refusal, as in `metav1.Status`. */
export const kubeStatusSchema = z.looseObject({
  message: z.string().optional(),
  reason: z.string().optional(),
  code: z.int().optional(),
});
