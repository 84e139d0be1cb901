import type { Kind } from '../../contracts/kinds/table.ts';
import { describeStop, readStops } from '../../runtime/stop.ts';
import type { Config } from '../../runtime/config/config-schema.ts';
import { explainError } from '../command/explain-error.ts';
import type { KubernetesAccess } from '../command/kubernetes-access.ts';

/**
 * The stops that hold runs of these kinds up. One of a region is listed too: which region a host is in, only
 * its worker knows.
 */
export async function findHoldingStops(
  kubernetes: Pick<KubernetesAccess, 'open'>,
  { config, abort }: { config: Config; abort: AbortSignal },
  kinds: readonly Kind[],
): Promise<{ sentences: string[]; problem: string | null }> {
  try {
    const stops = await readStops(await kubernetes.open(), config.kubernetes.systemNamespace, abort);
    const holding = stops.filter(
      ({ of, name }) =>
        of === 'all' ||
        of === 'region' ||
        (of === 'kind' ? kinds.some((kind) => kind === name) : name === config.cluster),
    );
    return { sentences: holding.map(describeStop), problem: null };
  } catch (error) {
    return { sentences: [], problem: `Whether drover is stopped: ${explainError(error).message}` };
  }
}
