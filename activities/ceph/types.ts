import type { HttpTimeouts } from '../lib/http.ts';

/** How to ask a Ceph cluster how it is, and what is expected of it. */
export interface CephSettings {
  /**
   * Dashboards of the managers: `https://mgr-1:8443`. Only that of the active manager serves; they are tried
   * in this order.
   */
  dashboards: readonly string[];
  user: string;
  password: string;
  /** PEM; null: what the system trusts. */
  ca: string | null;
  /** Pools that must be there for block devices. */
  pools: readonly string[];
  /** Names of health checks that may warn: `OSD_NEARFULL`. */
  toleratedChecks: readonly string[];
  timeouts?: Partial<HttpTimeouts>;
}

export interface CephHealth {
  /** `HEALTH_OK`, `HEALTH_WARN`, `HEALTH_ERR`. */
  status: string;
  checks: CephHealthCheck[];
}

export interface CephHealthCheck {
  /** `OSD_DOWN` and the like. */
  type: string;
  severity: string;
  message: string;
  /** What it says of single daemons and hosts; empty where it names none. */
  details: readonly string[];
  /** A user muted it. */
  muted: boolean;
}

export interface CephPool {
  name: string;
  /** What it is enabled for: `rbd`, `cephfs`, `rgw`. */
  applications: string[];
}

/** A cluster's client, as `openCeph` of client.ts makes it. Nothing is sent before the first question. */
export type OpenCeph = (settings: CephSettings) => CephClient;

/**
 * A cluster, through the REST API of its dashboard. One token for all calls, fetched when it is needed and renewed once
 * when it is refused.
 *
 * Failures: `CephUnavailable`, `CephCredentialRefused`, `CephNotPermitted`,
 * `CertificateNotTrusted`, `AnswerMalformed`, `RequestRefused`.
 */
export interface CephClient {
  /**
   * What the manager received last. It may be old: with a monitor that died it goes on saying HEALTH_OK, and an OSD
   * that died without a word is noticed late. So this alone proves nothing; a hypervisor that lists a pool does.
   */
  health(signal: AbortSignal): Promise<CephHealth>;
  pools(signal: AbortSignal): Promise<CephPool[]>;
  close(): Promise<void>;
}
