import * as fc from 'fast-check';
import { saveRecord } from '../../evidence/keep.ts';
import type { Run } from '../../evidence/record.ts';
import { makeRecord } from '../../evidence/record.ts';
import { series } from '../../evidence/series.ts';
import { digestNow } from '../../evidence/sources.ts';
import { loadWorkflows } from '../bundle.ts';
import { judgeAmount, processorMs } from './enough.ts';
import { sampleMemory } from './memory.ts';
import { runSchedule } from './run-schedule.ts';
import type { EventKind } from './schedule.ts';
import { eventKinds, schedules } from './schedule.ts';
import { tellStories } from './tell-stories.ts';

export interface SimulateSchedulesOptions {
  /** Of a processor. */
  minutes: number;
  seed: number;
  /** Of a failure that fast-check has printed: only that one. */
  path: string | undefined;
  json: boolean;
  /** Keeps the result as evidence. */
  record: boolean;
  print: (line: string) => void;
  signal: AbortSignal;
}

type Failure = Run['failures'][number];

/** How many schedules are made from one seed: fast-check keeps them all until it has run them. */
const batch = 50;
/** Workflow runs from one sample of the memory to the next. */
const runsPerSample = 1_000;

/**
 * Runs random schedules for so many minutes of a processor in one process, each batch from the next seed, and prints the shortest
 * schedule that breaks something, with the line that runs it again. Beside each batch stories are told with faults of
 * that seed.
 */
export async function simulateSchedules(options: SimulateSchedulesOptions): Promise<void> {
  const { minutes, seed, path, json, record, print, signal } = options;
  const bundle = await loadWorkflows();
  const beganMs = Date.now();
  const digestBefore = record ? digestNow(series.simulation.globs) : '';
  const failures: Failure[] = [];
  const memory = sampleMemory(runsPerSample);
  const startedMs = performance.now();
  const untilMs = processorMs() + minutes * 60_000;
  const isOver = (): boolean => path === undefined && processorMs() >= untilMs;
  const happened = new Map<EventKind, number>();
  let [count, runs, tellings] = [0, 0, 0];
  for (let next = seed; ; next += 1) {
    signal.throwIfAborted();
    if (isOver()) break;
    const told = path === undefined ? await tellStories(bundle, next) : [];
    tellings += told.length;
    for (const { cell, complaints } of told.filter((one) => one.complaints.length > 0)) {
      const again = `npm run simulate -- --cell '${cell}'`;
      print(`FAILED ${complaints.join('\n       ')}\n       again: ${again}`);
      failures.push({ what: again, complaints });
    }
    const property = fc.asyncProperty(schedules, async (schedule) => {
      signal.throwIfAborted();
      // fast-check goes on with its neighbours where it passes.
      if (isOver() || (path !== undefined && count > 0)) return;
      count += 1;
      const result = await runSchedule(bundle, schedule);
      runs += result.runs;
      for (const kind of result.happened) happened.set(kind, (happened.get(kind) ?? 0) + 1);
      memory.take(runs);
      if (result.complaints.length > 0) throw new Error(result.complaints.join('\n'));
    });
    const limit = path === undefined ? { numRuns: batch } : { path };
    // A path is that of the shortest schedule already.
    const result = await fc.check(property, { seed: next, ...limit, endOnFailure: path !== undefined });
    signal.throwIfAborted();
    if (result.counterexample !== null) {
      const complaint = String((result.errorInstance as Error | undefined)?.message);
      const again = `npm run simulate -- --seed ${next} --path '${result.counterexamplePath ?? ''}'`;
      print(`FAILED ${JSON.stringify(result.counterexample)}\n       ${complaint}\n       again: ${again}`);
      failures.push({ what: again, complaints: [complaint] });
    }
    if (path !== undefined) break;
  }
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
  const perSecond = Math.round((count / seconds) * 100) / 100;
  const failed = failures.length;
  const { least, missing, missingKinds, complaints: tooLittle } = judgeAmount(minutes, { schedules: count, happened });
  for (const complaint of tooLittle) print(`FAILED ${complaint}`);
  const events = Object.fromEntries(eventKinds.map((kind) => [kind, happened.get(kind) ?? 0]));
  if (record) {
    const made = makeRecord({
      series: 'simulation',
      title: `random schedules for ${minutes} minutes of a processor`,
      seed,
      command: `npm run simulate -- --minutes ${minutes} --seed ${seed} --record`,
      startedMs: beganMs,
      digestBefore,
      counts: {
        schedules: count,
        stories: tellings,
        'workflow runs': runs,
        failed,
        missing,
        missingKinds: missingKinds.length,
      },
      failures,
      details: { seconds, schedulesPerSecond: perSecond, least, events, memory: memory.samples },
    });
    print(`written: ${saveRecord(made)}`);
  }
  const told = {
    schedules: count,
    least,
    stories: tellings,
    schedulesPerSecond: perSecond,
    runs,
    failed,
    seconds,
    seed,
    events,
    memory: memory.samples,
  };
  if (json) process.stdout.write(`${JSON.stringify(told)}\n`);
  else {
    print(
      `${count} schedules (at least ${least}), ${perSecond} a second, and ${tellings} stories, ${failed} seeds with a failure, in ${seconds} s`,
    );
    for (const { runs: after, heapMiB, rssMiB } of memory.samples)
      print(`after ${after} workflow runs: heap ${heapMiB} MiB, RSS ${rssMiB} MiB`);
  }
  process.exitCode = failed === 0 && tooLittle.length === 0 && count > 0 ? 0 : 1;
}
