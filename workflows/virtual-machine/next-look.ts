import type { Context } from './step.ts';

/**
 * When something is looked at again although all is done: where nobody tells of changes in vCenter, an address that is still to come. Everything
 * else that upstream requeues for is a wait of its own, with its deadline, or is told. Source: vm-and-machine.md A.3, requeueDelay.
 */
export function nextLook({
  desired,
  observed,
  settings,
  nowMs,
}: Context): { state: string; for: string; untilMs: number } | null {
  const { vm } = observed;
  if (vm === null || settings.asyncSignal || desired.networkDisabled || desired.networkCards.length === 0) return null;
  if (vm.powerState !== 'poweredOn' || vm.guest.primaryIp4 !== null || vm.guest.primaryIp6 !== null) return null;
  const endMs = (vm.upSinceMs ?? nowMs) + settings.addressMs;
  return nowMs < endMs
    ? {
        state: 'WaitingForAddress',
        for: 'an address of the guest',
        untilMs: Math.min(nowMs + settings.recheckMs, endMs),
      }
    : null;
}
