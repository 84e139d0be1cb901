/** What vCenter may do so many of at once, each of them a task that a run of a virtual machine begins once. */
export const turnKinds = ['creates', 'destroys'] as const;
export type TurnKind = (typeof turnKinds)[number];

/** A limit that runs share. */
export type SharedLimit = { of: 'migrations'; /** Nova's. */ region: string } | { of: TurnKind; vcenter: string };

/** An answer with its number, which rises from answer to answer to the same run. */
export interface NumberedAnswer {
  sequence: number;
  allowance: number;
}

/** A consumer's message to the run that shares out a limit: what it wants and what it uses. */
export interface AllowanceWanted {
  /** Workflow id of the consumer. */
  consumer: string;
  /** Run id of the consumer; a new run under the same id takes the place of the old one. */
  runId: string;
  /** How many it could use. 0: it needs none any more and leaves. */
  want: number;
  /** How many it uses now. */
  using: number;
  /** RFC 3339; breaks ties. */
  deadline: string | null;
  /**
   * The answer that its sender goes by; null: it has heard none. Reports and answers cross each other on their way, so `using` alone cannot
   * prove that a lowered allowance was heard. Absent, the last answer counts as heard.
   */
  heard?: NumberedAnswer | null;
  /** The compute host whose migrations it runs: how the outside world tells whether a closed consumer still uses any. Of a turn: the vCenter. */
  host: string;
}

/** The answer: start work while `using < allowance`. */
export interface AllowanceGranted extends NumberedAnswer {
  /** The limit that is shared, and among how many. */
  limit: number;
  consumers: number;
  /** Of a turn: which. */
  of?: TurnKind;
}

/** The answer to who asks for a turn. With an allowance of 0 it is told when its turn has come. */
export interface TurnAnswer extends NumberedAnswer {
  /** Null: it is not known yet. */
  limit: number | null;
  /** How many are under way, or about to begin. */
  inUse: number;
}

/** What the limit is, and what of it the outside world uses: read from configuration, and from Nova or vCenter. */
export interface AllowanceWorld {
  limit: number;
  /** How often to look at the world and at the consumers. */
  checkMs: number;
  /** After a lost memory nothing more is granted for this long, so that every consumer can say what it holds; longer than their renewal. */
  silentMs: number;
  /** Migrations in progress in the region, by source host; tasks, by vCenter. */
  inProgress: Record<string, number>;
  /** Of turns: the tasks that are in progress. They do not tell whose they are. */
  tasks?: string[];
}

/** One consumer as the sharing run remembers it. */
export interface AllowanceConsumer extends AllowanceWanted {
  /** What it was granted and has been told. */
  allowance: number;
  /** Milliseconds since the epoch, by the workflow's clock. */
  lastHeardMs: number;
  /** When it joined: who came first comes first. */
  joinedMs: number;
  /** Whether its run is closed: nothing is granted, but its work still counts until the world shows none. */
  closed: boolean;
}
