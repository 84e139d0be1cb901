import { findCondition } from '../../contracts/conditions.ts';
import { evictionConditions, onTimeReasons } from '../../contracts/eviction/conditions.ts';
import type { EvictionProgress } from '../../contracts/eviction/eviction.ts';
import { annotations } from '../../contracts/ids.ts';
import type { EvictionDescription } from '../eviction/eviction-description.ts';
import { situationOf } from '../eviction/eviction-description.ts';
import type { EvictionObject, MigrationObject } from '../eviction/eviction-objects.ts';
import type { NextCommand } from '../command/next-commands.ts';
import { liftStop, nextCommands } from '../command/next-commands.ts';
import { hypervisorCommands } from '../hypervisor/hypervisor-commands.ts';
import { needsAttention } from '../hypervisor/listed-host.ts';
import { oneLine, renderConditions, renderNextCommands, renderTable } from './table.ts';
import { formatAge, formatDuration, formatRelative, formatTime } from './duration.ts';
import {
  deadlineMarginMs,
  formatMargin,
  formatMemory,
  phaseStyle,
  phaseWord,
  renderEnding,
  renderInstances,
  renderProgressBar,
  summarizeCounts,
  worstFirst,
} from './progress.ts';
import { failureCommands, renderFailure } from './failure.ts';
import { renderHypervisorHead } from './hypervisor.ts';
import type { Paint } from './paint.ts';
import { waitingLine } from './watch.ts';

/** Everything about one host and its eviction, the sentence that matters first, what to type next last. */
export function renderDescription(
  description: EvictionDescription,
  nowMs: number,
  paint: Paint,
  widthColumns: number,
): string[] {
  const section = (title: string, lines: string[]): string[] =>
    lines.length === 0 ? [] : ['', paint('strong', title), ...lines];
  const { host, progress, eviction, ending, hypervisor, failure } = description;
  const ofFailure = section(`Failure of ${host}`, failure === null ? [] : renderFailure(failure, nowMs, paint));
  const forFailure = failure === null ? [] : failureCommands(host, failure);
  const problems = section(
    'Could not be read',
    description.problems.map((problem) => paint('warning', oneLine(problem))),
  );
  if (hypervisor !== null && description.run === null && eviction === null) {
    return [
      ...renderHypervisorHead(hypervisor, nowMs, paint),
      ...renderStops(description, paint),
      ...ofFailure,
      ...section(
        `Conditions of Hypervisor ${oneLine(hypervisor.object.name)}`,
        renderConditions(hypervisor.object.conditions, nowMs, widthColumns),
      ),
      ...problems,
      ...section(
        'What you can do',
        renderNextCommands(
          [
            ...findTemporal(description),
            ...liftStops(description),
            ...forFailure,
            ...hypervisorCommands(hypervisor.object),
          ],
          paint,
        ),
      ),
    ];
  }
  return [
    renderHeadline(description, nowMs, paint),
    ...renderFields(description, nowMs, paint),
    ...ofFailure,
    ...section('Result', ending === null ? [] : renderEnding(ending, paint)),
    ...section('Obstacles', progress === null ? [] : renderObstacles(description.host, progress, paint)),
    ...section(
      'Instances',
      progress === null || progress.instances.length === 0
        ? []
        : renderInstances(worstFirst(progress.instances), nowMs, paint, widthColumns),
    ),
    ...section('Migrations', progress === null ? renderMigrations(description.migrations, widthColumns) : []),
    ...section(
      `Conditions of Eviction ${oneLine(eviction?.name ?? '')}`,
      eviction === null ? [] : renderConditions(eviction.conditions, nowMs, widthColumns),
    ),
    ...section('Other Evictions of this host', renderOthers(description, widthColumns)),
    ...section('Runs', renderRuns(description, nowMs, widthColumns)),
    ...section('Hypervisor', hypervisor === null ? [] : renderHypervisorHead(hypervisor, nowMs, paint)),
    ...problems,
    ...section('What you can do', renderNextCommands([...forFailure, ...allCommands(description)], paint)),
  ];
}

