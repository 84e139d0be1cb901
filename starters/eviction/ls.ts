import type { Command } from 'commander';
import { findCondition } from '../../contracts/conditions.ts';
import { runIdAnnotation } from '../../contracts/eviction/annotations.ts';
import type { EvictionProgress } from '../../contracts/eviction/eviction.ts';
import { annotations } from '../../contracts/ids.ts';
import { describedCommand, jsonOption } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { interruptible } from '../command/interruption.ts';
import { type KubernetesAccess, readEvictions, withKubernetes } from '../command/kubernetes-access.ts';
import { askAll, listRuns, mostRuns } from '../command/runs.ts';
import { type TemporalAccess, withTemporal } from '../command/temporal-access.ts';
import { printJson } from '../command/terminal.ts';
import { formatAge, formatDuration } from '../render/duration.ts';
import type { Paint } from '../render/paint.ts';
import { deadlineMarginMs, formatMargin, oldestWait, phaseStyle, phaseWord } from '../render/progress.ts';
import { oneLine, renderTable } from '../render/table.ts';
import type { Answer, EvictionObject, EvictionRun } from './eviction-objects.ts';

/** One line of `drover ls`, and one element of its `--json`. Times are RFC 3339. */
export interface ListedEviction {
  host: string;
  kind: 'Eviction';
  /** `running`: has a run. `waiting`: an Eviction that has none. `ended`: how it ended. */
  state: 'running' | 'waiting' | 'ended';
  phase: string;
  /** Why it waits or how it ended; null where the phase says all. */
  reason: string | null;
  counts: EvictionProgress['counts'] | null;
  oldestWaitSince: string | null;
  etaMs: number | null;
  deadline: string | null;
  deadlineMarginMs: number | null;
  startedBy: string | null;
  startedAt: string;
  endedAt: string | null;
  eviction: string | null;
  workflowId: string | null;
  runId: string | null;
}

interface ListInput {
  runs: readonly EvictionRun[];
  /** By run id, for those that run. */
  answers: ReadonlyMap<string, Answer>;
  objects: readonly EvictionObject[];
  nowMs: number;
  /** How long an ended one stays in the list; Infinity: for ever. */
  recentMs: number;
}

/**
 * Every eviction in motion, then those that wait, then those that ended recently, the last one of each host.
 * With an infinite `recentMs` every run that Temporal still has is listed.
 */
export function listEvictions({ runs, answers, objects, nowMs, recentMs }: ListInput): ListedEviction[] {
  const running = runs
    .filter(({ status }) => status === 'Running')
    .map((run) => listRunning(run, answers.get(run.runId) ?? null, objects, nowMs));
  const driven = new Set(running.map(({ eviction }) => eviction));
  const hosts = new Set(running.map(({ host }) => host));
  // An Eviction of a host that is running under an unknown name is the running one, unless it says that it waits.
  const waiting = objects
    .filter((object) => !object.reconciled && !driven.has(object.name) && !(hosts.has(object.host) && driven.has(null)))
    .map((object) => listWaiting(object, nowMs));
  return [...running.sort(byHost), ...waiting.sort(byHost), ...listEnded(runs, objects, hosts, nowMs, recentMs)];
}

const byHost = (a: ListedEviction, b: ListedEviction): number => a.host.localeCompare(b.host, 'en', { numeric: true });

function listRunning(
  run: EvictionRun,
  answer: Answer,
  objects: readonly EvictionObject[],
  nowMs: number,
): ListedEviction {
  const object =
    objects.find(({ name }) => name === answer?.eviction) ??
    objects.find(({ host, reconciled }) => host === run.host && !reconciled);
  return {
    host: run.host,
    kind: 'Eviction',
    state: 'running',
    phase: answer === null ? (run.phase ?? 'Running') : phaseWord(answer),
    reason: answer === null ? 'no worker answers' : (answer.waitingFor ?? run.reason),
    counts: answer?.counts ?? null,
    oldestWaitSince: answer === null ? null : oldestWait(answer),
    etaMs: answer?.etaMs ?? null,
    deadline: answer?.deadline ?? null,
    deadlineMarginMs: answer === null ? null : deadlineMarginMs(answer, nowMs),
    startedBy: answer?.startedBy ?? object?.annotations[annotations.startedBy] ?? null,
    startedAt: run.startedAt,
    endedAt: null,
    eviction: answer?.eviction ?? object?.name ?? null,
    workflowId: run.workflowId,
    runId: run.runId,
  };
}

