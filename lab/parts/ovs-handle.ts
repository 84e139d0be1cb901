import type { Certificate } from '../pki.ts';

/** What a test or another process needs to use the lab's OVSDB servers. */
export interface OvsHandle {
  /** The part's directory. */
  readonly dir: string;
  /** By the host's name. */
  readonly hosts: Readonly<Record<string, OvsHost>>;
  /** PEM file that verifies the servers, and whose certificates they take. */
  readonly caFile: string;
  readonly client: Certificate;
}

/** One OVSDB server, as Open vSwitch writes addresses. */
export interface OvsHost {
  /** `tcp:127.0.0.1:20123`: no authentication. */
  readonly tcp: string;
  /** `ssl:127.0.0.1:20124`: with a client certificate. */
  readonly ssl: string;
}
