import { droverFailure } from '../../../runtime/failure.ts';
import type { Tools } from '../dependencies.ts';

/**
 * Right after the VM was searched, with the session that has searched it: what decided the create was observed in the
 * same vCenter. MoIDs mean something else in another one, and there it may be a second VM.
 *
 * @throws VsphereReplaced
 */
export async function confirmVcenter(
  { gateway, scope }: Pick<Tools, 'gateway' | 'scope'>,
  { name, managerId }: { name: string; managerId?: string },
): Promise<void> {
  if (managerId === undefined) return;
  const found = await gateway.managerId(scope.signal);
  if (found !== managerId)
    throw droverFailure(
      'VsphereReplaced',
      `vCenter ${gateway.vcenter} is ${found}, and ${name} was to be made in ${managerId}: it is not made`,
    );
}
