import { z } from 'zod';

import { time } from '../../../contracts/crds/schema.ts';

const taintSchema = z.looseObject({ key: z.string(), value: z.string().optional(), effect: z.string() });

const conditionSchema = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  lastTransitionTime: time().nullish(),
});

/** What drover reads of a Node. A taint is written back as it came. */
export const nodeSchema = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    /** kube-apiserver counts none. */
    generation: z.int().default(0),
    creationTimestamp: time(),
    deletionTimestamp: time().optional(),
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
  spec: z.object({ unschedulable: z.boolean().optional(), taints: z.array(taintSchema).optional() }).optional(),
  status: z
    .object({
      addresses: z.array(z.object({ type: z.string(), address: z.string() })).optional(),
      conditions: z.array(conditionSchema).optional(),
      nodeInfo: z.object({ bootID: z.string() }).optional(),
    })
    .optional(),
});

export type Node = z.output<typeof nodeSchema>;
export type Taint = z.output<typeof taintSchema>;

export const nodes = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', schema: nodeSchema };
