import type { HeldAgent, ObservedIso, PoolCounts } from '../../contracts/agent-pool/agent-pool.ts';
import { approvalIn } from '../../contracts/agent-pool/approvals.ts';
import type { Condition } from '../../contracts/conditions.ts';
import type { RunProgress } from '../../contracts/runs.ts';

/** What both kinds of agent pools have in common. Times are RFC 3339. */
interface Driven {
  namespace: string;
  name: string;
  uid: string;
  generation: number;
  resourceVersion: string;
  createdAt: string;
  deleting: boolean;
  /** It asks drover to observe only (`drover.dev/mode`). */
  observed: boolean;
  conditions: Condition[];
}

/** A VsphereAgentPool, as far as people are shown it. What is null is not known. */
export interface AgentPoolObject extends Driven {
  nodePool: string;
  controlPlaneNamespace: string;
  infraEnv: string;
  /** False: `Retain`, nothing is deleted. */
  deletes: boolean;
  /** What may go unasked (contracts/agent-pool/approvals.ts). */
  approved: string[];
  /** Null: nothing was counted yet. */
  counts: ListedCounts | null;
  iso: PoolIso | null;
  /** As the pool lists them. */
  vms: PoolVm[];
  /** VMs that would go, and wait for something. */
  held: Pick<HeldAgent, 'name' | 'waitsFor' | 'message'>[];
}

export interface ListedCounts extends Pick<PoolCounts, 'agentMachines' | 'waiting' | 'available' | 'bound'> {
  /** VMs that are missing, and not under way. */
  wanted: number;
  /** VMs without an Agent that can be taken yet. */
  provisioning: number;
  vms: number;
}

export interface IsoVersion {
  path: string;
  sizeBytes: number | null;
  uploadedAt: string | null;
}

export interface PoolIso extends IsoVersion {
  checkedAt: string | null;
  /** Those that are kept, the newest first. */
  history: IsoVersion[];
}

export interface PoolVm {
  /** Of the VM in vCenter. */
  vm: string;
  phase: string | null;
  reason: string | null;
  /** Since when phase and reason are so. */
  since: string | null;
  /** Names of its Agent and its Machine. */
  agent: string | null;
  machine: string | null;
}

/** A VsphereAgent, as far as people are shown it. */
export interface VsphereAgentObject extends Driven {
  pool: string;
  /** Null: no run has said anything of its VM yet. */
  vm: PoolVm | null;
}

/** What the run of a pool answers. */
export interface AgentPoolProgress extends RunProgress {
  counts?: PoolCounts;
  held?: HeldAgent[];
  iso?: ObservedIso;
}

/** What waits for a user's approval, of those that are held. */
export const waitsForApproval = ({ waitsFor }: Pick<HeldAgent, 'waitsFor'>): boolean => waitsFor === 'ApprovalRequired';

/** A VM with the mark of the pool, and no VsphereAgent. It may be in use, and may have the name of a VsphereAgent. */
export const isStray = ({ name, waitsFor, message }: AgentPoolObject['held'][number]): boolean =>
  waitsFor === 'StrayAge' || approvalIn(message, name) !== null;
