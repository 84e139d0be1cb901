/** `npm run record-histories`: keeps what runs write, on a lab, for this release. Those of earlier releases stay. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { startLab } from '../../lab/lab.ts';
import { partsFor } from '../faults/scenarios.ts';
import { openFailureWorld } from '../flows/node-failure/world.ts';
import { costOf } from '../budgets/cost.ts';
import type { RecordedRun } from './corpus.ts';
import { writeRuns } from './corpus.ts';
import { writeManifest } from './inventory.ts';
import { failures, recordFailure } from './record-failures.ts';
import { guestRecordings } from './record-guests.ts';
import { recordings, recordScenario } from './record-scenarios.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const names = [...recordings, ...failures, ...guestRecordings].map(({ name }) => name);

const list = (text: string): string[] => {
  const asked = text.split(',').map((part) => part.trim());
  for (const name of asked)
    if (!names.includes(name)) throw new InvalidArgumentError(`Choose from ${names.join(', ')}.`);
  return asked;
};

/** One after the other; one that goes wrong keeps what was recorded before, and the others go on. */
async function recordAll<Recording extends { name: string }>(
  chosen: readonly Recording[],
  record: (recording: Recording) => Promise<Omit<RecordedRun, 'name'>[]>,
): Promise<void> {
  for (const recording of chosen) {
    try {
      const runs = await record(recording);
      writeRuns(version, recording.name, runs);
      writeManifest();
      print(`${recording.name}: ${runs.length} runs\n${runs.map(inWords).join('\n')}`);
    } catch (error) {
      process.exitCode = 1;
      print(`${recording.name}: NOT recorded: ${(error as Error).message}`);
    }
  }
}

function inWords({ workflowId, history, calls = {} }: Omit<RecordedRun, 'name'>): string {
  const { events, activityCalls } = costOf(history);
  return `  ${workflowId}: ${events} events, ${activityCalls} activity calls${Object.entries(calls)
    .map(([system, count]) => `, ${count} of ${system}`)
    .join('')}`;
}

async function main({ only }: { only: string[] }): Promise<void> {
  const scenarios = recordings.filter(({ name }) => only.includes(name));
  if (scenarios.length > 0) {
    const dir = mkdtempSync(join(tmpdir(), 'drover-record-'));
    const lab = await startLab({
      dir: join(dir, 'lab'),
      parts: partsFor(scenarios.map(({ scenario }) => scenario)),
      report: print,
    });
    try {
      await recordAll(scenarios, (recording) => recordScenario(lab, recording));
    } finally {
      await lab.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  }
  const failing = failures.filter(({ name }) => only.includes(name));
  const guests = guestRecordings.filter(({ name }) => only.includes(name));
  if (failing.length + guests.length === 0) return;
  const world = await openFailureWorld();
  try {
    await recordAll(failing, (failure) => recordFailure(world, failure));
    await recordAll(guests, ({ record }) => record(world));
  } finally {
    await world.close();
  }
}

await new Command('record-histories')
  .description(
    'Runs the scenarios of the fault matrix, hosts that fail and guests that do, and keeps what their runs wrote.',
  )
  .option('--only <names>', `of ${names.join(', ')}`, list, names)
  .action(main)
  .parseAsync();
