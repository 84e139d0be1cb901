import { z } from 'zod';

import type { VirtualMachineStatus } from '../../../contracts/crds/virtual-machine.ts';
import { isA, vim } from '../wire/kinds.ts';
import type { CryptoKeyId, VirtualDisk } from '../wire/vim/types.ts';
import { virtualDisksOf } from './devices.ts';
import type { Devices } from './read-vm.ts';

export const cryptoPaths = ['config.keyId'] as const;

const properties = z.object({ 'config.keyId': vim('CryptoKeyId').optional().catch(undefined) });

/** By which key a VM or a disk is encrypted, as the status shows it; undefined: it is not. Pure. */
export const shownKey = (key: CryptoKeyId | undefined) =>
  key === undefined
    ? undefined
    : { keyID: key.keyId, ...(key.providerId !== undefined && { providerID: key.providerId.id }) };

/** What of a VM is encrypted: by another client, as drover encrypts nothing. Undefined: nothing. Pure. */
export function shownCrypto(read: Readonly<Record<string, unknown>>, devices: Devices): VirtualMachineStatus['crypto'] {
  const key = shownKey(properties.parse(read)['config.keyId']);
  const hasVTPM = devices.some((device) => isA(device, 'VirtualTPM'));
  const encrypted = [
    ...(key === undefined ? [] : ['Config']),
    ...(virtualDisksOf(devices).some((disk) => keyOfDisk(disk) !== undefined) ? ['Disks'] : []),
  ];
  if (encrypted.length === 0 && !hasVTPM) return undefined;
  return { ...key, ...(encrypted.length > 0 && { encrypted }), ...(hasVTPM && { hasVTPM }) };
}

export const keyOfDisk = ({ backing }: VirtualDisk): CryptoKeyId | undefined =>
  isA(backing, 'VirtualDiskFlatVer2BackingInfo') ? backing.keyId : undefined;
