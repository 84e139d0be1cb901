import type { NetworkCard } from './config.ts';
import type { WantedNetworkCard } from './lifecycle.ts';
import { extraConfigKeys } from './metadata.ts';

/**
 * Which network card of a VM is which interface of its spec. A VM may be connected to one network twice: then only what
 * was recorded tells.
 */

/** An interface of the spec, and what it is to be connected to; null: that is not known now. */
export type WantedInterface = Pick<WantedNetworkCard, 'name' | 'type' | 'macAddress'> & { backing: string | null };

/** Device keys by the names of interfaces, as recorded in the VM. What is nonsense is left out. */
export function readCardRecord(extraConfig: Readonly<Record<string, string>>): Map<string, number> {
  const rows = (extraConfig[extraConfigKeys.networkCards] ?? '').split(',').map((row) => row.split('='));
  return new Map(
    rows.flatMap(([name = '', key = '', ...rest]) =>
      name !== '' && /^\d+$/u.test(key) && rest.length === 0 ? [[name, Number(key)] as const] : [],
    ),
  );
}

export const cardRecordText = (record: ReadonlyMap<string, number>): string =>
  [...record].map(([name, key]) => `${name}=${key}`).join(',');

/**
 * The cards by the names of their interfaces: by what was recorded, else by the MAC address that the spec asks for,
 * else by the network, and what is left in its order, unless it is not known what one of these is connected to. Pure.
 *
 * @param cards of the VM; those of former interfaces, by the record, match only an interface on the same network
 */
export function matchCards(
  wanted: readonly WantedInterface[],
  cards: readonly NetworkCard[],
  record: ReadonlyMap<string, number>,
): Map<string, NetworkCard> {
  const matched = new Map<string, NetworkCard>();
  const free = new Set(cards.toSorted((a, b) => (a.key ?? 0) - (b.key ?? 0)));
  const pairUp = (fits: (one: WantedInterface, card: NetworkCard) => boolean): void => {
    for (const one of wanted.filter(({ name }) => !matched.has(name))) {
      const card = [...free].find((candidate) => fits(one, candidate));
      if (card === undefined) continue;
      matched.set(one.name, card);
      free.delete(card);
    }
  };
  pairUp(({ name }, { key }) => key !== null && record.get(name) === key);
  pairUp(({ macAddress }, card) => macAddress !== null && macAddress === card.macAddress);
  pairUp(
    ({ macAddress, backing, type }, card) => macAddress === null && backing === card.backing && type === card.type,
  );
  pairUp(({ macAddress, backing }, card) => macAddress === null && backing === card.backing);
  if (wanted.some(({ name, backing }) => backing === null && !matched.has(name))) return matched;
  const names = new Set(wanted.map(({ name }) => name));
  const former = new Set([...record].flatMap(([name, key]) => (names.has(name) ? [] : [key])));
  pairUp((_one, { key }) => !former.has(key ?? 0));
  return matched;
}
