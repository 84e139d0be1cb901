import type { Activation, Run } from './run.ts';
import type { Command, Failure, Job, Payload, WorkflowBundle } from './sdk.ts';
import { activate, createSandbox, encodeCommands, toError } from './sdk.ts';

/** A run in the worker's cache: its sandbox, and the replay that makes it again. */

/** A run, replayed, did not do again what it had done. */
export class NondeterminismError extends Error {}

export type OnSink = (run: Run, name: string, args: unknown[]) => void;

/** Out of the cache: the next activation replays the run first. */
export function evict(run: Run): void {
  void run.cache.sandbox?.dispose();
  run.cache.sandbox = null;
}

/** Gives the run jobs, and keeps what a replay must know of it. */
export async function activateRun(
  run: Run,
  activation: Activation,
  onSink: OnSink,
): Promise<{ commands: Command[]; failure: Failure | null }> {
  const { cache } = run;
  if (cache.sandbox === null) throw new Error(`${run.workflowId} is not in the cache`);
  const { commands, usedFlags, failure, sinkCalls } = await activate(cache.sandbox, {
    ...activation,
    runId: run.runId,
    isReplaying: false,
  });
  for (const { name, args } of sinkCalls) onSink(run, name, args);
  if (failure !== null) return { commands: [], failure };
  for (const flag of usedFlags) cache.flags.add(flag);
  const kept = withoutRejected(run, activation.jobs, commands);
  // A replay knows with what flags a task completed, and what patches it marked.
  const patches = commands.flatMap(({ setPatchMarker }) => setPatchMarker?.patchId ?? []);
  if (kept.jobs.length + kept.commands.length > 0)
    cache.activations.push({ ...activation, ...kept, flags: [...cache.flags], patches });
  return { commands, failure: null };
}

/** A rejected update leaves no trace; one that was accepted is not validated again. */
function withoutRejected(
  run: Run,
  jobs: readonly Job[],
  commands: readonly Command[],
): { jobs: Job[]; commands: Command[] } {
  const accepted = new Set(
    commands.flatMap(({ updateResponse }) => (updateResponse?.accepted ? [updateResponse.protocolInstanceId] : [])),
  );
  const isAccepted = (id: string): boolean =>
    accepted.has(id) || (run.updates.get(id)?.acceptedEventId ?? null) !== null;
  const rejected = new Set(
    commands.flatMap(({ updateResponse }) =>
      updateResponse?.rejected && !isAccepted(updateResponse.protocolInstanceId)
        ? [updateResponse.protocolInstanceId]
        : [],
    ),
  );
  return {
    jobs: jobs
      .filter(({ doUpdate }) => !rejected.has(doUpdate?.id ?? ''))
      .map((job) => (job.doUpdate ? { doUpdate: { ...job.doUpdate, runValidator: false } } : job)),
    commands: commands.filter(({ updateResponse }) => !rejected.has(updateResponse?.protocolInstanceId ?? '')),
  };
}

/**
 * Makes a sandbox in which the run has done again all that it did, where there is none.
 *
 * @returns how many activations were replayed
 * @throws NondeterminismError
 */
export async function loadRun(bundle: WorkflowBundle, run: Run, nowMs: number): Promise<number> {
  const { cache, parent } = run;
  if (cache.sandbox !== null) return 0;
  const [first] = cache.activations;
  const sandbox = await createSandbox(bundle, {
    ...run,
    parent: parent && { workflowId: parent.run.workflowId, runId: parent.run.runId },
    firstTaskMs: first?.atMs ?? nowMs,
  });
  for (const [index, activation] of cache.activations.entries()) {
    const jobs = [...activation.patches.map((patchId) => ({ notifyHasPatch: { patchId } })), ...activation.jobs];
    const { commands, failure } = await activate(sandbox, { ...activation, runId: run.runId, isReplaying: true, jobs });
    if (failure === null && Buffer.compare(encodeCommands(commands), encodeCommands(activation.commands)) === 0)
      continue;
    await sandbox.dispose();
    throw describeDifference(run, index, activation.commands, commands, failure);
  }
  cache.sandbox = sandbox;
  return cache.activations.length;
}

/** Stricter than Core, which looks at types and ids only. */
function describeDifference(
  { workflowId, type, cache }: Run,
  index: number,
  before: readonly Command[],
  now: readonly Command[],
  failure: Failure | null,
): NondeterminismError {
  const place = Array.from({ length: Math.max(before.length, now.length) }, (_, at) => at).find(
    (at) => show(before[at]) !== show(now[at]),
  );
  const [was, is] = place === undefined ? [before, now] : [before[place], now[place]];
  const found = failure === null ? show(is) : `it throws ${String(toError(failure).stack)}`;
  return new NondeterminismError(
    `${type} ${workflowId}, replayed, does something else in activation ${index + 1} of ${cache.activations.length}.\n  before: ${show(was)}\n  now:    ${found}`,
  );
}

const show = (value: unknown): string =>
  value === undefined
    ? 'nothing'
    : JSON.stringify(value, (_, part: unknown) =>
        part instanceof Uint8Array ? Buffer.from(part).toString() : part,
      ).slice(0, 600);

/** @throws Error: the query failed */
export async function queryRun(run: Run, queryType: string, args: Payload[], nowMs: number): Promise<Payload | null> {
  if (run.cache.sandbox === null) throw new Error(`${run.workflowId} is not in the cache`);
  const jobs = [{ queryWorkflow: { queryId: 'query', queryType, arguments: args, headers: {} } }];
  const { commands, failure } = await activate(run.cache.sandbox, {
    runId: run.runId,
    atMs: nowMs,
    isReplaying: true,
    historyLength: run.events.length,
    continueAsNewSuggested: false,
    flags: [],
    jobs,
  });
  const answer = commands[0]?.respondToQuery;
  if (failure !== null || answer?.failed) throw toError(failure ?? answer?.failed ?? {});
  return answer?.succeeded?.response ?? null;
}
