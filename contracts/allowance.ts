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
  /** The compute host whose migrations it runs: how the outside world tells whether a closed consumer still uses any. */
  host: string;
}

/** The answer: start work while `using < allowance`. */
export interface AllowanceGranted extends NumberedAnswer {
  /** The limit that is shared, and among how many. */
  limit: number;
  consumers: number;
}

/** What the limit is, and what of it the outside world uses: read from configuration and from Nova. */
export interface AllowanceWorld {
  limit: number;
  /** How often to look at the world and at the consumers. */
  checkMs: number;
  /** After a lost memory nothing more is granted for this long, so that every consumer can say what it holds; longer than their renewal. */
  silentMs: number;
  /** Migrations in progress in the region, by source host. */
  inProgress: Record<string, number>;
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
