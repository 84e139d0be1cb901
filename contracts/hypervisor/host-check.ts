import type { ErrorCode } from '../errors.ts';

/** How long a test server of Nova's may take to be gone again. */
export const smokeCleanUpMs = 60_000;

/** How long a hypervisor may take for one pool: libvirt gives Ceph 30 s, and the pool goes again. */
export const rbdPoolMs = 45_000;

/** What one check of a hypervisor found; goes into conditions and into what people read. */
export interface HostCheck {
  /** The check's name, as a condition's type: `LibvirtReachable`. */
  name: string;
  /** `skipped`: an earlier check failed that this one needs. */
  outcome: 'passed' | 'failed' | 'skipped';
  /** What should be, as a phrase: `libvirt 9.0.0 or newer`. */
  expectation: string;
  /** What is; for a failure its words with what to do about it. */
  observed: string;
  /** Of a failure; null for all else, and for what was observed and is not enough. */
  code: ErrorCode | null;
  durationMs: number;
  /**
   * What it asks is not the host's own, as the health of a whole cluster: its failure is waited out, and never
   * ends an onboarding.
   */
  beyondHost?: true;
}
