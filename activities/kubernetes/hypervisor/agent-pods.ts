import { z } from 'zod';

import { offboardingTaint } from '../../../contracts/hypervisor/read-node.ts';
import type { Taint } from './node-schema.ts';

const tolerationSchema = z.object({
  key: z.string().optional(),
  operator: z.string().optional(),
  value: z.string().optional(),
  effect: z.string().optional(),
  tolerationSeconds: z.int().optional(),
});

const podSchema = z.object({
  metadata: z.object({ namespace: z.string(), name: z.string() }),
  spec: z.object({ tolerations: z.array(tolerationSchema).optional() }),
  status: z.object({ phase: z.string().optional() }).optional(),
});

export const podResource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', schema: podSchema };

export type Pod = z.output<typeof podSchema>;
type Toleration = z.output<typeof tolerationSchema>;

/** The pods that the offboarding taint drives off their node and that are still there, as `namespace/name`. Pure. */
export const agentsAmong = (pods: readonly Pod[]): string[] =>
  pods
    .filter((pod) => !isOver(pod) && !stays(pod))
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
    .toSorted();

const isOver = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** The first toleration that fits counts, as for Kubernetes; one with a time only puts the end off. */
function stays({ spec }: Pod): boolean {
  const fitting = spec.tolerations?.find((toleration) => tolerates(toleration, offboardingTaint));
  return fitting !== undefined && fitting.tolerationSeconds === undefined;
}

/**
 * As Kubernetes matches them: what a toleration leaves out matches all, and its operator is Equal unless
 * it says otherwise.
 */
function tolerates({ key = '', operator = 'Equal', value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  return operator === 'Exists' || (operator === 'Equal' && key !== '' && value === (taint.value ?? ''));
}
