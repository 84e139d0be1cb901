/** Where an OVSDB server listens, as Open vSwitch itself writes it: `tcp:HOST:PORT`, `ssl:HOST:PORT`. */
export interface OvsdbRemote {
  protocol: 'tcp' | 'ssl';
  /** Name or address, without brackets. */
  host: string;
  port: number;
}

/** PEM. What drover shows to OVSDB servers, and whom it believes. */
export interface OvsdbCredential {
  ca: string;
  certificate: string;
  key: string;
}

/** What is expected of Open vSwitch on every hypervisor. */
export interface OvsSettings {
  /**
   * `ssl:{host}:6640`; `{host}` stands for the hypervisor's name. `tcp:` is not authenticated: every client that
   * reaches it may change everything.
   */
  remote: string;
  /** Null: `tcp` only. */
  credential: OvsdbCredential | null;
  bridges: ExpectedBridges;
  timeouts?: Partial<OvsdbTimeouts>;
}

export interface ExpectedBridges {
  required: readonly string[];
  /** Those need not be there; where they are, they have to work. */
  optional: readonly string[];
}

export interface OvsdbTimeouts {
  /** Until the connection stands, TLS included. */
  connectMs: number;
  /** From a request to the end of its answer. */
  answerMs: number;
}

/** Connects to a host's Open vSwitch, as `openOvs` of client.ts does. The caller closes it. */
export type OpenOvs = (
  remote: OvsdbRemote,
  options: { credential: OvsdbCredential | null; timeouts?: Partial<OvsdbTimeouts> },
  signal: AbortSignal,
) => Promise<OvsClient>;

/** Open vSwitch's own database; OVN's servers have others. */
export const database = 'Open_vSwitch';

/** What the database {@link database} of a host says, read in one transaction. */
export interface OvsView {
  /** As `ovs_version` has it: `3.1.0`; null where ovs-vswitchd has never run. */
  version: string | null;
  bridges: OvsBridge[];
}

export interface OvsBridge {
  name: string;
  /** `system` for the kernel's, `netdev` for userspace; empty means `system`. */
  datapathType: string;
  ports: OvsPort[];
}

/** A bond has more than one interface. */
export interface OvsPort {
  name: string;
  interfaces: OvsInterface[];
}

export interface OvsInterface {
  name: string;
  /** `internal`, `patch`, `vxlan` …; empty for a device of the system. */
  type: string;
  /** What ovs-vswitchd says that is wrong; null: nothing. */
  error: string | null;
  /** OpenFlow port; -1 where it could not be made, null where ovs-vswitchd has not come to it. */
  ofport: number | null;
}

/**
 * An open connection to a host's OVSDB server. Its first failure ends it.
 *
 * Failures: `OvsUnavailable`, `CertificateNotTrusted`, `AnswerMalformed`, `RequestRefused`.
 */
export interface OvsClient {
  /** Names of the server's databases. */
  databases(signal: AbortSignal): Promise<string[]>;
  view(signal: AbortSignal): Promise<OvsView>;
  close(): void;
}
