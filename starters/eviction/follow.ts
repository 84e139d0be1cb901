import type { Command } from 'commander';
import type { EvictionProgress } from '../../contracts/eviction/eviction.ts';
import { evictionId } from '../../contracts/ids.ts';
import type { Clock } from '../../runtime/clock.ts';
import { describedCommand, hostArgument, jsonOption } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { type ExitCode, exitCodeOfEnding, exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import { notRunning } from '../command/give-command.ts';
import { interruptible } from '../command/interruption.ts';
import { type KubernetesAccess, withKubernetes } from '../command/kubernetes-access.ts';
import { askProgress, findRunOf, readEnding } from '../command/runs.ts';
import { type TemporalAccess, withTemporal } from '../command/temporal-access.ts';
import type { Terminal } from '../command/terminal.ts';
import { formatAge, formatTime } from '../render/duration.ts';
import { renderEnding } from '../render/progress.ts';
import { clip, oneLine } from '../render/table.ts';
import { describeChanges, renderFrame } from '../render/watch.ts';
import { chooseEviction, isLeftDisabled, withStory } from './eviction-description.ts';
import type { Answer, Ending, EvictionObject } from './eviction-objects.ts';

/** What one observation of an eviction found. */
export type Observed =
  /** No run has taken it up yet; the sentence says what for. */
  | { state: 'waiting'; message: string }
  | { state: 'running'; progress: Answer }
  /** `endedAt` is RFC 3339; `leftDisabled`: its Eviction says that Nova places nothing on the host since. */
  | { state: 'ended'; ending: Ending; endedAt: string; leftDisabled: boolean; progress: Answer };

/** Where changes come from. */
export interface FollowSource {
  observe(): Promise<Observed>;
  /** By server id, how much of each move is done, fresher than the run knows; empty where that is not known. */
  percents(progress: EvictionProgress): Promise<ReadonlyMap<string, number>>;
}

/** Where changes go. */
interface FollowView {
  show(progress: EvictionProgress): void;
  /**
   * Something about the watching itself: no worker answers, nothing has begun. Printed once for as long as it is so.
   */
  remark(message: string): void;
  end(ending: Ending, progress: Answer): void;
}

/** The end that was followed. */
export interface FollowedEnd {
  ending: Ending;
  /** RFC 3339, where it had ended before it was first observed; null where it was seen to wait or run, or just had. */
  endedBefore: string | null;
}

/**
 * Shows an eviction until it ends, through absences of Temporal, of workers and of kube-apiserver. One that has emptied
 * its host and waits for the Node to come back counts as ended: who follows it may be the one that reboots the host.
 */
export async function follow(
  source: FollowSource,
  view: FollowView,
  { intervalMs, clock, abort }: { intervalMs: number; clock: Clock; abort: AbortSignal },
): Promise<FollowedEnd> {
  let wasUnderWay = false;
  let remarked: string | null = null;
  const remark = (message: string | null): void => {
    if (message !== null && message !== remarked) view.remark(message);
    remarked = message;
  };
  for (;;) {
    const observed = await source.observe().catch((error: unknown): null => {
      abort.throwIfAborted();
      if (!mayPass(error)) throw error;
      remark(`${explainError(error).message} Still trying.`);
      return null;
    });
    if (observed?.state === 'ended') {
      view.end(observed.ending, observed.progress);
      return {
        ending: observed.ending,
        endedBefore: wasUnderWay || isJustOver(observed, clock.now()) ? null : observed.endedAt,
      };
    }
    wasUnderWay ||= observed !== null;
    if (observed?.state === 'waiting') remark(observed.message);
    const ending = observed?.state === 'running' ? emptied(observed.progress) : null;
    if (observed?.state === 'running' && ending !== null) {
      view.end(ending, observed.progress);
      return { ending, endedBefore: null };
    }
    if (observed?.state === 'running') {
      remark(
        observed.progress === null
          ? 'No worker answers for this run. `drover doctor` shows why; `drover worker` starts one.'
          : null,
      );
      if (observed.progress !== null) view.show(await withPercents(source, observed.progress));
    }
    await clock.sleep(intervalMs, abort);
  }
}

/** Null: it is under way, or the Node is back and the host is being enabled. */
function emptied(progress: Answer): Ending | null {
  if (progress?.phase !== 'ReEnabling' || progress.waitingFor === null) return null;
  const { hypervisor, waitingFor } = progress;
  const message = `${hypervisor} is empty and disabled. Its run goes on, to enable it again: it waits for ${waitingFor}`;
  return { outcome: 'Succeeded', message, result: null };
}

/** Within this time a script gets from `drover evict` to `drover watch`. */
const justOverMs = 30_000;

/** It was too short to be seen. That the host is empty is believed only while nothing can have come. */
const isJustOver = ({ ending, endedAt, leftDisabled }: Extract<Observed, { state: 'ended' }>, nowMs: number): boolean =>
  Math.abs(nowMs - Date.parse(endedAt)) < justOverMs && (ending.outcome !== 'Succeeded' || leftDisabled);

/** A system that is away comes back; a no stays a no. */
const mayPass = (error: unknown): boolean => explainError(error).exitCode === exitCodes.unreachable;

async function withPercents(source: FollowSource, progress: EvictionProgress): Promise<EvictionProgress> {
  const percents = await source.percents(progress).catch((): ReadonlyMap<string, number> => new Map());
  const instances = progress.instances.map((instance) => {
    const percent = instance.state === 'moving' ? percents.get(instance.id) : undefined;
    return percent === undefined ? instance : { ...instance, percent: Math.max(percent, instance.percent ?? 0) };
  });
  return { ...progress, instances };
}

/**
 * Observes the eviction of one host: its run in Temporal, and for finer progress its Migration objects.
 * `observe` throws notFound when there is neither a run nor an Eviction that could begin one.
 */
export function followSource(access: TemporalAccess, kubernetes: KubernetesAccess, host: string): FollowSource {
  const workflowId = evictionId(host, access.config.cluster);
  // Once chosen, a run is followed to its end and not into the next eviction of the host.
  let runId: string | undefined;
  let uid: string | null = null;
  let last: string | null = null;

  const evictionOf = async ({ result }: Ending): Promise<EvictionObject | null> =>
    chooseEviction(
      (await kubernetes.evictions().catch(() => [])).filter((object) => object.host === host),
      result?.eviction ?? last,
    );
  const waitingEviction = async (): Promise<EvictionObject | undefined> =>
    (
      await kubernetes.evictions().catch((error: unknown) => {
        // An Eviction may wait unseen, and the end of the run before it is not its end.
        if (mayPass(error)) throw error;
        return [];
      })
    ).find((object) => object.host === host && !object.reconciled);

  async function observe(): Promise<Observed> {
    const followed = await findRunOf(access, workflowId, runId);
    if (followed?.status === 'continued') {
      runId = undefined;
      return await observe();
    }
    if (followed?.status === 'running') {
      runId = followed.runId;
      const progress = await askProgress(access, { workflowId, runId });
      last = progress?.eviction ?? last;
      return { state: 'running', progress };
    }
    // Before anything was followed, an Eviction that has no run yet is the one that is meant.
    const waiting = runId === undefined ? await waitingEviction() : undefined;
    if (waiting !== undefined)
      return {
        state: 'waiting',
        message: `Eviction ${waiting.name} has no run yet. The bridge starts one; \`drover retry ${host}\` does too.`,
      };
    if (followed === null) throw notRunning(host);
    const ending = await readEnding(access, { workflowId, runId: followed.runId });
    const eviction = await evictionOf(ending);
    return {
      state: 'ended',
      ending: withStory(ending, eviction),
      endedAt: followed.endedAt,
      leftDisabled: eviction !== null && isLeftDisabled(eviction),
      progress: await finalProgress(access, workflowId, followed.runId),
    };
  }

  return {
    observe,
    async percents({ eviction }) {
      if (eviction === null) return new Map();
      uid ??= (await kubernetes.evictions()).find(({ name }) => name === eviction)?.uid ?? null;
      const migrations = uid === null ? [] : await kubernetes.migrations(uid);
      return new Map(migrations.flatMap(({ id, percent }) => (percent === null ? [] : [[id, percent]])));
    },
  };
}

/** What the run showed last; null when no worker answers, or the run shows nothing after its end. */
export async function finalProgress(access: TemporalAccess, workflowId: string, runId: string) {
  const progress = await askProgress(access, { workflowId, runId });
  return progress === null || progress.phase === 'Opening' ? null : progress;
}

const cursorUp = (lines: number): string => (lines === 0 ? '' : `\u001b[${String(lines)}A`);
const clearDown = '\u001b[J';

/** A table redrawn in place. */
export function liveView(terminal: Terminal, clock: Clock): FollowView {
  let drawn = 0;
  const redraw = (lines: string[]): void => {
    terminal.draw(`${cursorUp(drawn)}\r${clearDown}${lines.map((line) => `${line}\n`).join('')}`);
    drawn = lines.length;
  };
  const frame = (progress: EvictionProgress): string[] =>
    renderFrame(progress, clock.now(), {
      widthColumns: terminal.widthColumns(),
      heightRows: terminal.heightRows(),
      paint: terminal.paint,
    });
  let last: EvictionProgress | null = null;
  return {
    show(progress) {
      last = progress;
      redraw(frame(progress));
    },
    remark(message) {
      // A line that wraps is two, of which the next redrawing would leave one.
      const line = clip(terminal.paint('warning', oneLine(message)), terminal.widthColumns());
      redraw([...(last === null ? [] : frame(last)), line]);
    },
    end(ending, progress) {
      const final = progress ?? last;
      redraw([...(final === null ? [] : frame(final)), ...renderEnding(ending, terminal.paint)]);
    },
  };
}

/** One line per thing that happens, with its time. */
export function plainView(terminal: Terminal, clock: Clock): FollowView {
  let last: EvictionProgress | null = null;
  const line = (text: string): void => terminal.print(`${formatTime(clock.now())} ${text}`);
  const changes = (progress: Answer): void => {
    if (progress === null) return;
    for (const change of describeChanges(last, progress)) line(change);
    last = progress;
  };
  return {
    show: changes,
    remark: line,
    end(ending, progress) {
      changes(progress);
      for (const text of renderEnding(ending, terminal.paint)) line(text);
    },
  };
}

/** JSON lines: `{time, progress}` whenever something changed, `{time, remark}`, and at last `{time, ending}`. */
export function jsonView(terminal: Terminal, clock: Clock): FollowView {
  let last = '';
  const line = (change: object): void =>
    terminal.print(JSON.stringify({ time: new Date(clock.now()).toISOString(), ...change }));
  const show = (progress: EvictionProgress): void => {
    const text = JSON.stringify(progress);
    if (text !== last) line({ progress });
    last = text;
  };
  return {
    show,
    remark: (remark) => line({ remark }),
    end(ending: Ending, progress: Answer) {
      if (progress !== null) show(progress);
      line({ ending });
    },
  };
}

/** Nothing but the end. */
export const quietView = (terminal: Terminal): FollowView => ({
  show: () => undefined,
  remark: (message) => terminal.remark(message),
  end: (ending) => renderEnding(ending, terminal.paint).forEach((line) => terminal.print(line)),
});

/** What ended before the watching says nothing of the host now: servers may be there again. */
export const exitCodeOfWatch = (outcome: Ending['outcome'], endedBefore: string | null): ExitCode =>
  endedBefore === null ? exitCodeOfEnding(outcome, { observe: false }) : exitCodes.notFound;

export const watchIntervalMs = 1_000;

export const watchCommand = (context: CommandContext): Command =>
  describedCommand(
    'watch',
    'Follows the eviction of a host until it ends, or, in a rolling update, until the host is empty: a live table on a terminal, else a line per change. Ctrl-C ends the watching, not the eviction.',
    [
      ['drover watch node-1', 'a table that is redrawn in place'],
      ['drover watch node-1 | tee node-1.log', 'a line for each thing that happens'],
      ['drover watch node-1 --json', 'JSON lines, for programs'],
      ['drover watch node-1 && ssh node-1 reboot', 'go on only when the host is empty'],
    ],
  )
    .addArgument(hostArgument())
    .addOption(jsonOption().default(false))
    .action((host: string, { json }: { json: boolean }) =>
      interruptible(context, (abort) =>
        withTemporal(context, abort, (temporal) =>
          withKubernetes(temporal, async (kubernetes) => {
            const source = followSource(temporal, kubernetes, host);
            const { clock, terminal } = context;
            const { ending, endedBefore } = await follow(source, chooseView(context, json), {
              intervalMs: watchIntervalMs,
              clock,
              abort,
            });
            context.exitCode = exitCodeOfWatch(ending.outcome, endedBefore);
            if (endedBefore !== null)
              terminal.remark(
                `Nothing runs: the last eviction of ${host} ended ${formatAge(endedBefore, clock.now())} ago, and what is on the host since is not known. \`drover evict ${host} --wait\` empties it and waits.`,
              );
          }),
        ),
      ),
    );

export function chooseView({ terminal, clock }: CommandContext, json: boolean): FollowView {
  if (json) return jsonView(terminal, clock);
  return terminal.isInteractive ? liveView(terminal, clock) : plainView(terminal, clock);
}
