import type { ReconfigSpec } from '../../../contracts/virtual-machine/config.ts';
import { extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';

/** Parts of a configuration, each with a condition of its own. */
export type ConfigPart = 'compute' | 'network' | 'cdrom' | 'extraConfig' | 'policies';
export type ByPart = Record<ConfigPart, string[]>;

/** Drover's own notes, which no condition speaks of. */
const ownKeys: readonly string[] = [
  extraConfigKeys.namespacedName,
  extraConfigKeys.objectUid,
  extraConfigKeys.restartIntent,
  extraConfigKeys.lastRestartTime,
  extraConfigKeys.networkCards,
  extraConfigKeys.networkProperties,
  extraConfigKeys.policyTags,
];

/** What a spec changes, for messages. Pure. */
export function changesOf(spec: ReconfigSpec | null): ByPart {
  const { managedBy: _, annotation: __, deviceChange = [], extraConfig = [], tagSpecs = [], ...rest } = spec ?? {};
  const devices = deviceChange.map(({ operation, device }) => ({ device, text: `${operation} ${device}` }));
  const of = (isOf: (device: string) => boolean): string[] =>
    devices.filter(({ device }) => isOf(device)).map(({ text }) => text);
  return {
    compute: [...Object.keys(rest), ...of((device) => device !== 'networkCard' && device !== 'cdrom')],
    network: of((device) => device === 'networkCard'),
    cdrom: of((device) => device === 'cdrom'),
    extraConfig: extraConfig.map(({ key }) => key).filter((key) => !ownKeys.includes(key)),
    policies: tagSpecs.map(({ operation, tag }) => `${operation} tag ${tag}`),
  };
}

export const joinParts = (one: ByPart, other: ByPart): ByPart => ({
  compute: [...one.compute, ...other.compute],
  network: [...one.network, ...other.network],
  cdrom: [...one.cdrom, ...other.cdrom],
  extraConfig: [...one.extraConfig, ...other.extraConfig],
  policies: [...one.policies, ...other.policies],
});
