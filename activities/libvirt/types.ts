import type { LibvirtEndpoint } from './endpoint.ts';

/** What libvirt on a hypervisor is to drover. Everything is plain data. */

/** PEM texts. */
export interface LibvirtCertificate {
  /** Who the host's certificate must be signed by. */
  ca: string;
  /** drover's own; null where the daemon asks for none. */
  cert: string | null;
  key: string | null;
}

/** What opens a daemon: read from files at use, and never part of settings, histories or logs. */
export interface LibvirtAccess {
  /** null: nothing but plain TCP. */
  certificate: LibvirtCertificate | null;
  /** For daemons with `auth_tls = "sasl"`. */
  credential: { user: string; password: string } | null;
}

export interface LibvirtTimeouts {
  /** For the connection, the TLS handshake, the login and opening the driver together. */
  connectMs: number;
  /** For an answer to a question. */
  callMs: number;
  /** For starting a VM. */
  startMs: number;
  /** For what makes libvirt talk to Ceph, which has 30 s itself. */
  storageMs: number;
  /** A sign of life is asked for this often; after five without any the connection is given up. */
  keepAliveMs: number;
}

export interface LibvirtVersions {
  /** Of the daemon, `major.minor.release`. */
  libvirt: string;
  /** Of the hypervisor, likewise. */
  hypervisor: string;
  /** `QEMU`, `CH`, `TEST`. */
  driver: string;
  hostname: string;
}

export interface LibvirtCapabilities {
  /** Of the host, such as `x86_64`. */
  architecture: string | null;
  /** `kvm`, `qemu`: what a domain's type may be, for any guest. */
  domainTypes: readonly string[];
}

export const domainStates = [
  'none',
  'running',
  'blocked',
  'paused',
  'shutting-down',
  'shut-off',
  'crashed',
  'suspended',
] as const;
export type DomainState = (typeof domainStates)[number];

export interface Domain {
  uuid: string;
  name: string;
}

export interface ListedDomain extends Domain {
  state: DomainState;
}

export interface StoragePool {
  uuid: string;
  name: string;
}

export interface StoragePoolInfo {
  isRunning: boolean;
  capacityBytes: number;
  allocationBytes: number;
  availableBytes: number;
}

/** A pool of RBD images that libvirt reaches. */
export interface RbdPool extends StoragePool {
  /** The pool's name in Ceph. */
  cephPool: string;
  monitors: readonly { host: string; port: number }[];
  /** Without `client.`; null where Ceph asks for none. */
  auth: { user: string; secretUuid: string } | null;
}

/**
 * One connection to the daemon of one host. A VM that was started with `autodestroy` ends with it.
 *
 * Failures of every call: `LibvirtUnavailable` (no answer in time, connection lost), `LibvirtRefused`,
 * `HypervisorFailed`, `LibvirtCredentialRefused` (its policy), `AnswerMalformed`; the signal's reason when
 * it is aborted.
 */
export interface LibvirtConnection {
  /** As the daemon calls what it opened, such as `qemu:///system`. */
  readonly uri: string;
  versions(signal: AbortSignal): Promise<LibvirtVersions>;
  capabilities(signal: AbortSignal): Promise<LibvirtCapabilities>;
  /** Running and defined ones, with their states; those that vanish meanwhile are left out. */
  domains(signal: AbortSignal): Promise<readonly ListedDomain[]>;
  /** @throws also `DomainNotFound` */
  domainState(domain: Domain, signal: AbortSignal): Promise<DomainState>;
  /**
   * Starts a transient domain.
   *
   * @param autodestroy the daemon destroys it when this connection ends, however that happens; only QEMU's driver can
   */
  createDomain(xml: string, options: { autodestroy: boolean }, signal: AbortSignal): Promise<Domain>;
  /** Makes sure that it neither runs nor is defined. Well where it was gone already. */
  removeDomain(domain: Domain, signal: AbortSignal): Promise<void>;
  /** As a person pressing the button: the guest starts anew, without shutting down. */
  resetDomain(domain: Domain, signal: AbortSignal): Promise<void>;
  /**
   * What happens to domains from now on, until the signal is aborted (which ends the stream) or the connection is lost
   * (which fails it). No event between the promise's fulfilment and the first reading is lost.
   */
  domainEvents(signal: AbortSignal): Promise<AsyncIterable<DomainEvent>>;

  /** null where there is none of that name. */
  findPool(name: string, signal: AbortSignal): Promise<StoragePool | null>;
  pools(signal: AbortSignal): Promise<readonly StoragePool[]>;
  /** Defines it, or defines it anew where one of the same name and UUID is there. */
  defineRbdPool(pool: RbdPool, signal: AbortSignal): Promise<StoragePool>;
  /** Makes sure that it runs, which reaches for Ceph: up to `storageMs`. */
  startPool(pool: StoragePool, signal: AbortSignal): Promise<void>;
  poolInfo(pool: StoragePool, signal: AbortSignal): Promise<StoragePoolInfo>;
  /** Reads the pool's images from Ceph: up to `storageMs`. A pool whose refresh fails does not run any more. */
  refreshPool(pool: StoragePool, signal: AbortSignal): Promise<void>;
  /** Names of its images, as the last refresh saw them. */
  poolVolumes(pool: StoragePool, signal: AbortSignal): Promise<readonly string[]>;
  /** Makes sure that it neither runs nor is defined. Images stay. */
  removePool(pool: StoragePool, signal: AbortSignal): Promise<void>;

  /** Makes sure that the daemon holds that key of Ceph's, in its memory only. */
  ensureCephSecret(secret: { uuid: string; user: string; key: Buffer }, signal: AbortSignal): Promise<void>;
  removeSecret(uuid: string, signal: AbortSignal): Promise<void>;

  /** Says good-bye and closes; at most a second. */
  close(): Promise<void>;
}

/** Opens the daemon of one host, as `connectLibvirt` of client.ts does. */
export type ConnectLibvirt = (
  endpoint: LibvirtEndpoint,
  access: LibvirtAccess,
  options: { timeouts?: Partial<LibvirtTimeouts> },
  signal: AbortSignal,
) => Promise<LibvirtConnection>;

export const stopDetails = [
  'shutdown',
  'destroyed',
  'crashed',
  'migrated',
  'saved',
  'failed',
  'from-snapshot',
] as const;
export type StopDetail = (typeof stopDetails)[number] | 'unknown';

export const suspendDetails = [
  'paused',
  'migrated',
  'io-error',
  'watchdog',
  'restored',
  'from-snapshot',
  'api-error',
  'post-copy',
  'post-copy-failed',
] as const;
export type SuspendDetail = (typeof suspendDetails)[number] | 'unknown';

export const watchdogActions = ['none', 'pause', 'reset', 'power-off', 'shutdown', 'debug', 'inject-nmi'] as const;
export type WatchdogAction = (typeof watchdogActions)[number] | 'unknown';

export const ioErrorActions = ['none', 'pause', 'report'] as const;
export type IoErrorAction = (typeof ioErrorActions)[number] | 'unknown';

/** What libvirt says that happened to a domain. */
export type DomainEvent = { domain: Domain } & (
  | {
      type:
        | 'defined'
        | 'undefined'
        | 'started'
        | 'resumed'
        | 'shutting-down'
        | 'suspended-by-guest'
        | 'crashed'
        | 'rebooted'
        | 'unknown';
    }
  | { type: 'stopped'; detail: StopDetail }
  | { type: 'suspended'; detail: SuspendDetail }
  | { type: 'watchdog'; action: WatchdogAction }
  | { type: 'io-error'; action: IoErrorAction; device: string; sourcePath: string; reason: string }
);
