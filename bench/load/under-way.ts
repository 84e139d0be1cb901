import { readApiCalls, readMigrationEvents } from '../../lab/openstack/journal.ts';
import { until } from '../../test/flows/until.ts';
import type { BenchWorld } from '../eviction/bench-world.ts';
import { openBenchWorld, parallel, source, withBenchLab } from '../eviction/bench-world.ts';
import type { LoadRun } from './load-run.ts';

/** Three windows of four, so that there is always more to ask for. */
const load = { servers: 12, seconds: 6, window: 4 };
const settings = { eviction: { perTarget: load.window } };

/** An eviction in whose middle something is done. */
export interface UnderWay {
  world: BenchWorld;
  /** When drover first asked Nova for another migration after that time. */
  nextMoveMs: (afterMs: number) => Promise<number>;
}

/**
 * Begins an eviction, calls `measure` once four servers are being copied, and waits until it has succeeded; repeats it.
 */
export async function measureUnderWay(
  run: LoadRun,
  measure: (underWay: UnderWay) => Promise<number>,
  repetitions = run.repetitions,
): Promise<{ measured: number[]; endedMs: number[] }> {
  const measured: number[] = [];
  const endedMs: number[] = [];
  await withBenchLab(run.report, run.signal, async (lab) => {
    const world = await openBenchWorld(lab, settings, run.signal);
    try {
      for (let repetition = 1; repetition <= repetitions; repetition += 1) {
        await world.seed(load.servers, load.seconds, load.window);
        const createdMs = await world.createEviction(source, parallel(load.window));
        await until('four servers to be copied', 120_000, () => {
          const now = inProgress(world, createdMs);
          return now >= load.window || `${now}`;
        });
        measured.push(await measure({ world, nextMoveMs: (afterMs) => untilNextMove(world, afterMs) }));
        const { closedMs, result } = await world.untilEnded(source, createdMs, 300_000);
        if (result.outcome !== 'reconciled')
          throw new Error(`the eviction ended as ${result.outcome}: ${result.message}`);
        endedMs.push(closedMs);
        await world.removeEvictions();
      }
    } finally {
      await world.close();
    }
  });
  return { measured, endedMs };
}

function inProgress({ lab }: BenchWorld, sinceMs: number): number {
  const last = new Map(
    readMigrationEvents(lab.handles.openstack, sinceMs).map(({ migration, status }) => [migration, status]),
  );
  return [...last.values()].filter((status) => status === 'running').length;
}

const untilNextMove = ({ lab }: BenchWorld, afterMs: number): Promise<number> =>
  until(
    'drover to ask Nova for the next migration',
    180_000,
    () =>
      readApiCalls(lab.handles.openstack, 'nova', afterMs).find(({ action }) => action === 'os-migrateLive')?.timeMs ??
      'not yet',
  );
