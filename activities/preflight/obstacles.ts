import type { Obstacle, ObstacleCode } from '../../contracts/eviction/eviction.ts';
import { instanceObstacleId, lockedObstacle } from '../../contracts/eviction/eviction.ts';
import type { InstanceDetail } from '../nova/types.ts';

/** Something about the host as a whole. Users accept it by its code. */
export const hostObstacle = (code: ObstacleCode, message: string): Obstacle => ({
  id: code,
  code,
  instanceId: null,
  message,
});

/** Something about one server. Users accept it by `code/server id`. */
export const instanceObstacle = (
  code: ObstacleCode,
  instance: { id: string; name: string },
  message: string,
): Obstacle => ({
  id: instanceObstacleId(code, instance.id),
  code,
  instanceId: instance.id,
  message: `${instance.name || instance.id}: ${message}`,
});

/** `a, b and 3 more`. */
export function listed(names: readonly string[], most = 5): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

interface CompatibilityOptions {
  /** Whether the disks of servers lie on the hosts themselves, so that moving a server copies them. */
  localDisks: boolean;
}

/** States from which Nova moves a server: live from the first two, cold from the first and the last. */
const movable: readonly string[] = ['active', 'paused', 'stopped'];

/** States that a task of Nova's leads out of by itself: they are waited for, and are no obstacles. */
const passing: readonly string[] = ['building', 'soft-delete', 'deleted'];

/**
 * What about a server itself keeps Nova from moving it. What it runs on decides whether it has to move live: devices
 * stay behind only then. As the checks of Nova's own API and conductor.
 */
export function judgeInstance(instance: InstanceDetail, { localDisks }: CompatibilityOptions): Obstacle[] {
  // Who is on the way out needs no way to move.
  if (instance.taskState === 'deleting' || instance.taskState === 'soft-deleting') return [];
  const obstacles: Obstacle[] = [];
  const add = (code: Obstacle['code'], message: string): void =>
    void obstacles.push(instanceObstacle(code, instance, message));
  if (instance.vmState === 'resized')
    add(
      'UnconfirmedResize',
      'its resize on this host is not confirmed, and Nova does not move it: confirm or revert the resize',
    );
  else if (!movable.includes(instance.vmState) && !passing.includes(instance.vmState)) {
    add(
      'InstanceState',
      `Nova does not move a server that is ${instance.vmState}${instance.fault === null ? '' : ` (${instance.fault})`}`,
    );
  }
  if (instance.locked) obstacles.push(lockedObstacle(instance));
  if (localDisks && instance.localDiskGiB > 0)
    add('LocalDisk', `${instance.localDiskGiB} GiB of its disks lie on the host and are copied over the network`);
  if (instance.vmState === 'active' || instance.vmState === 'paused')
    for (const [code, message] of devicesOf(instance)) add(code, message);
  return obstacles;
}

function devicesOf({ extraSpecs, imageProperties = {} }: InstanceDetail): [Obstacle['code'], string][] {
  const found: [Obstacle['code'], string][] = [];
  const keys = Object.keys(extraSpecs);
  const alias = extraSpecs['pci_passthrough:alias'];
  if (alias !== undefined) found.push(['PciDevice', `its PCI device ${alias} cannot move with it while it runs`]);
  if (extraSpecs['accel:device_profile'] !== undefined)
    found.push([
      'PciDevice',
      `its accelerator ${extraSpecs['accel:device_profile']} cannot move with it while it runs`,
    ]);
  if (keys.some((key) => /^resources[A-Za-z0-9_-]*:VGPU$/u.test(key)))
    found.push(['Vgpu', 'its virtual GPU cannot move with it while it runs']);
  const hasTpm = extraSpecs['hw:tpm_version'] !== undefined || imageProperties['hw_tpm_version'] !== undefined;
  // The secret of a TPM can only travel where the host, and not the user alone, can read it.
  if (hasTpm && extraSpecs['hw:tpm_secret_security'] !== 'host')
    found.push(['Vtpm', 'its virtual TPM cannot move with it while it runs']);
  if (isTrue(extraSpecs['hw:mem_encryption']) || isTrue(imageProperties['hw_mem_encryption']))
    found.push(['NoValidTarget', 'its memory is encrypted, so Nova does not move it while it runs']);
  return found;
}

const isTrue = (value: string | undefined): boolean => value !== undefined && /^(true|yes|on|1|t|y)$/iu.test(value);
