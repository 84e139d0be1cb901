import type { DesiredEviction, EvictionSettings, Preflight } from '../../contracts/eviction.ts';
import type { MigrateInstanceInput, MigrateInstanceResult } from '../../contracts/migrate-instance.ts';
import type { RunStep, planRun } from '../../workflows/eviction/plan-run.ts';
import type { EvictionRun } from '../../workflows/eviction/run.ts';
import type { Problem } from '../../workflows/lib/failures.ts';
import type { onItsWay, unsaid } from '../../workflows/limits/claim.ts';
import type { Answer, Ledger, share } from '../../workflows/limits/ledger.ts';
import type { endLook } from '../../workflows/limits/look.ts';
import type { Move, Progress, planMove } from '../../workflows/migration/plan.ts';
import type { LastMove, planWindDown } from '../../workflows/migration/plan-wind-down.ts';
import type { Clock } from './clock.ts';
import type { Nova, Server } from './nova.ts';
import type { Random } from '../../runtime/random.ts';
import type { Scenario } from './scenario.ts';

/** The deciding functions that a simulation drives; a test of the simulation puts broken ones in their place. */
export interface Planners {
  planRun: typeof planRun;
  planMove: typeof planMove;
  planWindDown: typeof planWindDown;
  share: typeof share;
  endLook: typeof endLook;
  onItsWay: typeof onItsWay;
  unsaid: typeof unsaid;
}

export interface Simulation {
  scenario: Scenario;
  planners: Planners;
  settings: EvictionSettings;
  clock: Clock;
  random: Random;
  nova: Nova;
  /** Until when each system is down. */
  downUntilMs: { nova: number; kubernetes: number };
  /** Until when `drover stop` is in force. */
  stopUntilMs: number;
  /** Until when reports to the region do not arrive, or arrive and nobody says so. */
  reportsFailUntilMs: { lost: number; unconfirmed: number };
  faultPercent: number;
  objects: EvictionObject[];
  runs: Run[];
  /** Open children by server id, which is their lock. */
  children: Map<string, Child>;
  region: Region;
  waits: Set<Wait>;
  watch: Watch;
  /** Carry every state over as JSON at each step. */
  throughJson: boolean;
  /** The region's answer reaches a run. */
  hearGrant(run: Run, answer: Answer): void;
}

/** An Eviction in Kubernetes. */
export interface EvictionObject {
  desired: DesiredEviction;
  /** It carries a terminal condition for its generation. */
  settled: boolean;
  /** It is gone for good. */
  gone: boolean;
  /** The Node came back after its reboot. */
  rebooted: boolean;
}

/** Who asks: what is answered after it was cancelled or killed finds nobody. */
export interface Actor {
  token: number;
}

export interface Wait {
  check(): void;
  /** Its system has not answered for too long. */
  give(): void;
}

/** A run of `migrateInstance`. */
export interface Child extends Actor {
  input: MigrateInstanceInput;
  progress: Progress;
  surprises: number;
  cancelled: boolean;
  /** A request to begin a migration is under way. */
  asking: boolean;
  /** Failures in a row that it waits out. */
  outages: number;
  /** Moves made, for the bound. */
  moves: number;
  ended: (result: MigrateInstanceResult) => void;
  failed: (problem: Problem) => void;
}

/** A run of `evictHypervisor`, from the reading of its Eviction to its end. Its state is the real one. */
export interface Run extends Actor, Pick<EvictionRun, 'state' | 'share' | 'unheard' | 'readAtMs' | 'events' | 'unpublished'> {
  object: EvictionObject;
  runId: string;
  /** Nothing is known yet; then the plan is followed; then its end is made known. */
  stage: 'opening' | 'driving' | 'concluding' | 'closed';
  /** A step is under way. */
  acting: boolean;
  /** It waits for `drover stop` to be lifted, or for a reboot; a request to stop or a change of its Eviction ends that. */
  liftWait: (() => void) | null;
  waiting: { for: string; untilMs: number | null } | null;
  /** When it looks at its plan again; null: when it is woken. */
  alarmMs: number | null;
  /** The children in flight, by server id; null where another run has the lock and this one is about to hear of it. */
  moves: Map<string, Child | null>;
  reporting: boolean;
  /** It is to continue as new. */
  old: boolean;
  /** Somebody cancelled the run itself. */
  cancelled: boolean;
}

/** The run that shares out the region's migrations; there is none while nobody takes part. */
export interface Region {
  ledger: Ledger | null;
  looking: boolean;
  /** Rises when the run is another one: what was under way in the old one is lost. */
  generation: number;
  alarmMs: number | null;
}

/** Looks at every step of a simulation. */
export interface Watch {
  steps: number;
  /** By a person’s word, servers that are to stay: `host/id`. */
  skipped: Set<string>;
  deletedMs: Map<EvictionObject, number>;
  runSteps(sim: Simulation, run: Run, step: RunStep): void;
  moveBegan(sim: Simulation, run: Run, id: string, child: Child): void;
  childMoves(sim: Simulation, child: Child, move: Move | LastMove): void;
  migrationStarted(sim: Simulation, child: Child): void;
  confirms(sim: Simulation, child: Child, server: Server | undefined, migrationId: number): void;
  childClosed(child: Child): void;
  pictureTaken(sim: Simulation, run: Run, picture: Preflight): Preflight;
  disabled(run: Run): void;
  enabledAgain(sim: Simulation, hypervisor: string): void;
  awaitsReboot(run: Run): void;
  continued(run: Run, successor: Run): void;
  runKilled(run: Run): void;
  runClosed(sim: Simulation, run: Run): void;
  /** Everything has come to rest. */
  atRest(sim: Simulation): void;
  /** What was found out of each run, in order: the same for the same schedule. */
  ends: string[];
}
