import type { ClaimedVolume, VolumeProblem, VolumeSource } from '../../../contracts/data-volume/data-volume.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import type { VolumeTools } from './dependencies.ts';

export type ResolvedSource =
  | {
      kind: 'pvc' | 'snapshot';
      namespace: string;
      name: string;
      /** Of the one that the clone began with; null: whichever has that name. */
      uid: string | null;
    }
  | { kind: 'blank' };

/** What the clone began with stays its source: a DataSource that names another one since then changes it no more. */
export async function resolveSource(
  tools: VolumeTools,
  own: string,
  source: VolumeSource | null,
  claimed: ClaimedVolume | null,
): Promise<ResolvedSource | VolumeProblem | null> {
  if (source === null) return null;
  if (source.kind === 'blank') return { kind: 'blank' };
  if (claimed !== null) return claimed.source;
  if (source.kind !== 'dataSource') return { ...source, uid: null };
  return await resolveDataSource(tools, own, source);
}

async function resolveDataSource(
  { client, scope }: VolumeTools,
  own: string,
  { namespace, name }: { namespace: string; name: string },
): Promise<ResolvedSource | VolumeProblem> {
  const found = await client.get(resources.DataSource, { namespace, name }, scope.signal);
  const fullName = `DataSource ${namespace}/${name}`;
  if (found === null) return { reason: 'NotFound', message: `${fullName} doesn't exist` };
  const { pvc, snapshot, dataSource } = found.spec.source;
  if (dataSource !== undefined)
    return {
      reason: 'MaxReferenceDepthReached',
      message: `${fullName} names another DataSource: name ${dataSource.name} itself`,
    };
  const named = pvc ?? snapshot;
  if (named === undefined) return { reason: 'NotFound', message: `${fullName} names no source` };
  // Who created the DataVolume was asked about the namespace of the DataSource, whichever user changes that later.
  if (named.namespace !== namespace)
    return {
      reason: 'CrossNamespaceReference',
      message: `${fullName} names a source in ${named.namespace}: one in another namespace than its own is named by a DataVolume itself, in ${own}`,
    };
  return { kind: pvc === undefined ? 'snapshot' : 'pvc', namespace, name: named.name, uid: null };
}
