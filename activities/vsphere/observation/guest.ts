import { isIP } from 'node:net';

import { z } from 'zod';

import type { ObservedGuest } from '../../../contracts/virtual-machine/observation.ts';
import { vim } from '../wire/kinds.ts';
import type { GuestNicInfo } from '../wire/vim/types.ts';

export const guestPaths = [
  'guest.toolsRunningStatus',
  'guest.ipAddress',
  'guest.hostName',
  'guest.guestId',
  'guest.guestFullName',
  'guest.net',
  'guest.ipStack',
  'guest.customizationInfo',
  'guestHeartbeatStatus',
] as const;

const text = z.string().optional();

const properties = z.object({
  'guest.toolsRunningStatus': text,
  'guest.ipAddress': text,
  'guest.hostName': text,
  'guest.guestId': text,
  'guest.guestFullName': text,
  'guest.net': z.array(vim('GuestNicInfo')).default([]),
  'guest.customizationInfo': vim('GuestInfoCustomizationInfo').optional(),
  guestHeartbeatStatus: z.enum(['gray', 'green', 'red', 'yellow']).nullable().catch(null).default(null),
});

const silent: ObservedGuest = {
  toolsRunning: false,
  known: false,
  heartbeat: null,
  primaryIp4: null,
  primaryIp6: null,
  hostName: null,
  guestId: null,
  guestFullName: null,
  customization: null,
  customizationMessage: null,
};

/** What the guest says of itself. */
export function toGuest(read: Readonly<Record<string, unknown>>): ObservedGuest {
  const parsed = properties.safeParse(read);
  if (!parsed.success) return silent;
  const data = parsed.data;
  const customization = data['guest.customizationInfo'];
  const said = [data['guest.ipAddress'] ?? '', ...addressesOf(data['guest.net'])];
  return {
    toolsRunning: data['guest.toolsRunningStatus'] === 'guestToolsRunning',
    known: data['guest.toolsRunningStatus'] !== undefined,
    heartbeat: data.guestHeartbeatStatus,
    primaryIp4: said.find((address) => isIP(address) === 4 && isReachable(address)) ?? null,
    primaryIp6: said.find((address) => isIP(address) === 6 && isReachable(address)) ?? null,
    hostName: data['guest.hostName'] || null,
    guestId: data['guest.guestId'] || null,
    guestFullName: data['guest.guestFullName'] || null,
    customization: customization?.customizationStatus ?? null,
    customizationMessage: customization?.errorMsg || null,
  };
}

/** Of real cards: a guest's bridges and tunnels have no device. */
const addressesOf = (cards: readonly GuestNicInfo[]): string[] =>
  cards
    .filter(({ deviceConfigId }) => deviceConfigId >= 0)
    .flatMap(({ ipConfig, ipAddress = [] }) => ipConfig?.ipAddress?.map((one) => one.ipAddress) ?? ipAddress);

/** Not of the guest or its link alone. */
const isReachable = (address: string): boolean => !/^(0\.0\.0\.0|127\.|169\.254\.|::1?$|fe[89ab])/iu.test(address);