/** Those for the Hypervisor first where that is what needs attention; one that both name is shown once. */
function allCommands(description: EvictionDescription): NextCommand[] {
  // Which of them help follows from the run.
  const ofEviction = description.runsKnown
    ? nextCommands(situationOf(description))
    : [...findTemporal(description), ...liftStops(description)];
  const { hypervisor } = description;
  if (hypervisor === null) return ofEviction;
  const ofHypervisor = hypervisorCommands(hypervisor.object);
  const all =
    description.run?.status !== 'Running' && needsAttention(hypervisor.object)
      ? [...ofHypervisor, ...ofEviction]
      : [...ofEviction, ...ofHypervisor];
  return all.filter(({ command }, index) => all.findIndex((other) => other.command === command) === index);
}

const findTemporal = ({ runsKnown }: EvictionDescription): NextCommand[] =>
  runsKnown ? [] : [{ command: 'drover doctor', why: 'see why Temporal cannot be asked' }];

function renderHeadline(
  { host, run, runsKnown, progress, ending, eviction }: EvictionDescription,
  nowMs: number,
  paint: Paint,
): string {
  const name = paint('strong', oneLine(host));
  if (progress !== null && run?.status === 'Running')
    return `${name}: ${paint(phaseStyle(progress.phase), phaseWord(progress))} for ${formatAge(progress.since, nowMs)}`;
  if (run?.status === 'Running')
    return `${name}: ${paint('warning', `running for ${formatAge(run.startedAt, nowMs)}, but no worker answers for it`)}`;
  if (!runsKnown && eviction !== null)
    return `${name}: ${paint('warning', `Eviction ${oneLine(eviction.name)} ${lastSaid(eviction, nowMs)}, and whether it runs is not known`)}`;
  if (!runsKnown) return `${name}: ${paint('warning', 'whether it is evicted is not known')}`;
  if (eviction !== null && !eviction.reconciled)
    return `${name}: ${paint('warning', `Eviction ${oneLine(eviction.name)} waits for a run since ${formatAge(eviction.createdAt, nowMs)}`)}`;
  if (run !== null && ending !== null)
    return `${name}: ${paint(phaseStyle(ending.outcome), ending.outcome)} ${formatAge(run.endedAt, nowMs)} ago`;
  return `${name}: nothing is known of an eviction`;
}

/** What its run has written last. */
function lastSaid({ conditions }: EvictionObject, nowMs: number): string {
  const said =
    findCondition(conditions, evictionConditions.evicting) ?? findCondition(conditions, evictionConditions.observed);
  return said === undefined
    ? 'has said nothing yet'
    : `says ${oneLine(said.reason)} for ${formatAge(said.lastTransitionTime, nowMs)}`;
}

function renderFields(description: EvictionDescription, nowMs: number, paint: Paint): string[] {
  const { progress, eviction, run, stops, webUi } = description;
  const fields: [name: string, value: string | null][] = [
    ['reason', oneLine(progress?.reason ?? eviction?.reason ?? '')],
    ['cause', progress?.cause ?? eviction?.annotations[annotations.cause] ?? null],
    ['started by', oneLine(progress?.startedBy ?? eviction?.annotations[annotations.startedBy] ?? '')],
    ['consent by', oneLine(eviction?.annotations[annotations.consentBy] ?? '')],
    ['mode', progress?.mode ?? null],
    ...(progress === null ? [] : progressFields(progress, nowMs, paint)),
    ['drover stop', stopFact(stops, paint)],
    ['run', run === null ? null : `${run.workflowId} ${run.runId}`],
    ['web UI', webUi],
  ];
  return fields
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `  ${name.padEnd(12)} ${value ?? ''}`);
}

const stopFact = (stops: readonly string[], paint: Paint): string | null =>
  stops.length === 0 ? null : paint('bad', stops.map(oneLine).join('; '));

const renderStops = ({ stops }: EvictionDescription, paint: Paint): string[] =>
  stops.length === 0 ? [] : [`  drover stop  ${stopFact(stops, paint) ?? ''}`];

const liftStops = ({ stops }: EvictionDescription): NextCommand[] => (stops.length === 0 ? [] : [...liftStop]);

