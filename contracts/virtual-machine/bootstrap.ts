import type { BootstrapKind } from './lifecycle.ts';
import type { ObjectName } from './mutations.ts';

/**
 * What the guest of a VM is set up with, as object and Secrets are now: read in the process that writes the VM, and by
 * no activity of its own, or it would be in the history.
 *
 * @param kind of the bootstrap that was decided on
 */
export type ReadBootstrap = (
  object: ObjectName,
  kind: BootstrapKind | null,
  signal: AbortSignal,
) => Promise<GuestSetup>;

/**
 * What the guest of a VM is set up with, Secrets and all. It goes from what reads the Secrets to what writes the VM,
 * within one process: never through a history, a log, a status or an argument of an activity. Only the hashes may.
 */
export interface GuestSetup {
  /** Keys that are not in their Secrets, as `secret/key`. While there are any, nothing is applied. */
  missingKeys: string[];
  /** What goes into the VM's configuration; null: nothing does. */
  config: GuestConfig | null;
  /** What goes into a guest customization; null: nothing does. */
  custom: GuestCustomization | null;
}

export interface GuestConfig {
  hash: string;
  /**
   * Keys of ExtraConfig with their values: what cloud-init reads.
   *
   * @param macAddresses of the VM's network cards, in the order of the spec; null: not known yet. The hash does not
   * depend on them
   */
  extraConfig(macAddresses: readonly (string | null)[]): Record<string, string>;
  /** Values of vApp properties by their ids. */
  vAppProperties: Record<string, string>;
}

export interface GuestCustomization {
  hash: string;
  identity: LinuxIdentity | SysprepAnswers | SysprepText;
  nameservers: string[];
  searchDomains: string[];
  /** In the order of the spec. */
  interfaces: CustomizedInterface[];
}

/** `CustomizationLinuxPrep`. */
export interface LinuxIdentity {
  kind: 'LinuxPrep';
  hostName: string;
  domainName: string;
  timeZone: string | null;
  hardwareClockIsUtc: boolean | null;
  password: string | null;
  expirePassword: boolean;
  scriptText: string | null;
}

/** `CustomizationSysprep`. */
export interface SysprepAnswers {
  kind: 'Sysprep';
  computerName: string;
  fullName: string;
  orgName: string;
  productId: string | null;
  /** Null: no automatic logon, and no administrator password. */
  guiUnattended: { autoLogon: boolean; autoLogonCount: number; timeZone: number; password: string | null } | null;
  identification: {
    joinDomain: string | null;
    domainAdmin: string | null;
    domainAdminPassword: string | null;
    domainOU: string | null;
    joinWorkgroup: string | null;
  } | null;
  runOnce: string[];
  license: { autoMode: 'perSeat' | 'perServer'; autoUsers: number | null } | null;
  expirePassword: boolean;
  scriptText: string | null;
}

/** `CustomizationSysprepText`: a whole answer file. */
export interface SysprepText {
  kind: 'SysprepText';
  value: string;
}

/** `CustomizationIPSettings`. Addresses in CIDR notation. */
export interface CustomizedInterface {
  name: string;
  dhcp4: boolean;
  dhcp6: boolean;
  addresses: string[];
  gateway4: string | null;
  gateway6: string | null;
  nameservers: string[];
}
