import type { Tools } from '../dependencies.ts';
import type { VirtualMachine } from '../types.ts';

/**
 * Changes whenever the guest has started anew, as far as vCenter knows: by the boot time, and by the latest of its events that say so, as
 * a reset changes no boot time. Opaque.
 */
export async function readBootMark(
  { gateway, scope: { signal } }: Pick<Tools, 'gateway' | 'scope'>,
  { id, powerState, bootTime }: Pick<VirtualMachine, 'id' | 'powerState' | 'bootTime'>,
): Promise<string> {
  if (powerState === 'poweredOff') return 'off';
  return `${bootTime ?? ''}#${(await gateway.lastStart(id, signal)) ?? ''}`;
}
