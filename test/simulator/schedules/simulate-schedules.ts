import * as fc from 'fast-check';
import { keepRecord } from '../../evidence/keep.ts';
import type { Run } from '../../evidence/record.ts';
import { makeRecord } from '../../evidence/record.ts';
import { series } from '../../evidence/series.ts';
import { digestNow } from '../../evidence/sources.ts';
import { loadWorkflows } from '../bundle.ts';
import { runSchedule } from './run-schedule.ts';
import { schedules } from './schedule.ts';

export interface SimulateSchedulesOptions {
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

/** Runs random schedules for so many minutes, each batch from the next seed, and prints the shortest schedule that breaks something. */
export async function simulateSchedules({ minutes, seed, path, json, record, print, signal }: SimulateSchedulesOptions): Promise<void> {
  const bundle = await loadWorkflows();
  const beganMs = Date.now();
  const digestBefore = record ? digestNow(series.simulation.globs) : '';
  const failures: Failure[] = [];
  const startedMs = performance.now();
  const untilMs = startedMs + minutes * 60_000;
  let [run, failed] = [0, 0];
  for (let next = seed; ; next += 1) {
    signal.throwIfAborted();
    if (path === undefined && performance.now() >= untilMs) break;
    const property = fc.asyncProperty(schedules, async (schedule) => {
      run += 1;
      const { complaints } = await runSchedule(bundle, schedule);
      if (complaints.length > 0) throw new Error(complaints.join('\n'));
    });
    const limit = path === undefined ? { numRuns: batch, interruptAfterTimeLimit: Math.max(1, untilMs - performance.now()) } : { path };
    const result = await fc.check(property, { seed: next, ...limit, endOnFailure: false });
    if (result.counterexample !== null) {
      failed += 1;
      print(`FAILED ${JSON.stringify(result.counterexample)}\n       ${String((result.errorInstance as Error | undefined)?.message)}`);
      const again = `npm run simulate -- --seed ${next} --path '${result.counterexamplePath ?? ''}'`;
      print(`       again: ${again}`);
      failures.push({ what: again, complaints: [String((result.errorInstance as Error | undefined)?.message)] });
    }
    if (path !== undefined) break;
  }
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
  if (record) {
    const command = `npm run simulate -- --minutes ${minutes} --seed ${seed} --record`;
    const counts = { schedules: run, failed };
    const title = `random schedules for ${minutes} minutes`;
    const details = { seconds };
    const made = makeRecord({ series: 'simulation', title, seed, command, startedMs: beganMs, digestBefore, counts, failures, details });
    print(`written: ${keepRecord(made)}`);
  }
  if (json) process.stdout.write(`${JSON.stringify({ schedules: run, failed, seconds, seed })}\n`);
  else print(`${run} schedules, ${failed} seeds with a failure, in ${seconds} s`);
  process.exitCode = failed === 0 && run > 0 ? 0 : 1;
}