function progressFields(progress: EvictionProgress, nowMs: number, paint: Paint): [string, string | null][] {
  const { waitingFor, nextWakeUp, paused, etaMs, deadline, window, outstandingRamMb } = progress;
  const marginMs = deadlineMarginMs(progress, nowMs);
  const margin =
    marginMs === null
      ? ''
      : marginMs < 0
        ? paint('bad', `${formatMargin(-marginMs)} too late`)
        : `${formatMargin(marginMs)} to spare`;
  return [
    [
      'progress',
      `${summarizeCounts(progress.counts)}${outstandingRamMb > 0 ? `; ${formatMemory(outstandingRamMb)} still to go` : ''}`,
    ],
    ['paused', paused === null ? null : paint('warning', oneLine(paused))],
    ['waiting', waitingFor === null ? null : waitingLine(waitingFor, nextWakeUp, nowMs).replace(/^waiting /, '')],
    ['ETA', etaMs === null ? null : `in ${formatDuration(etaMs)}, at ${formatTime(nowMs + etaMs)}`],
    ['deadline', deadline === null ? null : `${deadline}, ${formatRelative(deadline, nowMs)}; ${margin}`],
    ['on time', isLate(progress) ? paint('bad', oneLine(progress.onTime?.message ?? '')) : null],
    [
      'window',
      `${String(window.using)} moving, at most ${String(window.parallelism)} at once; the region grants ${String(window.allowance)}`,
    ],
  ];
}

const isLate = ({ onTime }: EvictionProgress): boolean =>
  onTime !== undefined && onTime !== null && onTimeReasons[onTime.verdict] === 'False';

const renderObstacles = (host: string, { obstacles, notes }: EvictionProgress, paint: Paint): string[] => [
  ...obstacles.flatMap(({ id, message, accepted }) => [
    `${accepted ? paint('quiet', 'accepted') : paint('bad', 'open    ')}  ${id}  ${oneLine(message)}`,
    ...(accepted ? [] : [`          accept it: ${paint('strong', `drover accept ${host} ${id}`)}`]),
  ]),
  ...notes.map((note) => `${paint('quiet', 'note    ')}  ${oneLine(note)}`),
];

/** Where no worker reports the instances, their Migration objects still do. */
const renderMigrations = (migrations: readonly MigrationObject[], widthColumns: number): string[] =>
  migrations.length === 0
    ? []
    : renderTable(
        ['SERVER', 'STATE', 'FROM', 'TO', 'PROGRESS', 'ERROR'].map((title) => ({ title })),
        migrations.map(({ id, type, origin, destination, percent, error }) => [
          id,
          type ?? '-',
          origin ?? '-',
          destination ?? '-',
          renderProgressBar(percent).trim(),
          oneLine(error ?? ''),
        ]),
        widthColumns,
      );

const renderOthers = ({ others }: EvictionDescription, widthColumns: number): string[] =>
  others.length === 0
    ? []
    : renderTable(
        ['NAME', 'STATE', 'REASON', 'MESSAGE'].map((title) => ({ title })),
        others.map((object) => {
          const evicting = findCondition(object.conditions, 'Evicting');
          return [
            object.name,
            oneLine(evicting?.reason ?? 'not begun'),
            oneLine(object.reason),
            oneLine(evicting?.message ?? ''),
          ];
        }),
        widthColumns,
      );

function renderRuns({ run, ending, earlier }: EvictionDescription, nowMs: number, widthColumns: number): string[] {
  const latest = run === null || run.status === 'Running' ? [] : [{ run, ending }];
  const rows = [...latest, ...earlier].map(({ run: past, ending: its }) => [
    formatTime(past.startedAt),
    past.endedAt === null ? '-' : formatDuration(Date.parse(past.endedAt) - Date.parse(past.startedAt)),
    past.endedAt === null ? '-' : `${formatAge(past.endedAt, nowMs)} ago`,
    its?.outcome ?? past.status,
    past.runId,
    oneLine(its?.message ?? ''),
  ]);
  return rows.length === 0
    ? []
    : renderTable(
        ['STARTED', 'TOOK', 'ENDED', 'OUTCOME', 'RUN', 'MESSAGE'].map((title) => ({ title })),
        rows,
        widthColumns,
      );
}
