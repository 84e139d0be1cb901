import type { DriftFindings } from './drift.ts';
import type {
  DesiredHypervisor,
  DrainGuard,
  HypervisorCheck,
  HypervisorInput,
  HypervisorObservation,
  HypervisorPatch,
  HypervisorSettings,
  HypervisorStatusPatch,
  NewEviction,
  NewHypervisor,
  TestRecord,
} from './hypervisor.ts';
import type { HostObservation } from '../eviction/instance.ts';

/**
 * What the run of a hypervisor may ask for, by task queue. An activity's name is a wire name. All are safe to repeat
 * and to run twice at once; what each may fail with is in contracts/errors.ts.
 */

/** Queue `hosts`: what concerns one host and asks several systems about it. */
export interface HypervisorHostActivities {
  /** Validates input given by hand, and reads everything that decisions need. */
  observeHypervisor(input: HypervisorInput, scope: ObservationScope): Promise<ObservedHypervisor>;
}

/** Queue `host-checks`: what asks the host itself, for minutes. */
export interface HypervisorCheckActivities {
  /** Runs checks of the Testing phase, at once. What is wrong with the host is a finding, never a failure. */
  runHypervisorChecks(request: CheckRequest): Promise<CheckFindings[]>;
}

/**
 * `all`, as it is now; `again`: only time has passed since the last observation, so that what was read of the region a
 * moment ago for others will do; or Kubernetes only: while OpenStack does not answer, the Hypervisor shall say so all
 * the same.
 */
export type ObservationScope = 'all' | 'again' | 'kubernetes';

export type ObservedHypervisor =
  | {
      kind: 'observed';
      /** Null: there is no such Hypervisor. */
      desired: DesiredHypervisor | null;
      observed: HypervisorObservation;
      settings: HypervisorSettings;
      digest: string | null;
      /** As in {@link DesiredHypervisor}. */
      retry: string | null;
    }
  /** The kind is switched off. */
  | { kind: 'nothing'; message: string }
  /** This run has another id than the hypervisor's: the right one was signalled with start. */
  | { kind: 'handedOver'; message: string };

export interface CheckRequest {
  checks: HypervisorCheck[];
  hypervisor: string;
  uid: string;
  /**
   * Nova's name of the host, which may be longer than the Hypervisor's. A call that was recorded before it was named
   * goes by the Hypervisor's.
   */
  host?: string;
}

export type CheckFindings = Pick<TestRecord, 'check' | 'results' | 'libVirtVersion'>;

/**
 * Queue `kubernetes`. Where what the decision was made on is no more, nothing is written, and the next observation
 * shows why.
 */
export interface HypervisorObjectActivities {
  createHypervisor(hypervisor: NewHypervisor): Promise<void>;
  /**
   * In their order. The spec is written only while it is the one of that generation: no user's change is overwritten.
   */
  patchHypervisor(request: ObjectKey & { generation: number; patches: HypervisorPatch[] }): Promise<boolean>;
  createEviction(eviction: NewEviction): Promise<void>;
  /** An earlier deadline stays. */
  setEvictionDeadline(request: ObjectKey & { deadline: string }): Promise<void>;
  /** Only one that a Hypervisor controls: all others belong to those who made them. */
  deleteEviction(request: ObjectKey): Promise<void>;
  taintNode(request: NodeKey): Promise<void>;
  untaintNode(request: NodeKey): Promise<void>;
  ensureCertificate(request: NodeKey): Promise<void>;
  ensureDrainGuard(request: NodeKey & { guard: DrainGuard }): Promise<void>;
  /** Writes status and annotations where they differ, and an Event when the state does. */
  publishHypervisor(report: ObjectKey & { status: HypervisorStatusPatch }): Promise<void>;
}

/** Another object of the same name is left alone. */
export interface ObjectKey {
  name: string;
  uid: string;
}

export interface NodeKey {
  node: string;
  uid: string;
}

/** Queue `nova:<region>`. */
export interface HypervisorRegionActivities {
  /** Compares all hosts with what their Hypervisors say, and signals the runs of those that differ. */
  findDrift(): Promise<DriftFindings>;
  ensureServiceDisabled(request: { host: string; reason: string }): Promise<HostObservation['service']>;
  /** Only while it is disabled with exactly that reason. Returns whether it is enabled now. */
  ensureServiceEnabled(request: { host: string; carrying?: string | null }): Promise<boolean>;
  /** In their order. */
  changeAggregates(request: { host: string; changes: readonly AggregateChange[] }): Promise<void>;
  ensureSmokeServerGone(request: { host: string; ids?: readonly string[]; deadlineMs: number }): Promise<boolean>;
  ensureServiceDeleted(request: { host: string; serviceId: string }): Promise<void>;
  /** Makes those that Placement does not know. */
  updateTraits(request: { providerId: string; add: string[]; remove: string[] }): Promise<void>;
  /** Takes away what consumers still have of the provider; `consentBy`: who consented to that, and when. */
  releaseAllocations(request: { providerId: string; consentBy: string }): Promise<void>;
  /** `consentBy` null: a provider with allocations stays. */
  ensureProviderGone(request: { providerId: string; consentBy: string | null }): Promise<void>;
}

export interface AggregateChange {
  kind: 'add' | 'remove';
  /** `id` is numeric. */
  aggregates: { id: number; name: string }[];
}
