import type { SharedLimit } from './allowance.ts';
import { turnKinds } from './allowance.ts';

/** What a run is asked to share out; null: it does not say. Where it says nothing of what, it is migrations. */
export function readShared(input: unknown): SharedLimit | null {
  const { of = 'migrations', region, vcenter } = Object(input) as Record<string, unknown>;
  if (of === 'migrations') return isText(region) ? { of, region } : null;
  const turn = turnKinds.find((kind) => kind === of);
  return turn !== undefined && isText(vcenter) ? { of: turn, vcenter } : null;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** As the input of a run says it. */
export const inputOf = (shared: SharedLimit): { region: string } | Exclude<SharedLimit, { of: 'migrations' }> =>
  shared.of === 'migrations' ? { region: shared.region } : shared;

/** Name of the region or the vCenter: the search attribute DroverObject. */
export const objectOf = (shared: SharedLimit): string =>
  shared.of === 'migrations' ? shared.region : `${shared.vcenter}/${shared.of}`;

/** `region RegionOne`, `vCenter prod`. */
export const placeOf = (shared: SharedLimit): string =>
  shared.of === 'migrations' ? `region ${shared.region}` : `vCenter ${shared.vcenter}`;
