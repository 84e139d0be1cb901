/**
 * `npm run record-histories`: keeps what runs write, in the simulator, for this release. Those of
 * earlier releases stay.
 */
import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { openFailureWorld } from '../flows/node-failure/world.ts';
import { costOf } from '../budgets/cost.ts';
import { loadWorkflows } from '../simulator/bundle.ts';
import type { RecordedRun } from './corpus.ts';
import { writeRuns } from './corpus.ts';
import { writeManifest } from './inventory.ts';
import { failures, recordFailure, recordGuestWatch } from './record-failures.ts';
import { recordings, recordScenario } from './record-scenarios.ts';
import { pools, recordPool } from './record-pools.ts';
import { recordVolume, volumes } from './record-volumes.ts';
import { recordSweep, sweeps } from './record-sweeps.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const guestWatch = 'guests-switched-off';
const names = [...[...recordings, ...sweeps, ...pools, ...volumes, ...failures].map(({ name }) => name), guestWatch];

const list = (text: string): string[] => {
  const names = text.split(',').map((part) => part.trim());
  for (const name of names)
    if (!names.includes(name)) throw new InvalidArgumentError(`Choose from ${names.join(', ')}.`);
  return names;
};

type Runs = Omit<RecordedRun, 'name'>[];

/** One that fails is reported, and keeps what was recorded before; the others go on. */
async function record(recorded: Map<string, Runs>, name: string, run: () => Promise<Runs>): Promise<void> {
  try {
    const runs = await run();
    recorded.set(name, runs);
    print(`${name}: ${runs.length} runs\n${runs.map(describeRun).join('\n')}`);
  } catch (error) {
    process.exitCode = 1;
    print(`${name}: NOT recorded: ${(error as Error).message}`);
  }
}

function describeRun({ workflowId, history, calls = {} }: Runs[number]): string {
  const { events, activityCalls } = costOf(history);
  return `  ${workflowId}: ${events} events, ${activityCalls} activity calls${Object.entries(calls)
    .map(([system, count]) => `, ${count} of ${system}`)
    .join('')}`;
}

async function main({ only }: { only: string[] }): Promise<void> {
  const recorded = new Map<string, Runs>();
  const bundle = await loadWorkflows();
  for (const recording of recordings)
    if (only.includes(recording.name)) await record(recorded, recording.name, () => recordScenario(bundle, recording));
  for (const recording of sweeps)
    if (only.includes(recording.name)) await record(recorded, recording.name, () => recordSweep(recording));
  for (const recording of pools)
    if (only.includes(recording.name)) await record(recorded, recording.name, () => recordPool(recording));
  for (const recording of volumes)
    if (only.includes(recording.name)) await record(recorded, recording.name, () => recordVolume(recording));
  const failing = failures.filter(({ name }) => only.includes(name));
  if (failing.length > 0 || only.includes(guestWatch)) {
    process.env['DROVER_SIMULATED'] = '1';
    const world = await openFailureWorld();
    try {
      for (const failure of failing) await record(recorded, failure.name, () => recordFailure(world, failure));
      if (only.includes(guestWatch)) await record(recorded, guestWatch, () => recordGuestWatch(world));
    } finally {
      await world.close();
    }
  }
  writeRuns(version, recorded);
  writeManifest();
}

await new Command('record-histories')
  .description(
    'Runs the scenarios of the fault matrix, of sweeps, of agent pools and of volumes in the simulator, and hosts and guests that fail, and keeps what their runs wrote.',
  )
  .option('--only <names>', `of ${names.join(', ')}`, list, names)
  .action(main)
  .parseAsync();
