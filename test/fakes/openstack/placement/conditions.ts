import type { PlacementState, Provider, Resources } from '../model.ts';
import { refused, type PlacementCall } from './call.ts';
import { hasRoom } from './state.ts';

/** What `/resource_providers` and `/allocation_candidates` are filtered by. */
export interface Conditions {
  readonly resources: Resources;
  readonly required: readonly string[];
  readonly forbidden: readonly string[];
  /** Of each list, one. */
  readonly memberOf: readonly (readonly string[])[];
  readonly inTree: string | null;
}

export function conditionsOf(call: PlacementCall): Conditions {
  const { query } = call.request;
  const traits = query
    .getAll('required')
    .flatMap((value) => value.split(','))
    .filter((trait) => trait !== '');
  const unknown = traits
    .map((trait) => trait.replace(/^!/u, ''))
    .filter((trait) => !call.cloud.model.placement.traits.has(trait));
  if (unknown.length > 0)
    throw refused(
      call,
      400,
      `Invalid trait(s) in "required" parameter: No such trait(s): ${unknown.join(', ')}.`,
      'placement.query.bad_value',
    );
  return {
    resources: resourcesOf(call, query.get('resources')),
    required: traits.filter((trait) => !trait.startsWith('!')),
    forbidden: traits.filter((trait) => trait.startsWith('!')).map((trait) => trait.slice(1)),
    memberOf: query.getAll('member_of').map((value) => value.replace(/^in:/u, '').split(',')),
    inTree: query.get('in_tree'),
  };
}

function resourcesOf(call: PlacementCall, text: string | null): Resources {
  if (text === null) return {};
  const amounts = text
    .split(',')
    .map((part): [string, number] => [part.split(':')[0] ?? '', Number(part.split(':')[1])]);
  const wrong = amounts.find(([, amount]) => !(amount > 0));
  if (wrong !== undefined)
    throw refused(
      call,
      400,
      `Badly formed resources parameter. Expected resources query string parameter in form: ?resources=VCPU:2,MEMORY_MB:1024. Got: ${text}`,
      'placement.query.bad_value',
    );
  return Object.fromEntries(amounts);
}

/** Whether one provider alone meets them. */
export function meets(
  state: PlacementState,
  provider: Provider,
  { resources, required, forbidden, memberOf, inTree }: Conditions,
): boolean {
  if (inTree !== null && provider.rootUuid !== (state.providers.get(inTree)?.rootUuid ?? inTree)) return false;
  if (!required.every((trait) => provider.traits.has(trait)) || forbidden.some((trait) => provider.traits.has(trait)))
    return false;
  if (!memberOf.every((aggregates) => aggregates.some((uuid) => provider.aggregates.has(uuid)))) return false;
  return hasRoom(state, provider, resources);
}
