/**
 * The ids that Machines have at their provider, as the replaced machine-controller-manager writes them
 * (docs/machine-safety.md#provider-ids): `vsphere://<region>/<BIOS UUID of the VM>` and
 * `openstack:///<region>/<id of the server>`.
 */

/** Of `MachineClass.provider`, in lower case: the replaced manager's providers spell it in several ways. */
export type ProviderName = 'vsphere' | 'openstack';

export interface ProviderId {
  readonly provider: ProviderName;
  readonly region: string;
  /** BIOS UUID or server id, in lower case. */
  readonly id: string;
}

const formats: readonly (readonly [ProviderName, RegExp])[] = [
  ['vsphere', /^vsphere:\/\/([^/]*)\/([^/]+)$/u],
  ['openstack', /^openstack:\/\/\/([^/]*)\/([^/]+)$/u],
];

/** Null for an id of another provider, and for what is none. */
export function readProviderId(text: string): ProviderId | null {
  for (const [provider, format] of formats) {
    const [, region, id] = format.exec(text) ?? [];
    if (region !== undefined && id !== undefined) return { provider, region, id: id.toLowerCase() };
  }
  return null;
}

/** As `Machine.spec.providerID` has it. */
export const writeProviderId = ({ provider, region, id }: ProviderId): string =>
  provider === 'vsphere' ? `vsphere://${region}/${id.toLowerCase()}` : `openstack:///${region}/${id.toLowerCase()}`;

/**
 * Whether two ids name one VM. The region does not count: an id is unique in all regions, and to take a healthy VM for
 * an orphan because a class has got another region would delete it. Ids of no known provider are compared as texts.
 */
export function isSameProviderId(one: string, other: string): boolean {
  const [a, b] = [readProviderId(one), readProviderId(other)];
  return a === null || b === null ? one === other : a.provider === b.provider && a.id === b.id;
}

/** What {@link isSameProviderId} compares, as a key of a Map. */
export function providerIdKey(text: string): string {
  const read = readProviderId(text);
  return read === null ? text : `${read.provider} ${read.id}`;
}
