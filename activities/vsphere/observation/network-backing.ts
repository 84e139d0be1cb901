import { z } from 'zod';

import { droverFailure } from '../../../runtime/failure.ts';
import { isA } from '../wire/kinds.ts';
import type { AnyVirtualDeviceBackingInfo } from '../wire/vim/types.ts';

/**
 * What a network card is connected to, as one text: `standard:<name>`, `distributed:<switch uuid>/<port group>`,
 * `opaque:<type>/<id>`. Runs compare it and give it back.
 */
export function backingText(backing: AnyVirtualDeviceBackingInfo | undefined): string {
  if (isA(backing, 'VirtualEthernetCardNetworkBackingInfo')) return `standard:${backing.deviceName}`;
  if (isA(backing, 'VirtualEthernetCardDistributedVirtualPortBackingInfo'))
    return `distributed:${backing.port.switchUuid}/${backing.port.portgroupKey ?? ''}`;
  if (isA(backing, 'VirtualEthernetCardOpaqueNetworkBackingInfo'))
    return `opaque:${backing.opaqueNetworkType}/${backing.opaqueNetworkId}`;
  return `other:${backing?.$type ?? ''}`;
}

/** @throws InvalidInput */
export function backingOf(text: string): AnyVirtualDeviceBackingInfo {
  const [, kind, first = '', second = ''] = /^(\w+):([^/]*)(?:\/(.*))?$/su.exec(text) ?? [];
  // A network's name may have a slash in it; vCenter writes it as %2f, but not everywhere.
  if (kind === 'standard')
    return { $type: 'VirtualEthernetCardNetworkBackingInfo', deviceName: text.slice('standard:'.length) };
  if (kind === 'distributed')
    return {
      $type: 'VirtualEthernetCardDistributedVirtualPortBackingInfo',
      port: { switchUuid: first, portgroupKey: second },
    };
  if (kind === 'opaque')
    return { $type: 'VirtualEthernetCardOpaqueNetworkBackingInfo', opaqueNetworkType: first, opaqueNetworkId: second };
  throw droverFailure('InvalidInput', `${text} is nothing that a network card can be connected to`);
}

const properties = z.object({
  name: z.string().default(''),
  key: z.string().optional(),
  'config.distributedVirtualSwitch': z.object({ value: z.string() }).optional(),
  summary: z
    .looseObject({ opaqueNetworkId: z.string().optional(), opaqueNetworkType: z.string().optional() })
    .optional(),
});

/** Of networks of any kind. `summary` is that of an opaque one. */
export const networkPaths = {
  Network: ['name'],
  DistributedVirtualPortgroup: ['key', 'config.distributedVirtualSwitch'],
  DistributedVirtualSwitch: ['uuid'],
  OpaqueNetwork: ['summary'],
} as const;

/**
 * The same text, from a network of the inventory.
 *
 * @param switchUuid by the id of the switch
 */
export function networkText(
  read: Readonly<Record<string, unknown>>,
  switchUuid: (id: string) => string | undefined,
): string | null {
  const parsed = properties.safeParse(read);
  if (!parsed.success) return null;
  const { name, key, summary, 'config.distributedVirtualSwitch': ofSwitch } = parsed.data;
  if (key !== undefined && ofSwitch !== undefined) {
    const uuid = switchUuid(ofSwitch.value);
    return uuid === undefined ? null : `distributed:${uuid}/${key}`;
  }
  if (summary?.opaqueNetworkId !== undefined)
    return `opaque:${summary.opaqueNetworkType ?? ''}/${summary.opaqueNetworkId}`;
  return name === '' ? null : `standard:${name}`;
}
