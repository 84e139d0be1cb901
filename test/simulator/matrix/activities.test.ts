import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from '../../evidence/sources.ts';
import { loadWorkflows } from '../bundle.ts';
import { deploy } from '../deployment.ts';
import { readCleanRuns } from './clean-runs.ts';
import { type WithoutCells, withoutCells } from './without-cells.ts';

/** Every fault at every activity call: of each activity that a worker serves there is one, or it is said why not. */

/** All that a worker registers which reaches everything. */
async function servedActivities(): Promise<string[]> {
  const served = new Set<string>();
  const deployment = deploy({
    bundle: await loadWorkflows(),
    seed: 1,
    parts: ['openstack', 'vsphere'],
    settings: { modes: { VirtualMachine: 'act' } },
    bridge: false,
    mutate(name) {
      served.add(name);
      return null;
    },
  });
  deployment.close();
  return [...served];
}

/** Those that have cells, by the last word of a step: `A/publishEviction.2`. */
const called: ReadonlySet<string> = new Set(
  Object.values(readCleanRuns())
    .flatMap(({ steps }) => steps)
    .map((step) => /([^/]+)\.\d+$/u.exec(step)?.[1] ?? step),
);

const mentions = (file: string, activity: string): boolean =>
  new RegExp(String.raw`\b${activity}\b`, 'u').test(readFileSync(join(checkout, file), 'utf8'));

/** What is not right of a row, a sentence each. */
function complaintsOfRow(name: string, reason: WithoutCells[string]): string[] {
  if (!('testedBy' in reason))
    return Object.values(reason).includes('') ? [`nothing says why ${name} has no cells`] : [];
  const { testedBy: file } = reason;
  if (!existsSync(join(checkout, file))) return [`${file}, which is to have the faults of ${name}, is not there`];
  return mentions(file, name) ? [] : [`${file} does not mention ${name}`];
}

const complaintsOf = (served: readonly string[], withCells: ReadonlySet<string>, rows: WithoutCells): string[] => [
  ...served
    .filter((name) => !withCells.has(name) && rows[name] === undefined)
    .map((name) => `${name} is in no cell: have a scenario call it, or say in without-cells.ts what has its faults`),
  ...[...withCells]
    .filter((name) => !served.includes(name))
    .map((name) => `cells call ${name}, which no worker serves`),
  ...Object.entries(rows).flatMap(([name, reason]) => {
    if (!served.includes(name)) return [`${name} is served by no worker: remove its row from without-cells.ts`];
    if (withCells.has(name)) return [`${name} has cells: remove its row from without-cells.ts`];
    return complaintsOfRow(name, reason);
  }),
];

test('of every activity that a worker serves there are cells, or it is said what has its faults instead', async () => {
  expect(complaintsOf(await servedActivities(), called, withoutCells)).toEqual([]);
});

test('an activity without a row is found, and a row that says nothing, or what is not so any more', () => {
  const rows: WithoutCells = {
    openEviction: { needsNone: 'it reads' },
    gone: { needsNone: 'it reads' },
    observeHost: { testedBy: 'test/none.ts' },
    observePower: { testedBy: 'test/tiers.ts' },
    readContentLibrary: { needsNone: '' },
    watchGuests: { testedBy: 'test/simulator/matrix/activities.test.ts' },
  };
  const served = ['newActivity', ...Object.keys(rows).filter((name) => name !== 'gone')];
  expect(complaintsOf(served, new Set(['openEviction', 'old']), rows)).toEqual([
    'newActivity is in no cell: have a scenario call it, or say in without-cells.ts what has its faults',
    'cells call old, which no worker serves',
    'openEviction has cells: remove its row from without-cells.ts',
    'gone is served by no worker: remove its row from without-cells.ts',
    'test/none.ts, which is to have the faults of observeHost, is not there',
    'test/tiers.ts does not mention observePower',
    'nothing says why readContentLibrary has no cells',
  ]);
});
