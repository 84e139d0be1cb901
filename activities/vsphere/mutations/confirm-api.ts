import { droverFailure } from '../../../runtime/failure.ts';
import type { Tools } from '../dependencies.ts';
import type { NeededApi } from '../types.ts';

/**
 * An older vCenter would refuse the whole request in words of its own.
 *
 * @param needed null: every vCenter that drover speaks to knows it
 * @returns how such a request is submitted
 * @throws InvalidObject where the vCenter is too old for it
 */
export async function confirmApi(
  { gateway, scope: { signal } }: Pick<Tools, 'gateway' | 'scope'>,
  needed: NeededApi | null,
): Promise<{ apiVersion?: string }> {
  if (needed === null) return {};
  const { version: apiVersion, vcenter, what } = needed;
  const version = await gateway.apiVersion(signal);
  if (!isAtLeast(version, apiVersion))
    throw droverFailure(
      'InvalidObject',
      `vCenter ${gateway.vcenter} does not know ${what}: that came with ${vcenter}, and its API is ${version}`,
    );
  return { apiVersion };
}

/** Whether an API of that version knows what came with the other. Pure. */
export function isAtLeast(version: string, needed: string): boolean {
  const [of, to] = [version, needed].map((text) => text.split('.').map(Number)) as [number[], number[]];
  const at = to.findIndex((part, index) => (of[index] ?? 0) !== part);
  return at === -1 || (of[at] ?? 0) > (to[at] ?? 0);
}
