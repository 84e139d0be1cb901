import type { InstanceDetail } from '../nova/types.ts';
import type { Resources } from '../placement/types.ts';

/** What the scheduler asks of Placement for a server: how much, and of what kind. */
export interface Requirements {
  resources: Resources;
  required: string[];
  forbidden: string[];
}

/** `resources:VGPU`, `resources1:VGPU`, `resources_GPU:VGPU`; `trait…` likewise. A numbered group asks for more of the same host. */
const resourceKey = /^resources(?<group>[A-Za-z0-9_-]{0,64}):(?<name>[A-Z0-9_]+)$/u;
const traitKey = /^trait(?<group>[A-Za-z0-9_-]{0,64}):(?<name>[A-Z0-9_]+)$/u;

/**
 * A server's requirements as Nova derives them from flavor and image. Numbered groups are added up: which provider of a host serves
 * which group is the scheduler's to find out.
 *
 * @see Nova documentation, "Extra Specs": resources, trait, hw:cpu_policy
 */
export function requirementsOf(instance: InstanceDetail): Requirements {
  const { extraSpecs, imageProperties = {} } = instance;
  const pinned = extraSpecs['hw:cpu_policy'] === 'dedicated' || imageProperties['hw_cpu_policy'] === 'dedicated';
  const resources: Resources = {
    [pinned ? 'PCPU' : 'VCPU']: instance.vcpus,
    MEMORY_MB: instance.memoryMiB,
    DISK_GB: instance.localDiskGiB,
  };
  const traits = new Map<string, string>();
  for (const [key, value] of Object.entries({ ...imageProperties, ...extraSpecs })) {
    const resource = resourceKey.exec(key)?.groups;
    if (resource?.['name'] !== undefined && /^\d+$/u.test(value)) {
      const inGroup = resource['group'] === '' ? 0 : (resources[resource['name']] ?? 0);
      resources[resource['name']] = inGroup + Number(value);
    }
    const trait = traitKey.exec(key)?.groups?.['name'];
    if (trait !== undefined) traits.set(trait, value);
  }
  const withValue = (wanted: string): string[] =>
    [...traits]
      .filter(([, value]) => value === wanted)
      .map(([name]) => name)
      .sort();
  return {
    resources: Object.fromEntries(
      Object.entries(resources)
        .filter(([, amount]) => amount > 0)
        .sort(byName),
    ),
    required: withValue('required'),
    forbidden: withValue('forbidden'),
  };
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

/** The same for servers that differ in nothing the scheduler asks Placement for, so that one question answers for all. */
export const requirementsKey = (requirements: Requirements): string => JSON.stringify(requirements);

/** The least of the same kind: tells "no such host" from "no room there now". */
export const leastOf = ({ resources, ...kind }: Requirements): Requirements => ({
  ...kind,
  resources: Object.fromEntries(
    Object.entries(resources).map(([name, amount]) => [
      name,
      ['VCPU', 'PCPU', 'MEMORY_MB', 'DISK_GB'].includes(name) ? 1 : amount,
    ]),
  ),
});