function listWaiting(object: EvictionObject, nowMs: number): ListedEviction {
  const condition = findCondition(object.conditions, 'Evicting');
  const deadline = object.annotations[annotations.deadline] ?? null;
  return {
    host: object.host,
    kind: 'Eviction',
    state: 'waiting',
    phase: 'Waiting',
    reason: condition === undefined ? 'no run has begun' : `${condition.reason}: ${condition.message}`,
    counts: null,
    oldestWaitSince: object.createdAt,
    etaMs: null,
    deadline,
    deadlineMarginMs: deadline === null || Number.isNaN(Date.parse(deadline)) ? null : Date.parse(deadline) - nowMs,
    startedBy: object.annotations[annotations.startedBy] ?? null,
    startedAt: object.createdAt,
    endedAt: null,
    eviction: object.name,
    workflowId: null,
    runId: null,
  };
}

function listEnded(
  runs: readonly EvictionRun[],
  objects: readonly EvictionObject[],
  runningHosts: ReadonlySet<string>,
  nowMs: number,
  recentMs: number,
) {
  const everything = recentMs === Infinity;
  const ended = runs
    .filter(({ endedAt }) => endedAt !== null && nowMs - Date.parse(endedAt) <= recentMs)
    .sort((a, b) => (b.endedAt ?? '').localeCompare(a.endedAt ?? ''));
  const seen = new Set<string>(everything ? [] : runningHosts);
  const listed: ListedEviction[] = [];
  for (const run of ended) {
    if (!everything && seen.has(run.host)) continue;
    seen.add(run.host);
    listed.push(listEndedRun(run, objects));
  }
  return listed;
}

/**
 * The Eviction that a run served: it has the run's id, unless the run has continued as new since; then it is the last
 * one of the host that was made before the run ended.
 */
function servedBy(run: EvictionRun, objects: readonly EvictionObject[]): EvictionObject | undefined {
  const its = objects.filter(({ host }) => host === run.host);
  const named = its.find((object) => object.annotations[runIdAnnotation] === run.runId);
  const endedMs = run.endedAt === null ? Infinity : Date.parse(run.endedAt);
  const before = its.filter(({ createdAt }) => Date.parse(createdAt) <= endedMs);
  return named ?? before.toSorted((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt)).at(-1);
}

const listEndedRun = (run: EvictionRun, objects: readonly EvictionObject[]): ListedEviction => {
  const object = servedBy(run, objects);
  return {
    host: run.host,
    kind: 'Eviction',
    state: 'ended',
    phase: run.status === 'Completed' ? (run.phase ?? 'Completed') : endedPhase(run),
    reason: run.reason,
    counts: null,
    oldestWaitSince: null,
    etaMs: null,
    deadline: null,
    deadlineMarginMs: null,
    startedBy: object?.annotations[annotations.startedBy] ?? null,
    startedAt: run.startedAt,
    endedAt: run.endedAt,
    eviction: object?.name ?? null,
    workflowId: run.workflowId,
    runId: run.runId,
  };
};

/** A run that ended against its will leaves the phase it was in, which is not where it is. */
const endedPhase = ({ status }: EvictionRun): string => (status === 'Cancelled' ? 'Stopped' : status);

const dayMs = 24 * 3_600_000;

