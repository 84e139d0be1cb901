import type { DeviceChange, NetworkCard, VmConfig } from '../../../contracts/virtual-machine/config.ts';
import type { WantedNetworkCard } from '../../../contracts/virtual-machine/lifecycle.ts';
import { cardNumber, isPlatformProperty } from '../../../contracts/virtual-machine/card-properties.ts';
import { appliedCardKeys, extraConfigKeys, isFormerCardList } from '../../../contracts/virtual-machine/metadata.ts';
import { cardRecordText, matchCards, readCardRecord } from '../../../contracts/virtual-machine/network-cards.ts';
import type { ObservedNetwork } from '../../../contracts/virtual-machine/observation.ts';
import { removal, type DeviceDifference } from './diff-config.ts';

type NetworkConfig = Pick<VmConfig, 'networkCards' | 'extraConfig' | 'hardwareVersion' | 'firmware'>;

export interface NetworkDifference extends DeviceDifference {
  /** What cannot be done as the VM is, for the message. */
  unmet: string[];
  /** Keys of ExtraConfig with the values that they shall have. */
  extraConfig: Record<string, string>;
}

/**
 * What the cards of a VM differ in. One that is to be connected elsewhere is moved, one of another type or address is
 * replaced, one that no interface of the spec is goes: all of it while the VM is off, as a guest that runs is not taken
 * off its network, let alone connected to another interface's. Which card is which interface is recorded in the VM as
 * soon as it has several.
 *
 * @param fullMemory all of the VM's memory is reserved
 */
export function diffNetworkCards(
  wanted: readonly WantedNetworkCard[],
  network: ObservedNetwork | null,
  config: NetworkConfig,
  isOff: boolean,
  fullMemory: boolean,
): NetworkDifference {
  const { networkCards: cards, extraConfig } = config;
  const changes: DeviceChange[] = [];
  const whenOff: string[] = [];
  const unmet: string[] = [];
  const later = (what: string, ...needed: DeviceChange[]): void =>
    void (isOff ? changes.push(...needed) : whenOff.push(what));
  const before = readCardRecord(extraConfig);
  const interfaces = interfacesOf(wanted, network);
  const matched = matchCards(interfaces, cards, before);
  const spare = cards
    .filter((card) => ![...matched.values()].includes(card))
    .toSorted((a, b) => (a.key ?? 0) - (b.key ?? 0));
  // What is not matched may be the card of the one whose network is not known.
  const isUndecided = interfaces.some(({ name, backing }) => backing === null && !matched.has(name));
  // First, as a VM has room for ten.
  if (!isUndecided) for (const { key } of spare) later(`remove card ${String(key)}`, removal('networkCard', key));

  for (const one of interfaces) {
    const { name, type, macAddress, backing } = one;
    if (backing === null) continue;
    const there = matched.get(name);
    const made: DeviceChange = {
      operation: 'add',
      device: 'networkCard',
      card: { key: null, type, backing, macAddress },
    };
    if (there === undefined) {
      if (!isUndecided || spare.length === 0) later(`add ${name}`, made);
    } else if (there.type !== type || (macAddress !== null && macAddress !== there.macAddress))
      later(`replace ${name}`, removal('networkCard', there.key), made);
    else {
      const edited = editCard(there, { ...one, backing }, config, isOff, fullMemory);
      whenOff.push(...edited.whenOff.map((what) => `${what} of ${name}`));
      unmet.push(...edited.unmet.map((what) => `${what} of ${name}`));
      if (edited.card !== null) changes.push({ operation: 'edit', device: 'networkCard', card: edited.card });
    }
  }
  const named = interfaces.flatMap(({ name }) => {
    const key = matched.get(name)?.key ?? null;
    return key === null ? [] : [[name, key] as const];
  });
  const properties = diffProperties(interfaces, new Map(named), extraConfig, isOff);
  return {
    changes,
    whenOff: [...whenOff, ...properties.whenOff],
    unmet: [...unmet, ...properties.unmet],
    extraConfig: { ...recordOf(named, cards, before, changes), ...properties.extraConfig },
  };
}

type Found = WantedNetworkCard & { backing: string };

/**
 * What of a card can be changed: where it is connected and its NUMA node while the VM is off, UPT at any time, as
 * upstream does it.
 */
