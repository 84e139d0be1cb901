import type { AgentPoolActivities, AgentPoolObservation } from '../contracts/agent-pool/agent-pool.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';

/** What a worker shows of the pools that it observes, by what its activities answer. */
export interface AgentMeter {
  /** The same activities, counted and shown. */
  metered: (activities: AgentPoolActivities) => AgentPoolActivities;
}

/** An observation that is this many intervals old is stale: another worker observes the pool now, or none does. */
const staleAfterChecks = 3;

interface ShownPool {
  namespace: string;
  pool: string;
  atMs: number;
  staleMs: number;
  states: Readonly<Record<string, number>>;
  isIsoDue: boolean;
}

export function meterAgents(metrics: Metrics, clock: Pick<Clock, 'now' | 'monotonicMs'>): AgentMeter {
  const pools = new Map<string, ShownPool>();
  metrics.beforePage(() => {
    for (const [key, { staleMs }] of pools) if (clock.monotonicMs() >= staleMs) pools.delete(key);
    const shown = [...pools.values()].map((one) => ({ ...one, labels: { namespace: one.namespace, pool: one.pool } }));
    metrics.replace(
      'agentPoolAgents',
      shown.flatMap(({ labels, states }) =>
        Object.entries(states).map(([state, value]) => ({ labels: { ...labels, state }, value })),
      ),
    );
    metrics.replace(
      'agentPoolIsoDue',
      shown.map(({ labels, isIsoDue }) => ({ labels, value: isIsoDue ? 1 : 0 })),
    );
    metrics.replace(
      'agentPoolObserved',
      shown.map(({ labels, atMs }) => ({ labels, value: atMs / 1_000 })),
    );
  });
  return {
    metered: (activities) => ({
      ...activities,
      async observeAgentPool(input) {
        const observation = await activities.observeAgentPool(input);
        const { namespace, name } = input;
        const key = `${namespace}/${name}`;
        if (observation.kind !== 'observed' || observation.desired === null) pools.delete(key);
        else
          pools.set(key, {
            namespace,
            pool: name,
            atMs: clock.now(),
            staleMs: clock.monotonicMs() + staleAfterChecks * observation.settings.recheckMs,
            ...whatIsShown(observation, clock.now()),
          });
        return observation;
      },
      async refreshIso(request) {
        const refreshed = await activities.refreshIso(request);
        metrics.count('isoRefreshes', { outcome: refreshed.outcome });
        return refreshed;
      },
    }),
  };
}

function whatIsShown(
  { observed: { counts, held, iso, stuck } }: AgentPoolObservation,
  nowMs: number,
): Pick<ShownPool, 'states' | 'isIsoDue'> {
  const { waiting, available, bound } = counts;
  // An AgentMachine that waits for what cannot be made has nothing on its way.
  const provisioning = Math.max(0, counts.provisioning - (stuck?.count ?? 0));
  // The list of those that are wanted is bounded.
  const wanted = Math.max(0, waiting - available - provisioning);
  return {
    states: { waiting, wanted, provisioning, available, bound, held: held.length },
    isIsoDue: iso.dueMs !== null && iso.dueMs <= nowMs,
  };
}
