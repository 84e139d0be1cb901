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
  /** RFC 3339; breaks ties. */
  deadline: string | null;
  /**
   * The last answer that the consumer has applied; null: none. Requests and answers cross each other, so `using` alone cannot prove that a
   * lowered allowance has arrived. Absent: the last answer counts as acknowledged.
   */
  acknowledged?: NumberedAnswer | null;
  /** The compute host whose migrations it runs: what a closed consumer still uses is counted there. For a slot: its endpoint. */
  host: string;
}

/** The answer: start work while `using < allowance`. */
export interface AllowanceGranted extends NumberedAnswer {
  /** How many there are in all, and among how many consumers they are allocated. */
  limit: number;
  consumers: number;
  /** For a slot. */
  kind?: SlotKind;
}

/** The answer to a request for a slot. With an allowance of 0 the run is queued, and the signal `allowanceGranted` says when it has the slot. */
export interface SlotAnswer extends NumberedAnswer {
  /** Null: it is not known yet. */
  limit: number | null;
  /** How many are in progress, or about to begin. */
  inUse: number;
}

/** The limit, from configuration, and what is in use, from the outside system. */
export interface AllowanceObservation {
  limit: number;
  /** How often to observe the outside system and the consumers. */
  checkMs: number;
  /**
   * After a lost state nothing is granted for this long, so that every consumer can report what it holds. Longer than the interval at which
   * consumers report.
   */
  silentMs: number;
  /** Migrations in progress in the region, by source host; tasks, by the endpoint. */
  inProgress: Record<string, number>;
  /** For slots: ids of the tasks in progress. They do not say which run began them. */
  tasks?: string[];
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
