import { z } from 'zod';

import { nodeLeaseNamespace } from '../../../contracts/ids.ts';
import { failureCode } from '../../../runtime/failure.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';

export const leaseKind = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases' } as const;

const leases = {
  ...leaseKind,
  schema: z.object({
    spec: z
      .object({ renewTime: z.string().nullish(), leaseDurationSeconds: z.number().positive().nullish() })
      .prefault({}),
  }),
};

/** As kubelets have it unless their settings say otherwise. */
export const nodeLeaseMs = 40_000;

/** `none`: the Node has no Lease, so its kubelet renews none; null: it could not be read. */
export type ReadLease = { renewTime: string; durationMs: number } | 'none' | null;

/**
 * What a kubelet last wrote into the Lease of its Node. A cluster that does not let drover read it has
 * one witness less.
 * @throws only the signal's reason
 */
export async function readNodeLease(
  client: Pick<KubernetesObjects, 'get'>,
  name: string,
  problems: string[],
  signal: AbortSignal,
): Promise<ReadLease> {
  try {
    const found = await client.get(leases, { namespace: nodeLeaseNamespace, name }, signal);
    const { renewTime, leaseDurationSeconds } = found?.spec ?? {};
    if (!renewTime) return 'none';
    return { renewTime, durationMs: leaseDurationSeconds ? leaseDurationSeconds * 1_000 : nodeLeaseMs };
  } catch (error) {
    signal.throwIfAborted();
    if (failureCode(error) === null) throw error;
    problems.push((error as Error).message);
    return null;
  }
}
