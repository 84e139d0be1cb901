import type { AggregateFacts } from '../../contracts/hypervisor/hypervisor.ts';
import type { Step } from './step.ts';

export interface AggregatesPlan {
  /** In their order. Empty: the host is in exactly the wanted ones, or a problem stands in the way. */
  steps: Step[];
  /** Why nothing is done, for people; null: nothing stands in the way. */
  problem: string | null;
}

/** Nova's metadata key that makes an aggregate a zone. */
const zoneKey = 'availability_zone';

/**
 * The way from the aggregates that a host is in to exactly those that it should be in. It is added before it is removed, so that no
 * moment leaves it without the filter that keeps guests off it. Nothing is done while one of them does not exist; all such are named.
 * Source: hypervisor.md B.4.
 *
 * @param host      Nova's compute host, as aggregates know it
 * @param hasServers Nova moves no host with servers from one zone to another
 */
export function planAggregates(
  wanted: readonly string[],
  known: readonly AggregateFacts[],
  host: string,
  hasServers: boolean,
): AggregatesPlan {
  const names = [...new Set(wanted)];
  const missing = names.filter((name) => !known.some((aggregate) => aggregate.name === name));
  if (missing.length > 0) return { steps: [], problem: `aggregates not found: [${missing.join(' ')}]` };

  const add = known.filter(({ name, hasHost }) => names.includes(name) && !hasHost);
  const remove = known.filter(({ name, hasHost }) => !names.includes(name) && hasHost);
  const clash = findZoneClash(known, add);
  if (clash === null) return { steps: [...adding(host, add), ...removing(host, remove)], problem: null };

  const { from, to } = clash;
  const zones = `${host} is in zone ${from.metadata[zoneKey]} by aggregate ${from.name}, and ${to.name} is of zone ${to.metadata[zoneKey]}`;
  if (!remove.includes(from)) return { steps: [], problem: `${zones}: a host is in one zone only` };
  if (hasServers) return { steps: [], problem: `${zones}: Nova moves no host with servers from zone to zone` };
  // Nova refuses a second zone, so this one goes first; all other filters stay on meanwhile.
  const others = remove.filter((aggregate) => aggregate !== from);
  return {
    steps: [
      ...adding(
        host,
        add.filter((aggregate) => aggregate !== to),
      ),
      ...removing(host, [from]),
      ...adding(host, [to]),
      ...removing(host, others),
    ],
    problem: null,
  };
}

/** An aggregate that the host is in and one that it shall be in, of two zones. */
function findZoneClash(
  known: readonly AggregateFacts[],
  add: readonly AggregateFacts[],
): { from: AggregateFacts; to: AggregateFacts } | null {
  for (const to of add) {
    const zone = to.metadata[zoneKey];
    const from =
      zone === undefined
        ? undefined
        : known.find(
            ({ hasHost, metadata }) => hasHost && metadata[zoneKey] !== undefined && metadata[zoneKey] !== zone,
          );
    if (from !== undefined) return { from, to };
  }
  return null;
}

const named = (aggregates: readonly AggregateFacts[]) => aggregates.map(({ id, name }) => ({ id, name }));
const list = (aggregates: readonly AggregateFacts[]): string => aggregates.map(({ name }) => name).join(', ');

const adding = (host: string, aggregates: readonly AggregateFacts[]): Step[] =>
  aggregates.length === 0
    ? []
    : [
        {
          do: 'addToAggregates',
          host,
          aggregates: named(aggregates),
          words: `Add ${host} to aggregates ${list(aggregates)}`,
        },
      ];

const removing = (host: string, aggregates: readonly AggregateFacts[]): Step[] =>
  aggregates.length === 0
    ? []
    : [
        {
          do: 'removeFromAggregates',
          host,
          aggregates: named(aggregates),
          words: `Remove ${host} from aggregates ${list(aggregates)}`,
        },
      ];
