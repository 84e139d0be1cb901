import { faultNames, faults } from './faults.ts';
import type { CleanRuns, Outcome } from './matrix.ts';
import { formatCell } from './run-cell.ts';
import type { Scenario } from './scenario.ts';

export interface Report {
  scenarios: readonly Scenario[];
  clean: readonly CleanRuns[];
  outcomes: readonly Outcome[];
  machine: string;
}

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

/** For the record: `passed/cells` per scenario and fault, and every cell that failed. */
export function renderReport({ scenarios, clean, outcomes, machine }: Report): string {
  const passed = (some: readonly Outcome[]): string => {
    const good = some.filter(({ complaints }) => complaints.length === 0).length;
    return some.length === 0 ? '–' : good === some.length ? `${good}` : `**${good}/${some.length}**`;
  };
  const of = (name: string): Outcome[] => outcomes.filter(({ scenario }) => scenario === name);
  // A matrix may have been interrupted, and gone on with other lanes: what its cells took is what can be added up.
  const hours = outcomes.reduce((sum, { seconds }) => sum + seconds, 0) / 3_600;
  const failures = outcomes.filter(({ complaints }) => complaints.length > 0);
  const table = [
    row(['scenario', 'steps', 'clean, s', ...faultNames, 'cells', 'passed', 'cell, mean s']),
    row(['---', ...Array.from({ length: faultNames.length + 5 }, () => '---:')]),
    ...clean.map((runs) => {
      const its = of(runs.scenario);
      const mean = its.reduce((sum, outcome) => sum + outcome.seconds, 0) / Math.max(1, its.length);
      const perFault = faultNames.map((fault) => passed(its.filter((outcome) => outcome.fault === fault)));
      return row([runs.scenario, runs.steps.length, runs.seconds.toFixed(0), ...perFault, its.length, passed(its), mean.toFixed(1)]);
    }),
  ];
  const parts = [
    '# The every-step matrix',
    'Written by `npm run matrix`. Each cell runs a scenario with one fault at one of its activity calls, and checks that it ends as it should, that the fault struck, and docs/invariants.md.',
    `${outcomes.length} cells, ${outcomes.length - failures.length} passed, ${failures.length} failed; they took ${hours.toFixed(1)} hours of lanes; ${machine}.`,
    table.join('\n'),
    `Scenarios:\n\n${scenarios.map(({ name, title }) => `- **${name}**: ${title}`).join('\n')}`,
    `Faults:\n\n${faultNames.map((name) => `- **${name}**: ${faults[name].title}`).join('\n')}`,
    clean.some(({ unsteady }) => unsteady.length > 0) &&
      `Calls that do not come in every run, so that nothing is aimed at them:\n\n${clean.filter(({ unsteady }) => unsteady.length > 0).map(({ scenario, unsteady }) => `- ${scenario}: ${unsteady.join(', ')}`).join('\n')}`,
    failures.length > 0 && `Failed, each to be seen again with \`npm run matrix -- --cell <cell>\`:\n\n${failures.map((cell) => `- \`${formatCell(cell)}\`: ${cell.complaints.join('; ')}`).join('\n')}`,
  ];
  return `${parts.filter((part) => part !== false).join('\n\n')}\n`;
}
