import { migrationId, evictionId } from '../../contracts/ids.ts';
import type { ApiCall } from '../../lab/openstack/journal.ts';
import { readApiCalls, readMigrationEvents } from '../../lab/openstack/journal.ts';
import type { Machine } from '../machine.ts';
import { describeMachine } from '../machine.ts';
import { mean } from '../statistics.ts';
import { moveByScript } from './bare-script.ts';
import type { BenchWorld } from './bench-world.ts';
import { parallel, source } from './bench-world.ts';
import type { GapParts } from './gap.ts';
import { explainGap, meanGap } from './gap.ts';
import type { HistoryEvent } from './run-history.ts';
import { readHistory } from './run-history.ts';
import type { Move } from './timeline.ts';
import { readMoves, spanMs, successions } from './timeline.ts';

/** So many servers, each copied for so long, so many at once. */
export interface Load {
  window: number;
  servers: number;
  seconds: number;
}

/** Six for each worker, three at the widest. */
export const loads: readonly Load[] = [
  { window: 1, servers: 6, seconds: 10 },
  { window: 2, servers: 12, seconds: 10 },
  { window: 4, servers: 24, seconds: 10 },
  { window: 8, servers: 24, seconds: 10 },
];

/** One side's part in a pair. Times in milliseconds. */
interface Side {
  /** First request to last end. */
  spanMs: number;
  /** From the request to the record's end, on average: Nova's own time, under the load that this side makes. */
  novaMs: number;
  /** From a record's end to the request that takes its place, on average. */
  gapMs: number;
  /** Requests that Nova was sent in the span. */
  requests: number;
}

/** Events in histories. */
export interface Events {
  servers: number;
  window: number;
  parent: number;
  /** The longest child's. */
  child: number;
}

interface DroverSide extends Side {
  /** From the creation of the Eviction to the first request: the preflight, the disable, the allowance. */
  beforeMs: number;
  /** From the last end to the close of the run: the host observed empty, the result published, 2 s of lingering. */
  afterMs: number;
  gapParts: GapParts | null;
  events: Events;
}

/** Figure 1 for one load. */
export interface Pair extends Load {
  machine: Machine;
  /** drover's time over the script's; the median where there are several pairs, and the rest is that pair's. */
  ratio: number;
  /** Of every pair, as they were measured; absent in older records, which have one. */
  ratios?: number[];
  /** Without any cost of the control plane, Nova's included. */
  nominalMs: number;
  first: 'drover' | 'script';
  drover: DroverSide;
  script: Side;
}

/** Both sides may have the same window: what drover would hold back by default is raised to the widest. */
export const overheadSettings = (widest: number): object => ({
  eviction: { perTarget: Math.max(2, widest) },
  limits: { migrationsPerRegion: Math.max(8, widest) },
});

/** Moves the same servers twice, by drover and by a bare script, each from the same start. */
export async function measurePair(
  world: BenchWorld,
  load: Load,
  first: Pair['first'],
  report: (line: string) => void,
): Promise<Pair> {
  const machine = describeMachine(world.versions);
  const sides: { drover?: DroverSide; script?: Side } = {};
  for (const side of first === 'drover' ? (['drover', 'script'] as const) : (['script', 'drover'] as const)) {
    report(`window ${load.window}: ${load.servers} servers of ${load.seconds} s by ${side} …`);
    if (side === 'drover') sides.drover = await byDrover(world, load);
    else sides.script = await byScript(world, load);
    report(`window ${load.window}: ${((sides[side]?.spanMs ?? 0) / 1000).toFixed(1)} s by ${side}`);
  }
  const { drover, script } = sides as Required<typeof sides>;
  const nominalMs = Math.ceil(load.servers / load.window) * load.seconds * 1_000;
  return { ...load, machine, ratio: round3(drover.spanMs / script.spanMs), nominalMs, first, drover, script };
}

/**
 * Of several pairs of one load, the one whose ratio is the median (the slower of two), with every ratio.
 * @throws for no pairs
 */
export function middlePair(pairs: readonly Pair[]): Pair {
  const middle = pairs.toSorted((a, b) => a.ratio - b.ratio)[Math.floor(pairs.length / 2)];
  if (middle === undefined) throw new Error('no pair was measured');
  return { ...middle, ratios: pairs.map(({ ratio }) => ratio) };
}

export const round3 = (number: number): number => Number(number.toFixed(3));

/**
 * A Nova that has just started takes seconds longer for its first migrations: the driver measured first would
 * pay for both.
 */
export async function warmUp(world: BenchWorld): Promise<void> {
  await moveByScript(world.session, await world.seed(4, 0.5, 2), 2);
}

async function byScript(world: BenchWorld, { servers: count, seconds, window }: Load): Promise<Side> {
  const servers = await world.seed(count, seconds, window);
  const sinceMs = Date.now();
  await moveByScript(world.session, servers, window);
  const { moves, calls } = readJournals(world, sinceMs);
  return sideOf(moves, calls, window);
}

async function byDrover(world: BenchWorld, load: Load): Promise<DroverSide> {
  await world.seed(load.servers, load.seconds, load.window);
  return await evict(world, load);
}

/** Evicts the source and reads everything that can be known of it. The servers are there. */
export async function evict(world: BenchWorld, { window, servers, seconds }: Load): Promise<DroverSide> {
  const createdMs = await world.createEviction(source, parallel(window));
  const { runId, closedMs, result } = await world.untilEnded(
    source,
    createdMs,
    (Math.ceil(servers / window) * (seconds + 10) + 120) * 1_000,
  );
  if (result.outcome !== 'reconciled') throw new Error(`the eviction ended as ${result.outcome}: ${result.message}`);
  const { moves, calls } = readJournals(world, createdMs);
  if (moves.length !== servers) throw new Error(`${moves.length} of ${servers} servers were moved live`);
  const parent = await readHistory(world.client, evictionId(source), runId);
  const children = new Map<string, HistoryEvent[]>();
  for (const { instance } of moves) children.set(instance, await readHistory(world.client, migrationId(instance)));
  await world.removeEvictions();
  const gaps = successions(moves, window).map((succession) => explainGap(succession, calls, parent, children));
  return {
    ...sideOf(moves, calls, window),
    beforeMs: (moves[0]?.postMs ?? Number.NaN) - createdMs,
    afterMs: closedMs - Math.max(...moves.map(({ endMs }) => endMs)),
    gapParts: meanGap(gaps.filter((gap) => gap !== null)),
    events: {
      servers,
      window,
      parent: parent.length,
      child: Math.max(...[...children.values()].map(({ length }) => length)),
    },
  };
}

function readJournals({ lab }: BenchWorld, sinceMs: number): { moves: Move[]; calls: ApiCall[] } {
  const calls = readApiCalls(lab.handles.openstack, 'nova', sinceMs);
  return { calls, moves: readMoves(calls, readMigrationEvents(lab.handles.openstack, sinceMs)) };
}

function sideOf(moves: readonly Move[], calls: readonly ApiCall[], window: number): Side {
  const gaps = successions(moves, window).map(({ left, next }) => next.postMs - left.endMs);
  const [firstMs, lastMs] = [
    Math.min(...moves.map(({ postMs }) => postMs)),
    Math.max(...moves.map(({ endMs }) => endMs)),
  ];
  return {
    spanMs: spanMs(moves),
    novaMs: Math.round(mean(moves.map(({ postMs, endMs }) => endMs - postMs))),
    gapMs: Math.round(mean(gaps)),
    requests: calls.filter(({ timeMs }) => timeMs >= firstMs && timeMs <= lastMs).length,
  };
}
