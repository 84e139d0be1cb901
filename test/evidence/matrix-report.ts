import { faults } from '../faults/faults.ts';
import type { FaultName } from '../faults/faults.ts';
import type { EvidenceRecord } from './record.ts';

/** What a record of the matrix holds besides: its cells, those included that there is no result of. */
export interface MatrixDetails {
  /** Null: the whole matrix. */
  sample: number | null;
  /** The order of the letters of a step. */
  faults: readonly FaultName[];
  scenarios: readonly MatrixScenario[];
}

export interface MatrixScenario {
  name: string;
  title: string;
  /** Of a clean run. */
  cleanSteps: number;
  cleanSeconds: number;
  meanCellSeconds: number;
  /** Calls that do not come in every run, so that nothing is aimed at them. */
  unsteady: readonly string[];
  /** A letter for each fault: {@link letters}. Unknown: it was not written down. */
  steps: Readonly<Record<string, string>> | 'unknown';
  /** By fault. */
  tally: Readonly<Record<FaultName, Tally>>;
}

export interface Tally {
  passed: number;
  failed: number;
  /** They were to be run, and there is no result. */
  missing: number;
  /** Others were drawn. */
  notSampled: number;
}

export const letters = { passed: 'p', failed: 'F', missing: '-', notSampled: '.' } as const satisfies Record<
  keyof Tally,
  string
>;

const sum = (tallies: readonly Tally[], of: keyof Tally): number =>
  tallies.reduce((total, tally) => total + tally[of], 0);

/** `17`, `16 and 1 missing`, `15 and 1 FAILED`. */
function describeTallies(tallies: readonly Tally[]): string {
  const parts = [String(sum(tallies, 'passed'))];
  if (sum(tallies, 'failed') > 0) parts.push(`**${sum(tallies, 'failed')} failed**`);
  if (sum(tallies, 'missing') > 0) parts.push(`**${sum(tallies, 'missing')} missing**`);
  return parts.join(', ');
}

/** Passed cells by scenario and fault, and which are missing. */
export function renderMatrix({ details }: EvidenceRecord): string {
  // Stories have fewer faults.
  const { scenarios, sample, faults: faultNames } = details as unknown as MatrixDetails;
  const header = ['scenario', 'steps', 'clean, s', ...faultNames, 'passed', 'cell, mean s'];
  const rows = scenarios.map(({ name, cleanSteps, cleanSeconds, meanCellSeconds, tally }) => [
    name,
    String(cleanSteps),
    cleanSeconds.toFixed(0),
    ...faultNames.map((fault) => describeTallies([tally[fault]])),
    describeTallies(Object.values(tally)),
    meanCellSeconds.toFixed(1),
  ]);
  const missing = scenarios.flatMap(({ name, steps, tally }) =>
    steps === 'unknown'
      ? faultNames
          .filter((fault) => tally[fault].missing > 0)
          .map((fault) => `- \`${name}/…/${fault}\`: ${tally[fault].missing}, of a step that was not written down`)
      : Object.entries(steps).flatMap(([step, its]) =>
          faultNames
            .filter((_, index) => its[index] === letters.missing)
            .map((fault) => `- \`${name}/${step}/${fault}\``),
        ),
  );
  const unsteady = scenarios
    .filter((scenario) => scenario.unsteady.length > 0)
    .map((scenario) => `- ${scenario.name}: ${scenario.unsteady.join(', ')}`);
  return [
    ...(sample === null ? [] : [`A sample of ${sample} cells.`]),
    [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n'),
    ...(missing.length === 0
      ? []
      : [`Missing: cells that exist, and of which there is no result.\n\n${missing.join('\n')}`]),
    ...(unsteady.length === 0
      ? []
      : [`Calls that do not come in every run, so that nothing is aimed at them:\n\n${unsteady.join('\n')}`]),
    `Scenarios:\n\n${scenarios.map(({ name, title }) => `- **${name}**: ${title}`).join('\n')}`,
    `Faults:\n\n${faultNames.map((name) => `- **${name}**: ${faults[name].title}`).join('\n')}`,
  ].join('\n\n');
}
