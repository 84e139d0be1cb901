import type { BridgeLatency } from '../bridge-latency.ts';
import type { Machine } from '../machine.ts';
import type { GapParts } from './gap.ts';
import { gapPartNames } from './gap.ts';
import type { Events, Pair } from './overhead.ts';
import type { WarmStart } from './warm-start.ts';

/** What has been measured, each figure when it was measured last. */
export interface EvictionResults {
  /** Figure 1, narrow windows first. */
  overhead?: Pair[];
  /** Figure 2. */
  history?: (Events & { machine: Machine })[];
  /** Figure 3. */
  latency?: BridgeLatency;
  /** Figure 4. */
  start?: WarmStart;
}

/**
 * Takes the new figures into the recorded ones: a measurement that broke off, or was asked for in part, keeps
 * what is there.
 */
export function mergeResults(recorded: EvictionResults, measured: EvictionResults): EvictionResults {
  const newer = <Row extends { window: number; servers: number }>(
    before: readonly Row[] = [],
    now: readonly Row[] = [],
  ): Row[] =>
    [
      ...before.filter((row) => !now.some(({ window, servers }) => window === row.window && servers === row.servers)),
      ...now,
    ].sort((a, b) => a.window - b.window);
  const overhead = newer(recorded.overhead, measured.overhead);
  const history = newer(recorded.history, measured.history);
  return { ...recorded, ...measured, ...(overhead.length > 0 && { overhead }), ...(history.length > 0 && { history }) };
}

const inSeconds = (ms: number, digits = 1): string => (ms / 1000).toFixed(digits);

const table = (header: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** For the terminal, and for the record. */
export function renderMarkdown({ overhead = [], history = [], latency, start }: EvictionResults): string {
  const parts: string[] = [];
  if (overhead.length > 0)
    parts.push('## 1. drover beside a bare script\n', renderOverhead(overhead), '', renderGaps(overhead));
  if (history.length > 0)
    parts.push(
      '## 2. Events in histories\n',
      table(
        ['servers', 'window', 'parent', 'longest child'],
        history.map(({ servers, window, parent, child }) => [servers, window, parent, child]),
      ),
    );
  if (latency !== undefined) parts.push('## 3. From a change to the first activity\n', renderLatency(latency));
  if (start !== undefined) parts.push('## 4. `npm start`, everything built\n', renderStart(start));
  const machines = [
    ...overhead,
    ...(latency === undefined ? [] : [latency]),
    ...(start === undefined ? [] : [start]),
  ].map(({ machine }) => machine);
  if (machines.length > 0) parts.push('## Measured on\n', renderMachines(machines));
  return `${parts.join('\n').replaceAll('\n## ', '\n\n## ')}\n`;
}

const renderOverhead = (pairs: readonly Pair[]): string =>
  table(
    [
      'window',
      'servers',
      'drover s',
      'script s',
      'ratio',
      'nominal s',
      'before s',
      'after s',
      'Nova per move s: drover, script',
      'gap ms: drover, script',
      'requests: drover, script',
      'load',
    ],
    pairs.map(({ window, servers, seconds, ratio, nominalMs, drover, script, machine }) => [
      window,
      `${servers} × ${seconds} s`,
      inSeconds(drover.spanMs),
      inSeconds(script.spanMs),
      ratio.toFixed(3),
      inSeconds(nominalMs),
      inSeconds(drover.beforeMs),
      inSeconds(drover.afterMs),
      `${inSeconds(drover.novaMs, 2)}, ${inSeconds(script.novaMs, 2)}`,
      `${drover.gapMs}, ${script.gapMs}`,
      `${drover.requests}, ${script.requests}`,
      machine.load,
    ]),
  );

const gapTitles: Record<keyof GapParts, string> = {
  pollMs: 'poll',
  concludeMs: 'conclude',
  childEndMs: 'child ends',
  parentMs: 'parent',
  childStartMs: 'child starts',
  dispatchMs: 'dispatch',
  readsMs: 'reads',
};

const renderGaps = (pairs: readonly Pair[]): string =>
  `Where drover’s gap between the end of one migration and the request for the next goes, mean ms:\n\n${table(
    ['window', ...gapPartNames.map((name) => gapTitles[name]), 'sum'],
    pairs.flatMap(({ window, drover: { gapParts } }) =>
      gapParts === null
        ? []
        : [
            [
              window,
              ...gapPartNames.map((name) => gapParts[name]),
              gapPartNames.reduce((sum, name) => sum + gapParts[name], 0),
            ],
          ],
    ),
  )}\n`;

const renderLatency = ({ changes, toSignalMs, toActivityMs, wholeMs }: BridgeLatency): string =>
  table(
    [`${changes} single changes, ms`, 'p50', 'p99'],
    [
      ['create request → signal in the history', toSignalMs.p50, toSignalMs.p99],
      ['signal → first activity begins', toActivityMs.p50, toActivityMs.p99],
      ['both', wholeMs.p50, wholeMs.p99],
    ],
  );

const renderStart = ({ firstMoveSeconds, wholeSeconds, worker, bridge }: WarmStart): string =>
  table(
    ['first server moving, s', '`-- --once` in all, s', 'worker MiB: resident, peak', 'bridge MiB: resident, peak'],
    [
      [
        firstMoveSeconds,
        wholeSeconds,
        `${worker.residentMiB}, ${worker.peakMiB}`,
        `${bridge.residentMiB}, ${bridge.peakMiB}`,
      ],
    ],
  );

function renderMachines(machines: readonly Machine[]): string {
  const lines = machines.map(
    ({ cores, cpu, memoryGiB, versions }) =>
      `${cores} × ${cpu}, ${memoryGiB} GiB; ${Object.entries(versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(', ')}`,
  );
  const loads = machines.map(({ load }) => load);
  const days = [...new Set(machines.map(({ recordedAt }) => recordedAt.slice(0, 10)))];
  return [
    ...[...new Set(lines)].map((line) => `- ${line}`),
    `- load average when a measurement began: ${Math.min(...loads)} to ${Math.max(...loads)}; ${days.join(', ')}`,
  ].join('\n');
}
