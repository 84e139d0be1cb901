import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { loadWorkflows } from '../bundle.ts';
import type { SimulatedCell } from './cell.ts';
import { parseCell } from './cell.ts';
import { type Mutation, rewritten } from '../mutations/mutation.ts';
import { mutations } from '../mutations/table.ts';
import { beyondPart, noteTypes } from './part-of.ts';
import { runSchedule } from '../schedules/run-schedule.ts';
import type { WorkflowBundle } from '../simulation.ts';
import { simulateNamed } from './stories.ts';
import { loadBundle } from '../temporal/sdk.ts';

export interface CellOutcome {
  /** As it is typed; a mutation as `mutation <name>`. */
  cell: string;
  complaints: string[];
}

const mutationPrefix = 'mutation ';
export const formatMutation = ({ name }: Pick<Mutation, 'name'>): string => `${mutationPrefix}${name}`;

export const isMutation = ({ cell }: Pick<CellOutcome, 'cell'>): boolean => cell.startsWith(mutationPrefix);

/** How many cells a process takes at a time: enough that it never waits, few enough that all end together. */
const batchSize = 8;

/** What a cell leaves behind is short-lived: with more space for it, less of it is copied. */
const youngSpaceMiB = 32;

/** Runs cells in processes of their own, as a processor each; a process that dies fails the cells that it had. */
export async function runInShards(
  cells: readonly string[],
  processes: number,
  signal: AbortSignal,
  report: (outcome: CellOutcome) => void,
): Promise<void> {
  const waiting = [...cells];
  const shards = Array.from({ length: Math.min(processes, Math.ceil(waiting.length / batchSize)) }, async () => {
    const child = fork(fileURLToPath(new URL('shard.ts', import.meta.url)), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [...process.execArgv, `--max-semi-space-size=${youngSpaceMiB}`],
    });
    const end = (): void => void child.kill('SIGKILL');
    signal.addEventListener('abort', end, { once: true });
    const batch = new Set<string>();
    const next = (): void => {
      for (const cell of waiting.splice(0, batchSize)) batch.add(cell);
      if (batch.size === 0) child.disconnect();
      else child.send([...batch]);
    };
    child.on('message', (outcome: CellOutcome) => {
      batch.delete(outcome.cell);
      report(outcome);
      if (batch.size === 0) next();
    });
    const ended = Promise.withResolvers<void>();
    child.on('error', ended.reject).on('exit', () => ended.resolve());
    next();
    await ended.promise;
    signal.removeEventListener('abort', end);
    signal.throwIfAborted();
    for (const cell of batch) report({ cell, complaints: ['the process that ran it has died'] });
  });
  await Promise.all(shards);
}

/** What a shard does: runs the cells that it is sent, one after the other. */
export async function serveShard(): Promise<void> {
  const bundle = await loadWorkflows();
  let last = Promise.resolve();
  process.on('message', (cells: string[]) => {
    last = last.then(async () => {
      for (const cell of cells) {
        process.send?.({ cell, complaints: await run(bundle, cell) });
      }
    });
  });
  process.on('disconnect', () => process.exit());
}

async function run(bundle: WorkflowBundle, text: string): Promise<string[]> {
  const mutation = mutations.find((one) => formatMutation(one) === text);
  if (mutation !== undefined) return await judgeMutation(bundle, mutation);
  const { scenario, targets } = readCell(text);
  const types = new Set<string>();
  const { complaints, run } = await simulateNamed(bundle, scenario, { targets }, { onEvent: noteTypes(types) });
  return [...complaints, ...beyondPart(scenario, run, types)];
}

/** Complaints of what was run without a mutation, by where that was: several mutations are caught in the same place. */
const whole = new Map<string, readonly string[]>();

/** Empty: what is broken was noticed, where nothing is noticed while it is whole. */
async function judgeMutation(bundle: WorkflowBundle, mutation: Mutation): Promise<string[]> {
  const { caughtBy, breaks, says = /(?:)/u, mutate, rewrite } = mutation;
  const run = async (which: WorkflowBundle, hooks: Pick<Mutation, 'mutate'>): Promise<string[]> => {
    if (typeof caughtBy !== 'string') return (await runSchedule(which, caughtBy, hooks)).complaints;
    const cell = readCell(caughtBy);
    return (await simulateNamed(which, cell.scenario, cell, hooks)).complaints;
  };
  const place = typeof caughtBy === 'string' ? caughtBy : `its schedule, ${JSON.stringify(caughtBy)}`;
  const before = whole.get(place) ?? (await run(bundle, {}));
  whole.set(place, before);
  if (before.length > 0) return [`${place} proves nothing, as without the mutation too: ${before.join('; ')}`];
  const broken =
    rewrite === undefined ? bundle : await loadBundle(rewritten(bundle.code, rewrite, 'the workflow bundle'));
  const complaints = await run(broken, mutate === undefined ? {} : { mutate });
  if (complaints.some((complaint) => says.test(complaint))) return [];
  const noticed = complaints.length === 0 ? 'nothing' : `only ${complaints.join('; ')}`;
  return [`${noticed} was noticed in ${place}, and it is broken: ${breaks}`];
}

/** A scenario alone is one without a fault. */
const readCell = (text: string): SimulatedCell =>
  text.includes('/') ? parseCell(text) : { scenario: text, targets: [] };
