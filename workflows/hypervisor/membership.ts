import type { ConditionUpdate } from '../../contracts/conditions.ts';
import type { AggregateChange } from '../../contracts/hypervisor/activities.ts';
import { aggregatesReasons, hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type { ObservedAggregate } from '../../contracts/hypervisor/hypervisor.ts';
import { nodeMetadata } from '../../contracts/ids.ts';
import { isEmptied } from './emptying.ts';
import { isReturning, modeOf, onboardingOf } from './judge.ts';
import { planTraits } from './traits.ts';
import { execute } from './types.ts';
import type { Context, Decision, Draft } from './types.ts';

/** Traits and aggregates: which a host belongs to, and the way there. All pure. */

/** What keeps the traits or aggregates from being as they should be; null: nothing. */
export function membershipProblem(context: Context): string | null {
  return traitsProblem(context) ?? aggregatesProblem(context);
}

/** In the words of the condition `TraitsUpdated`. */
export function traitsProblem({ desired, observed }: Context): string | null {
  const { nova, provider } = observed;
  if (provider === null)
    return `Failed to get current traits from placement: no resource provider ${nova?.hypervisorId ?? observed.recorded.hypervisorId ?? desired.name}`;
  const { invalid } = planTraits(desired.customTraits, desired, observed);
  return invalid.length === 0
    ? null
    : `Failed to update traits in placement: no names of traits: ${invalid.join(', ')}`;
}

/** In the words of the condition `AggregatesUpdated`. */
export function aggregatesProblem(context: Context): string | null {
  const { names } = wantAggregates(context);
  const { nova, aggregates } = context.observed;
  if (names === null || nova === null) return null;
  const { problem } = planAggregates(names, aggregates, nova.host, nova.servers > 0);
  return problem === null ? null : `failed to apply aggregates: ${problem}`;
}

/**
 * Brings traits, and then aggregates, to where they belong now; null: they are, or a problem stands in the way (see
 * {@link membershipProblem}). Traits go first: an aggregate may let guests in that ask for them. A failed step
 * ends the plan.
 */
export function planMembership(context: Context): Decision | null {
  const { desired, observed } = context;
  const { nova, aggregates } = observed;
  if (nova === null || modeOf(desired, observed.node) === 'termination') return null;
  const traits = planTraits(desired.customTraits, desired, observed).steps;
  const { names } = wantAggregates(context);
  const joins = names === null ? [] : planAggregates(names, aggregates, nova.host, nova.servers > 0).steps;
  const steps = [...traits, ...joins];
  return steps.length > 0 ? execute(...steps) : null;
}

export interface WantedAggregates {
  /** Null: they stay as they are. */
  names: string[] | null;
  /** What `AggregatesUpdated` says once the host is in exactly these; null: nothing is said. */
  condition: ConditionUpdate | null;
}

const updated = (
  status: 'True' | 'False',
  reason: keyof typeof aggregatesReasons,
  message: string,
): ConditionUpdate => ({
  type: hypervisorConditions.aggregatesUpdated,
  status,
  reason: aggregatesReasons[reason],
  message,
});

/**
 * Which aggregates a host belongs in now, the first row that fits. One that was never tested, or that failed its tests,
 * is never put where guests come.
 */
export function wantAggregates(context: Context): WantedAggregates {
  const { desired, observed, settings } = context;
  const untouched: WantedAggregates = { names: null, condition: null };
  if (!desired.lifecycleEnabled || observed.nova === null) return untouched;
  if (modeOf(desired, observed.node) === 'termination') {
    return isEmptied(context)
      ? {
          names: [],
          condition: updated('False', 'terminating', 'Aggregates cleared due to termination after eviction'),
        }
      : {
          names: null,
          condition: updated(
            'False',
            'evictionInProgress',
            'Aggregates unchanged while terminating and eviction in progress',
          ),
        };
  }
  const { state } = onboardingOf(observed);
  if (state === 'none' || state === 'aborted') return untouched;
  const zone = zoneOf(context);
  if (state === 'initial' || state === 'testing') {
    // A host that comes back from maintenance is kept off by being disabled; only a server of the tests
    // would need more.
    if (state === 'testing' && isReturning(observed) && !settings.checks.includes('smoke')) return untouched;
    if (zone === null) return untouched;
    const open = isolationProblem(observed.aggregates, settings.testAggregate);
    const condition = updated(
      'False',
      'test',
      `Test aggregate applied during onboarding instead of spec aggregates${open === null ? '' : `; ${open}`}`,
    );
    return { names: [zone, settings.testAggregate], condition };
  }
  if (state === 'handover' && planTraits(desired.customTraits, desired, observed).steps.length > 0) {
    return {
      names: null,
      condition: updated(
        'False',
        'waitingForTraits',
        'Waiting for traits to be applied before switching to spec aggregates',
      ),
    };
  }
  return {
    names: desired.aggregates,
    condition: updated('True', 'succeeded', 'Aggregates from spec applied successfully'),
  };
}

/** The host's zone: the Hypervisor has its Node's label. */
export const zoneOf = ({ desired }: Pick<Context, 'desired'>): string | null =>
  desired.labels[nodeMetadata.zone] || null;

/** Nova's scheduler lets only the projects named there onto the hosts of an aggregate; several keys may begin so. */
const tenantKey = 'filter_tenant_id';

/**
 * Why the test aggregate lets every project onto its hosts; null: it does not, or there is none. Pure.
 *
 * @see Nova's configuration guide, AggregateMultiTenancyIsolation and limit_tenants_to_placement_aggregate
 */
export function isolationProblem(aggregates: readonly ObservedAggregate[], testAggregate: string): string | null {
  const found = aggregates.find(({ name }) => name === testAggregate);
  if (
    found === undefined ||
    Object.entries(found.metadata).some(([key, value]) => key.startsWith(tenantKey) && value.trim() !== '')
  )
    return null;
  return `aggregate ${testAggregate} lets every project in: set its property ${tenantKey} to the project of the tests`;
}

export interface AggregatesPlan {
  /** In their order. Empty: the host is in exactly the wanted ones, or a problem stands in the way. */
  steps: Draft[];
  /** Why nothing is done, for people; null: nothing stands in the way. */
  problem: string | null;
}

/** Nova's metadata key that makes an aggregate a zone. */
const zoneKey = 'availability_zone';

/**
 * The way from the aggregates that a host is in to exactly those that it should be in. It is added before it is
 * removed, so that no moment leaves it without the filter that keeps guests off it. Nothing is done while one of them
 * does not exist; all such are named.
 *
 * @param host      Nova's compute host, as aggregates know it
 * @param hasServers Nova moves no host with servers from one zone to another
 */
export function planAggregates(
  wanted: readonly string[],
  known: readonly ObservedAggregate[],
  host: string,
  hasServers: boolean,
): AggregatesPlan {
  const names = [...new Set(wanted)];
  const missing = names.filter((name) => !known.some((aggregate) => aggregate.name === name));
  if (missing.length > 0) return { steps: [], problem: `aggregates not found: [${missing.join(' ')}]` };

  const add = known.filter(({ name, hasHost }) => names.includes(name) && !hasHost);
  const remove = known.filter(({ name, hasHost }) => !names.includes(name) && hasHost);
  const clash = findZoneClash(known, add);
  if (clash === null) return { steps: change(host, ['add', add], ['remove', remove]), problem: null };

  const { from, to } = clash;
  const zones = `${host} is in zone ${from.metadata[zoneKey]} by aggregate ${from.name}, and ${to.name} is of zone ${to.metadata[zoneKey]}`;
  if (!remove.includes(from)) return { steps: [], problem: `${zones}: a host is in one zone only` };
  if (hasServers) return { steps: [], problem: `${zones}: Nova moves no host with servers from zone to zone` };
  // Nova refuses a second zone, so this one goes first; all other filters stay on meanwhile.
  const soon = add.filter((aggregate) => aggregate !== to);
  const others = remove.filter((aggregate) => aggregate !== from);
  return { steps: change(host, ['add', soon], ['remove', [from]], ['add', [to]], ['remove', others]), problem: null };
}

/** An aggregate that the host is in and one that it shall be in, of two zones. */
function findZoneClash(
  known: readonly ObservedAggregate[],
  add: readonly ObservedAggregate[],
): { from: ObservedAggregate; to: ObservedAggregate } | null {
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

/** One step, in that order; none where nothing is to be changed. */
function change(
  host: string,
  ...wanted: readonly (readonly [kind: AggregateChange['kind'], aggregates: readonly ObservedAggregate[]])[]
): Draft[] {
  const changes = wanted
    .filter(([, aggregates]) => aggregates.length > 0)
    .map(([kind, aggregates]) => ({ kind, aggregates: aggregates.map(({ id, name }) => ({ id, name })) }));
  if (changes.length === 0) return [];
  const parts = changes.map(({ kind, aggregates }) => {
    const names = aggregates.map(({ name }) => name).join(', ');
    return kind === 'add' ? `add ${host} to aggregates ${names}` : `remove ${host} from aggregates ${names}`;
  });
  const summary = parts.join(', ');
  return [
    { kind: 'changeAggregates', host, changes, summary: `${summary.charAt(0).toUpperCase()}${summary.slice(1)}` },
  ];
}
