import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { evictionId, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { until } from '../../test/flows/until.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import { readMemory } from '../process-usage.ts';
import { mapConcurrently } from './concurrency.ts';
import type { LoadRun } from './load-run.ts';
import type { LoadWorld } from './load-world.ts';
import { withLoadWorld } from './load-world.ts';

const program = fileURLToPath(new URL('cache-worker.ts', import.meta.url));

/** What many runs that wait cost a worker. */
export const workerCache: Benchmark<LoadRun> = {
  name: 'worker-cache',
  title: 'a worker keeps 1,000 evictions that wait',
  minutes: 2,
  figures: [
    {
      id: 'worker-cache.run',
      title: 'worker: resident set for each of 1,000 cached runs',
      unit: 'MB',
      better: 'lower',
      goal: 0.4,
    },
    {
      id: 'worker-cache.empty',
      title: 'worker, workflows only: resident set with 100 cached runs',
      unit: 'MiB',
      better: 'lower',
      goal: null,
    },
  ],
  measure: (run) =>
    withLoadWorld(run, async (world): Promise<Samples> => {
      const [few, many] = run.quick ? [20, 60] : [100, 1_100];
      const samples = { run: [] as number[], empty: [] as number[] };
      for (let repetition = 1; repetition <= run.repetitions; repetition += 1) {
        const worker = startCacheWorker(world, many + 100);
        try {
          const before = await keep(world, worker, repetition, 0, few);
          const after = await keep(world, worker, repetition, few, many);
          run.report(`${few} runs: ${before} MiB, ${many} runs: ${after} MiB`);
          samples.empty.push(before);
          samples.run.push(((after - before) * megabytesPerMiB) / (many - few));
        } finally {
          await worker.stop();
        }
        await mapConcurrently(
          Array.from({ length: many }, (_, index) => index),
          8,
          (index) => world.client.workflow.getHandle(idOf(repetition, index)).terminate(),
        );
      }
      return { 'worker-cache.run': samples.run, 'worker-cache.empty': samples.empty };
    }),
};

/** The goal is in decimal megabytes. */
const megabytesPerMiB = 1.048576;

const idOf = (repetition: number, index: number): string => evictionId(`cached-${repetition}-${index}`);

/**
 * Starts runs `from` to `to`; each waits for its first activity, which no worker takes.
 * @returns the worker's resident set in MiB, once all are in its cache
 */
async function keep(
  { client }: LoadWorld,
  worker: CacheWorker,
  repetition: number,
  from: number,
  to: number,
): Promise<number> {
  const indexes = Array.from({ length: to - from }, (_, index) => from + index);
  await mapConcurrently(indexes, 8, (index) =>
    client.workflow.start(workflowTypes.evictHypervisor, {
      workflowId: idOf(repetition, index),
      taskQueue: workflowQueue(''),
      args: [{ hypervisor: `cached-${repetition}-${index}` }],
    }),
  );
  await until(`${to} runs to be cached`, 120_000, async () => {
    const cached = await worker.cached();
    return cached >= to ? true : `${cached}`;
  });
  await delay(2_000);
  return readMemory(worker.pid)?.residentMiB ?? Number.NaN;
}

interface CacheWorker {
  pid: number;
  cached(): Promise<number>;
  stop(): Promise<void>;
}

function startCacheWorker({ lab }: LoadWorld, cacheSize: number): CacheWorker {
  const child = fork(program, [String(cacheSize)], { env: { ...process.env, ...lab.exports }, execArgv: [] });
  const ended = once(child, 'exit');
  return {
    pid: child.pid ?? 0,
    async cached() {
      const answer = once(child, 'message', { signal: AbortSignal.timeout(10_000) });
      child.send('how many?');
      const [count] = (await answer) as [number];
      return count;
    },
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