function editCard(
  there: NetworkCard,
  { backing, uptv2Enabled = false, vnumaNode }: Found,
  { hardwareVersion, firmware }: NetworkConfig,
  isOff: boolean,
  fullMemory: boolean,
): { card: NetworkCard | null; whenOff: string[]; unmet: string[] } {
  const { uptv2Enabled: _, numaNode: before, ...same } = there;
  const whenOff: string[] = [];
  const unmet: string[] = [];
  const change = (what: string, needs: string | null, isHot = false): boolean => {
    if (needs !== null) unmet.push(`${what} (needs ${needs})`);
    else if (!isOff && !isHot) whenOff.push(what);
    else return true;
    return false;
  };
  const isNew = hardwareVersion >= newestNeeded;
  const hardware = isNew ? null : `hardware version ${newestNeeded}, and it has ${hardwareVersion}: minHardwareVersion`;
  const memory = fullMemory ? null : 'all of its memory reserved: memoryAdvanced.reservationLockedToMax';
  const moves = there.backing !== backing && change('the network', null);
  const isUpt = (there.uptv2Enabled ?? false) !== uptv2Enabled;
  const switches = isUpt && change('uptv2Enabled', uptv2Enabled ? (hardware ?? memory) : null, true);
  const efi = firmware === 'efi' ? null : 'firmware efi';
  const places = before !== vnumaNode && change('vnumaNodeID', vnumaNode === undefined ? null : (hardware ?? efi));
  const node = places ? vnumaNode : before;
  const card: NetworkCard = {
    ...same,
    backing: moves ? backing : there.backing,
    ...((switches ? uptv2Enabled : there.uptv2Enabled === true) && { uptv2Enabled: true }),
    ...(node !== undefined && { numaNode: node }),
  };
  return { card: moves || switches || places ? card : null, whenOff, unmet };
}

/** vSphere 8. */
const newestNeeded = 20;

/**
 * Settings of cards in ExtraConfig, while the VM is off: a guest that runs would not take notice of most before its
 * next start. What is no longer asked for is taken away, also what the operator before had applied.
 */
function diffProperties(
  interfaces: readonly WantedNetworkCard[],
  keys: ReadonlyMap<string, number>,
  current: Readonly<Record<string, string>>,
  isOff: boolean,
): { extraConfig: Record<string, string>; whenOff: string[]; unmet: string[] } {
  const unmet: string[] = [];
  const wanted: Record<string, string> = {};
  for (const { name, properties = {} } of interfaces) {
    const number = cardNumber(keys.get(name) ?? null);
    if (number === null) continue;
    for (const [property, value] of Object.entries(properties)) {
      if (isPlatformProperty(property))
        unmet.push(`${property} of ${name} (only the platform sets it: leave it out of advancedProperties)`);
      else wanted[`ethernet${number}.${property}`] = value;
    }
  }
  const applied = appliedCardKeys(current);
  const all = {
    ...Object.fromEntries(
      Object.keys(current)
        .filter(isFormerCardList)
        .map((key) => [key, '']),
    ),
    ...Object.fromEntries(applied.map((key) => [key, ''])),
    ...wanted,
    [extraConfigKeys.networkProperties]: Object.keys(wanted).toSorted().join(','),
  };
  const differing = Object.entries(all).filter(([key, value]) => (current[key] ?? '') !== value);
  if (isOff) return { extraConfig: Object.fromEntries(differing), whenOff: [], unmet };
  const waiting = differing.filter(([key]) => key.startsWith('ethernet')).map(([key]) => key);
  return { extraConfig: {}, whenOff: waiting, unmet };
}

/** The interfaces of the spec with what they are to be connected to. */
export const interfacesOf = (
  wanted: readonly WantedNetworkCard[],
  network: ObservedNetwork | null,
): (WantedNetworkCard & { backing: string | null })[] =>
  wanted.map((card) => ({
    ...card,
    backing: network?.interfaces.find(({ name }) => name === card.name)?.backing ?? null,
  }));

/**
 * Of the cards that are there and stay. A card that goes is taken out of the record by the very change that takes it
 * off, as another one may get its key; a new one is recorded when it is there. An only card needs no record.
 */
function recordOf(
  named: readonly (readonly [name: string, key: number])[],
  cards: readonly NetworkCard[],
  before: ReadonlyMap<string, number>,
  changes: readonly DeviceChange[],
): Record<string, string> {
  const gone = new Set(changes.flatMap((change) => (change.operation === 'remove' ? [change.key] : [])));
  const names = new Set(named.map(([name]) => name));
  const taken = new Set(named.map(([, key]) => key));
  const former = [...before].filter(
    ([name, key]) => !names.has(name) && !taken.has(key) && cards.some((card) => card.key === key),
  );
  const record = new Map([...named, ...former].filter(([, key]) => !gone.has(key)));
  return cards.length > 1 || before.size > 0 ? { [extraConfigKeys.networkCards]: cardRecordText(record) } : {};
}
