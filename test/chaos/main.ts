/**
 * `npm run chaos -- --seed S --minutes M [--only NAMES] [--record | --json FILE]`: everything breaks at random, and at
 * the end everything is as it should be.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { withRun } from '../../lab/command-run.ts';
import { saveRecord } from '../evidence/keep.ts';
import { makeRecord } from '../evidence/record.ts';
import { series } from '../evidence/series.ts';
import { digestNow } from '../evidence/sources.ts';
import { type Lifecycle, lifecycles } from './plan.ts';
import { runChaos } from './run-chaos.ts';

const number = (text: string): number => {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw new InvalidArgumentError('A number, please.');
  return value;
};

function listLifecycles(text: string): Lifecycle[] {
  return text.split(',').map((name) => {
    const known = lifecycles.find((one) => one === name.trim());
    if (known === undefined) throw new InvalidArgumentError(`They are ${lifecycles.join(', ')}.`);
    return known;
  });
}

function rejectWhen(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const interrupt = (): void => reject(signal.reason as Error);
  if (signal.aborted) interrupt();
  signal.addEventListener('abort', interrupt);
  return promise;
}

/** A shorter run shows that chaos itself works. */
const evidenceMinutes = 30;

interface ChaosCommand {
  seed: number;
  minutes: number;
  only?: Lifecycle[];
  record: boolean;
  json?: string;
}

await new Command('chaos')
  .description(
    'A load of evictions and of lifecycles of hypervisors, virtual machines, agent pools and volumes while bridge, worker, Temporal, kube-apiserver, the way to Nova, the vCenter and the storage are killed, frozen and cut at random.',
  )
  .option('--seed <number>', 'decides what happens when', number, Math.floor(Date.now() / 1_000))
  .option('--minutes <number>', 'how long', number, 3)
  .option('--only <names>', `of ${lifecycles.join(', ')}: these alone`, listLifecycles)
  .option('--record', 'keeps the result as evidence', false)
  .option('--json <file>', 'writes the same record there: commit, seed, counts, complaints')
  .action(async ({ seed, minutes, only, record, json }: ChaosCommand) => {
    if (record && only !== undefined) throw new InvalidArgumentError('Evidence is of all lifecycles.');
    if (record && minutes < evidenceMinutes)
      throw new InvalidArgumentError(`${evidenceMinutes} minutes are evidence, not less.`);
    const startedMs = Date.now();
    const digestBefore = digestNow(series.chaos.globs);
    const print = (line: string): void => void process.stdout.write(`${line}\n`);
    print(`chaos with seed ${seed} for ${minutes} min`);
    // All of it is the run's own, so an interruption does not wait for its end.
    const result = await withRun({ command: 'npm run chaos', report: print }, ({ signal }) =>
      Promise.race([
        runChaos({ seed, durationMs: minutes * 60_000, report: print, ...(only !== undefined && { only }) }),
        rejectWhen(signal),
      ]),
    );
    const options = `--seed ${seed} --minutes ${minutes}${only === undefined ? '' : ` --only ${only.join(',')}`}`;
    const {
      complaints,
      snapshot,
      faults,
      userActions,
      hypervisorActions,
      vmActions,
      poolActions,
      agents,
      volumeActions,
      clones,
      evictions,
      failures,
      fencings,
      evacuations,
      moves,
      recoverySeconds,
    } = result;
    for (const complaint of complaints) print(`VIOLATED ${complaint}`);
    print(
      `${faults} faults, ${userActions} user actions, ${hypervisorActions} hypervisor actions, ${vmActions} VM actions, ${poolActions} pool actions, ${agents} VsphereAgents, ${volumeActions} volume actions, ${clones} clones, ${evictions} evictions, ${failures} host failures handled, ${fencings} hosts fenced, ${evacuations} servers evacuated, ${moves} migrations completed; recovered after ${recoverySeconds.toFixed(0)} s`,
    );
    print(
      complaints.length === 0
        ? 'every invariant holds'
        : `${complaints.length} complaints; again: npm run chaos -- ${options}`,
    );
    if (complaints.length > 0) {
      const file = join(mkdtempSync(join(tmpdir(), 'drover-chaos-')), 'snapshot.json');
      writeFileSync(file, JSON.stringify(snapshot));
      print(`what they are judged by: ${file}`);
    }
    const counts = {
      complaints: complaints.length,
      failed: complaints.length === 0 ? 0 : 1,
      faults,
      'user actions': userActions,
      'hypervisor actions': hypervisorActions,
      'vm actions': vmActions,
      'pool actions': poolActions,
      'vsphere agents': agents,
      'volume actions': volumeActions,
      clones,
      evictions,
      'host failures': failures,
      fencings,
      evacuations,
      migrations: moves,
    };
    const command = `npm run chaos -- ${options} --record`;
    const failed = complaints.length === 0 ? [] : [{ what: command, complaints }];
    const details = { minutes, recoverySeconds: Math.round(recoverySeconds) };
    const made = makeRecord({
      series: 'chaos',
      title: `${minutes} minutes`,
      seed,
      command,
      startedMs,
      digestBefore,
      counts,
      failures: failed,
      details,
    });
    if (record) print(`written: ${saveRecord(made)}`);
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(made, null, 2)}\n`);
    process.exitCode = complaints.length === 0 ? 0 : 1;
  })
  .parseAsync();
