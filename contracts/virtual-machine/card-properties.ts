import type { VirtualMachineSpec } from '../crds/virtual-machine.ts';

/**
 * Settings of a network card that vCenter keeps in the VM's ExtraConfig, as `ethernet<number>.<name>`. Names and values
 * are upstream's.
 */

type Interface = NonNullable<NonNullable<VirtualMachineSpec['network']>['interfaces']>[number];
type Vmxnet3 = NonNullable<Interface['vmxnet3']>;

/** What an interface asks for, by the names without the number. */
export function cardProperties({ vmxnet3, advancedProperties = [] }: Interface): Record<string, string> {
  const known = vmxnet3 === undefined ? {} : vmxnet3Properties(vmxnet3);
  const more = advancedProperties.filter(({ key }) => !isVmxnet3Key(key));
  return { ...Object.fromEntries(more.map(({ key, value = '' }) => [key, value])), ...known };
}

const contexts: Readonly<Record<string, string>> = { PerDevice: '1', PerVM: '2', PerQueue: '3' };
const schemes: Readonly<Record<string, string>> = {
  Disabled: 'disabled',
  Adapt: 'adapt',
  Static: 'static',
  RateBasedCoalescing: 'rbc',
};
const features: Readonly<Record<string, number>> = { LargeReceiveOffload: 1, ReceiveSideScaling: 4 };

function vmxnet3Properties({
  ctxPerDev,
  rssOffloadEnabled,
  udpRssEnabled,
  pnicFeatures = [],
  coalescingScheme,
  coalescingParams,
}: Vmxnet3): Record<string, string> {
  const bits = new Set(pnicFeatures.map((feature) => features[feature] ?? Number(feature)));
  return {
    ...(ctxPerDev !== undefined && { ctxPerDev: contexts[ctxPerDev] ?? ctxPerDev }),
    ...(rssOffloadEnabled !== undefined && { rssoffload: rssOffloadEnabled ? 'TRUE' : 'FALSE' }),
    ...(udpRssEnabled !== undefined && { udpRSS: udpRssEnabled ? '1' : '2' }),
    ...(bits.size > 0 && { pnicFeatures: String([...bits].reduce((sum, bit) => sum + bit, 0)) }),
    ...(coalescingScheme !== undefined && { coalescingScheme: schemes[coalescingScheme] ?? coalescingScheme }),
    ...(coalescingParams !== undefined && { coalescingParams }),
  };
}

const isVmxnet3Key = (key: string): boolean =>
  /^(ctxPerDev|rssoffload|udpRSS|pnicFeatures|coalescingScheme|coalescingParams)$/iu.test(key);

/**
 * What the platform decides of a card: where it is connected, which address it has, what filters it. No user of a
 * namespace may.
 */
export const isPlatformProperty = (key: string): boolean =>
  /^(present|virtualDev|networkName|connectionType|addressType|address|checkMACAddress|generatedAddress(Offset)?|startConnected|allowGuestConnectionControl|pciSlotNumber|externalId|bsdName|displayName|vnet|noPromisc|noForgedSrcAddr|uptCompatibility|dvs\..*|opaqueNetwork\..*|filter\d*\..*|.*\.managedKeys)$/iu.test(
    key,
  );

/** The number of a card in these keys; null: its device key is of no card. */
export const cardNumber = (deviceKey: number | null): number | null =>
  deviceKey === null || deviceKey < firstCardKey || deviceKey >= firstCardKey + 100 ? null : deviceKey - firstCardKey;

const firstCardKey = 4_000;

/** Keys that may have those of any card: which one it will be is not known before. */
export const propertyKeys = (names: readonly string[]): string[] =>
  names.flatMap((name) => Array.from({ length: mostCards }, (_, number) => `ethernet${number}.${name}`));

const mostCards = 10;
