import type { FoundLeftover, SweptClass, SweptNodes } from '../../contracts/machine-safety/sweep.ts';
import { describePlan, type Plan } from '../lib/plan.ts';
import { judgeCandidates } from './judge-candidates.ts';
import type { SweepSituation, SweepStep } from './plan-sweep.ts';

/** Of the candidates; the Web UI shows no longer text. */
const mostRows = 50;
const longestCell = 300;

/** Anything may be in a name or a message. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/gu, ' ').slice(0, longestCell);

const row = (cells: readonly (string | number)[]): string => `| ${cells.map((one) => cell(String(one))).join(' | ')} |`;

const sumOf = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, one) => sum + one, 0);

const classRow = (swept: SweptClass): string =>
  swept.failure === null
    ? row([swept.name, swept.listed, sumOf(swept.kept), swept.orphans, ''])
    : row([swept.name, '?', '?', '?', swept.failure.message]);

/** Markdown, for the Web UI: what of each class was found, and what holds each orphan back. Pure. */
export function describeSweep(situation: SweepSituation, plan: Plan<SweepStep>): string {
  const { observed, memory } = situation;
  const judged = judgeCandidates(situation);
  const shown = judged.slice(0, mostRows);
  return [
    describePlan(plan).message,
    '',
    ...table(['class', 'VMs', 'with a Machine', 'orphans', 'failure'], observed.classes.map(classRow)),
    ...table(
      ['orphan', 'class', 'why', 'held back by'],
      shown.map(({ machineName, machineClass, why, gates }) =>
        row([machineName, machineClass, why, gates.map(({ gate, message }) => `${gate}: ${message}`).join('; ')]),
      ),
    ),
    ...(judged.length > shown.length ? [`… and ${judged.length - shown.length} more`, ''] : []),
    ...table(
      ['deleted', 'class', 'why', 'at'],
      memory.deleted.map(({ machineName, machineClass, why, atMs }) =>
        row([machineName, machineClass, why, new Date(atMs).toISOString()]),
      ),
    ),
    ...nodeTable(memory.nodes),
    ...leftoverTables(situation),
  ].join('\n');
}

/** Where none was to be marked there is nothing to see. */
const nodeTable = (nodes: SweptNodes | null): string[] =>
  nodes === null
    ? []
    : table(
        ['Nodes', ''],
        [
          ...(nodes.marked.length === 0 ? [] : [row(['marked, as no Machine has them', nodes.marked.join(', ')])]),
          ...(nodes.unmarked.length === 0 ? [] : [row(['unmarked', nodes.unmarked.join(', ')])]),
          ...(nodes.failure === null ? [] : [row(['not marked, or not all', nodes.failure])]),
        ],
      );

function leftoverTables({ observed, memory }: SweepSituation): string[] {
  const { leftovers, leftoverCount, classes } = observed;
  const shown = leftovers.slice(0, mostRows);
  const failed = classes.flatMap((swept) =>
    swept.failure === null && swept.leftovers.failure !== null
      ? [row([swept.name, swept.leftovers.failure.message])]
      : [],
  );
  return [
    ...table(['leftovers not listed of', 'failure'], failed),
    ...table(['leftover', 'class', 'kind', 'id', 'made'], shown.map(leftoverRow)),
    ...(leftoverCount > shown.length ? [`… and ${leftoverCount - shown.length} more leftovers`, ''] : []),
    ...table(
      ['leftover asked for', 'by', 'what came of it'],
      memory.answeredLeftovers.map(({ kind, id, by, message }) => row([`${kind} ${id}`, by, message])),
    ),
  ];
}

const leftoverRow = ({ name, machineClass, kind, id, createdMs }: FoundLeftover): string =>
  row([name, machineClass, kind, id, createdMs === null ? '?' : new Date(createdMs).toISOString()]);

const table = (titles: readonly string[], rows: readonly string[]): string[] =>
  rows.length === 0 ? [] : [row(titles), row(titles.map(() => '---')), ...rows, ''];
