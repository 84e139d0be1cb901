import { kindTable } from '../../contracts/kinds/table.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { Migration } from '../../contracts/crds/migration.ts';
import type { EvictionObject, MigrationObject } from './eviction-facts.ts';

/** An Eviction as people are shown it. */
export const describeEviction = (eviction: Eviction, mode: 'observe' | 'act'): EvictionObject => ({
  name: eviction.metadata.name,
  uid: eviction.metadata.uid,
  generation: eviction.metadata.generation,
  resourceVersion: eviction.metadata.resourceVersion,
  host: eviction.spec.hypervisor,
  reason: eviction.spec.reason,
  createdAt: eviction.metadata.creationTimestamp,
  deleting: eviction.metadata.deletionTimestamp !== undefined,
  annotations: eviction.metadata.annotations ?? {},
  conditions: eviction.status?.conditions ?? [],
  settled: kindTable.Eviction.isReconciled(eviction, mode),
});

const binaryUnits = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** The node agent's texts: `512 B`, `1.5 GiB` (hypervisor.md A.3). Null for anything else. */
function parseBytes(text: string | undefined): number | null {
  const [, figure, unit = ''] = /^(\d+(?:\.\d+)?) (B|[KMGTPE]iB)$/.exec(text ?? '') ?? [];
  return figure === undefined ? null : Number(figure) * 1024 ** (binaryUnits.indexOf(unit) + 1);
}

/** A Migration as people are shown it. */
export const describeMigration = ({ metadata, status }: Migration): MigrationObject => ({
  id: metadata.name,
  origin: status?.origin ?? null,
  destination: status?.destination ?? null,
  type: status?.type ?? null,
  percent: percentOf(status),
  error: status?.errMsg ?? null,
});

/** How much of a migration is copied, 0 to 100, of what its Migration object says; null when it says nothing of it. */
export function percentOf(
  status:
    | {
        dataTotal?: string | undefined;
        dataRemaining?: string | undefined;
        memTotal?: string | undefined;
        memRemaining?: string | undefined;
      }
    | undefined,
): number | null {
  const total = parseBytes(status?.dataTotal) ?? parseBytes(status?.memTotal);
  const remaining = parseBytes(status?.dataRemaining) ?? parseBytes(status?.memRemaining);
  if (total === null || remaining === null || total === 0) return null;
  return Math.min(100, Math.max(0, ((total - remaining) / total) * 100));
}