export const lsCommand = (context: CommandContext): Command =>
  describedCommand('ls', 'Lists evictions: those in motion, those that wait, and how those of the last day ended.', [
    ['drover ls', 'what is going on'],
    ['drover ls --all', 'every run that Temporal still has'],
    [`drover ls --json | jq -r '.[] | select(.counts.blocked > 0).host'`, 'hosts with an instance that does not move'],
  ])
    .option('--all', 'every run that Temporal still has, not only the last of each host')
    .addOption(jsonOption())
    .action(({ all = false, json = false }: { all?: boolean; json?: boolean }) =>
      interruptible(context, (abort) =>
        withTemporal(context, abort, (temporal) =>
          withKubernetes(temporal, async (kubernetes) => {
            const { terminal } = context;
            const nowMs = context.clock.now();
            const { evictions, isCut, problem } = await gather(temporal, kubernetes, nowMs, all ? Infinity : dayMs);
            if (json) printJson(terminal, evictions);
            else
              for (const line of renderList(evictions, nowMs, terminal.paint, terminal.widthColumns()))
                terminal.print(line);
            if (isCut)
              terminal.remark(`There are more than ${String(mostRuns)} runs: the others are not shown, nor counted.`);
            if (problem !== null) terminal.remark(`Evictions that wait are not shown: ${problem}`);
          }),
        ),
      ),
    );

async function gather(
  temporal: TemporalAccess,
  kubernetes: KubernetesAccess,
  nowMs: number,
  recentMs: number,
): Promise<{ evictions: ListedEviction[]; isCut: boolean; problem: string | null }> {
  const askRuns = async () => {
    const { runs, isCut } = await listRuns(temporal, nowMs - recentMs);
    return {
      runs,
      isCut,
      answers: await askAll(
        temporal,
        runs.filter(({ status }) => status === 'Running'),
      ),
    };
  };
  const [{ runs, answers, isCut }, { objects, problem }] = await Promise.all([askRuns(), readEvictions(kubernetes)]);
  return { evictions: listEvictions({ runs, answers, objects, nowMs, recentMs }), isCut, problem };
}

const columns = [
  { title: 'HOST' },
  { title: 'KIND' },
  { title: 'DONE', align: 'right' as const },
  { title: 'BLOCKED', align: 'right' as const },
  { title: 'OLDEST WAIT', align: 'right' as const },
  { title: 'ETA', align: 'right' as const },
  { title: 'MARGIN', align: 'right' as const },
  { title: 'STARTED BY' },
  { title: 'PHASE' },
  { title: 'WHY' },
];

/** The table of `drover ls`. */
export function renderList(
  evictions: readonly ListedEviction[],
  nowMs: number,
  paint: Paint,
  widthColumns: number,
): string[] {
  if (evictions.length === 0)
    return ['Nothing is being evicted, and nothing was in the last day. `drover ls --all` goes further back.'];
  return renderTable(
    columns,
    evictions.map((eviction) => renderRow(eviction, nowMs, paint)),
    widthColumns,
  );
}

function renderRow(eviction: ListedEviction, nowMs: number, paint: Paint): string[] {
  const { counts, etaMs, deadlineMarginMs: marginMs } = eviction;
  const blocked = counts?.blocked ?? 0;
  return [
    oneLine(eviction.host),
    eviction.kind,
    counts === null ? '-' : `${String(counts.done)}/${String(counts.total)}`,
    counts === null ? '-' : blocked > 0 ? paint('bad', String(blocked)) : '0',
    formatAge(eviction.oldestWaitSince, nowMs),
    etaMs === null ? '-' : formatDuration(etaMs),
    marginMs === null ? '-' : marginMs < 0 ? paint('bad', formatMargin(marginMs)) : formatMargin(marginMs),
    oneLine(eviction.startedBy ?? '-'),
    paint(phaseStyle(eviction.phase.split(' ')[0] ?? ''), eviction.phase),
    oneLine(renderWhy(eviction, nowMs)),
  ];
}

function renderWhy({ phase, reason, endedAt }: ListedEviction, nowMs: number): string {
  const said = reason === phase ? null : reason;
  return [said, endedAt === null ? null : `${formatAge(endedAt, nowMs)} ago`]
    .filter((part) => part !== null)
    .join(', ');
}
