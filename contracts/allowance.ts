/** Work of which an outside system may have so much at once. A run acquires a slot for each that it begins. */
export const slotKinds = ['creates', 'destroys', 'clones'] as const;
export type SlotKind = (typeof slotKinds)[number];
/** Of a vCenter. */
export type VcenterSlotKind = Exclude<SlotKind, 'clones'>;

export type SlotLimit =
  | { kind: VcenterSlotKind; vcenter: string }
  | { kind: 'clones'; /** Name of the CSI driver. */ driver: string };

/** A limit that several runs share. */
export type SharedLimit = { kind: 'migrations'; /** Of Nova. */ region: string } | SlotLimit;

/** The limit that an input names; null: it names none. An input without a kind means migrations. */
export function readSharedLimit(input: unknown): SharedLimit | null {
  const { kind = 'migrations', region, vcenter, driver } = Object(input) as Record<string, unknown>;
  if (kind === 'migrations') return isText(region) ? { kind, region } : null;
  if (kind === 'clones') return isText(driver) ? { kind, driver } : null;
  const slot = slotKinds.find((one) => one === kind);
  return slot !== undefined && isText(vcenter) ? { kind: slot as VcenterSlotKind, vcenter } : null;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** The input that names the limit. */
export const inputOf = (limit: SharedLimit): { region: string } | SlotLimit =>
  limit.kind === 'migrations' ? { region: limit.region } : limit;

/** What a slot is of, by its name in drover's settings or in Kubernetes. */
export const endpointOf = (limit: SlotLimit): string => (limit.kind === 'clones' ? limit.driver : limit.vcenter);

/** The search attribute DroverObject. */
export const objectOf = (limit: SharedLimit): string =>
  limit.kind === 'migrations' ? limit.region : `${endpointOf(limit)}/${limit.kind}`;

/** `region RegionOne`, `vCenter prod`, `CSI driver rbd.csi.ceph.com`. */
export function placeOf(limit: SharedLimit): string {
  if (limit.kind === 'migrations') return `region ${limit.region}`;
  return limit.kind === 'clones' ? `CSI driver ${limit.driver}` : `vCenter ${limit.vcenter}`;
}

/** What a run that allocates the limit reads to know what is in progress. */
export function systemOf({ kind }: SharedLimit): string {
  if (kind === 'migrations') return 'Nova';
  return kind === 'clones' ? 'Kubernetes' : 'vCenter';
}

/** The number rises from answer to answer to the same run. */
export interface NumberedAnswer {
  sequence: number;
  allowance: number;
}

/** From a consumer to the run that allocates the limit. */
export interface AllowanceRequest {
  /** Workflow id of the consumer. */
  consumer: string;
  /** Run id of the consumer; a new run under the same id replaces the old one. */
  runId: string;
  /** How many it could use. 0: it needs none any more and leaves. */
  want: number;
  /** How many it uses now. */
  using: number;
  /** RFC 3339. The nearer it is, the earlier the consumer is served (docs/rules.md#allowances). */
  deadline: string | null;
  /**
   * The last answer that the consumer has applied; null: none. Requests and answers cross each other, so `using` alone
   * cannot prove that a lowered allowance has arrived. Absent: the last answer counts as acknowledged.
   */
  acknowledged?: NumberedAnswer | null;
  /**
   * The compute host whose migrations it runs: what a closed consumer still uses is counted there. For a
   * slot: its endpoint.
   */
  host: string;
  /** For a slot: id of the consumer's activity that asks for it, and that a later grant completes. */
  activity?: string;
}

/**
 * The answer: start work while `using < allowance`, and no longer than `leaseMs` after the last report
 * that has arrived.
 */
export interface AllowanceGranted extends NumberedAnswer {
  /** How many there are in all, and among how many consumers they are allocated. */
  limit: number;
  consumers: number;
  /**
   * A consumer that cannot report for so long begins nothing more until it has been answered anew: what it was granted
   * may be another's by then. Absent: for slots, whose holders do not report while they work.
   */
  leaseMs?: number;
  /** How many live migrations Nova runs at once on the consumer's host, where it keeps others waiting. */
  novaRuns?: number;
}

/**
 * The answer to a request for a slot. With an allowance of 0 the run is queued, and a grant completes the
 * activity that asks.
 */
export interface SlotAnswer extends NumberedAnswer {
  /** Null: it is not known yet. */
  limit: number | null;
  /** How many are in progress, or about to begin. */
  inUse: number;
  /** The run was queued before, and its object may say so. */
  wasQueued?: true;
}

/** To the run that allocates the limit. */
export interface SlotMessage {
  limit: SlotLimit;
  request: AllowanceRequest;
}

/** A grant for a run in the queue, and the activity that it completes. */
export interface SlotGrant {
  consumer: string;
  runId: string;
  activity: string;
  answer: SlotAnswer;
}

/** What the object of a run in the queue is to say: the activity that publishes it, and what that is given. */
export interface QueueReport {
  publish: 'publishVirtualMachine' | 'publishDataVolume' | 'publishVsphereAgent';
  /** Where it has {@link queuePlaceholder}, it is to say what the queue is. */
  request: object;
}

/** What a run in the queue waits for is known only to the activity that asks. */
export const queuePlaceholder = '{the slot that is waited for}';

/**
 * Type of the failure with which an attempt to acquire a slot ends while the run is queued: the next
 * attempt asks again.
 */
export const queuedFailure = 'Queued';

/** What a run in the queue waits for. Pure. */
export function describeQueue(shared: SlotLimit, answer: Pick<SlotAnswer, 'limit' | 'inUse'> | null): string {
  const [limit, place] = [shared.kind, placeOf(shared)];
  if (answer === null || answer.limit === null) return `a slot of the ${limit} of ${place}`;
  return answer.inUse < answer.limit
    ? `a slot: the ${limit} of ${place} that are in progress are being counted`
    : `a slot: ${answer.inUse} of ${answer.limit} ${limit} of ${place} are in progress`;
}

/** The limit, from configuration, and what is in use, from the outside system. */
export interface AllowanceObservation {
  limit: number;
  /** How far the limit is lowered at most, while migrations slow each other down. Absent: it stays as it is. */
  leastLimit?: number;
  /** How often to observe the outside system and the consumers. */
  checkMs: number;
  /**
   * After a lost state nothing is granted for this long, so that every consumer can report what it holds. Longer than
   * the interval at which consumers report.
   */
  silentMs: number;
  /** Migrations in progress in the region, by source host; tasks, by the endpoint. */
  inProgress: Record<string, number>;
  /** By source host, where Nova keeps live migrations in `queued`: how many it works at, and how many wait. */
  queues?: Record<string, NovaQueue>;
  /** Null: too few migrations were observed to say. */
  pace?: MigrationPace | null;
  /** For slots: ids of the tasks in progress. They do not say which run began them. */
  tasks?: string[];
}

export interface NovaQueue {
  running: number;
  waiting: number;
}

/** How fast live migrations copy. */
export interface MigrationPace {
  /** Of the one in the middle. */
  bytesPerSecond: number;
  migrations: number;
  /** How many hosts they leave. */
  hosts: number;
}

/** A consumer in the state of the run that allocates. */
export interface AllowanceConsumer extends AllowanceRequest {
  /** What it was granted last. */
  allowance: number;
  /** Unix ms, by the workflow's clock. */
  lastRequestMs: number;
  /** Unix ms. Of equals, the first to join goes first. */
  joinedMs: number;
  /** Its run is closed: nothing is granted to it, but its work counts until none is observed. */
  closed: boolean;
}

/** What the run is doing; the search attribute DroverPhase carries it. */
export type AllowancePhase =
  /** Nothing is granted until the outside world was read, or until every consumer has reported what it holds. */
  | 'Observing'
  | 'Allocating'
  /** More is in use than there may be. */
  | 'Draining'
  /** There is no member; the run is about to end. */
  | 'Unused';

/** The answer of the query `progress`. */
export type AllowanceProgress = SharedLimit & {
  phase: AllowancePhase;
  /** What the run waits for, as a sentence. */
  waitingFor: string;
  /** RFC 3339: when the run observes the world by itself. */
  nextWakeUp: string;
  /** The limit in force. Null until it is known. */
  limit: number | null;
  /** What the settings say. Null until it is known. */
  limitConfigured: number | null;
  /** Why it is not what the settings say: `lowered, as …`. Null: it is. */
  limitReason: string | null;
  /** What may be in use at this moment: by consumers that are open, by closed ones, by others. */
  inUse: number;
  consumers: (Pick<AllowanceConsumer, 'consumer' | 'host' | 'want' | 'using' | 'allowance' | 'deadline' | 'closed'> & {
    /** RFC 3339: it has not reported since then, so that nothing is granted to it. Null: it reports. */
    muteSince: string | null;
    /** RFC 3339: since when it has had an allowance, or has had none. */
    since: string;
  })[];
  /** What is in progress and belongs to no consumer: migrations by source host, tasks by endpoint. */
  elsewhere: Record<string, number>;
  /** By source host, how many migrations Nova runs at once, where it keeps others waiting. */
  novaRuns: Record<string, number>;
};
