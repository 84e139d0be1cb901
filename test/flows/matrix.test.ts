import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Lab } from '../../lab/lab.ts';
import { startLab } from '../../lab/lab.ts';
import type { Cell } from '../faults/run-cell.ts';
import { formatCell } from '../faults/run-cell.ts';
import { runMatrix } from '../faults/matrix.ts';
import { sample } from '../faults/sample.ts';
import { findScenario } from '../faults/scenarios.ts';

/** A sample of `npm run matrix`, and the proof that it can fail. Others each day; the seed is in the output. */

const patienceMs = 600_000;
const seed = Math.floor(Date.now() / 86_400_000);
const sampled = 8;
/** Those that share a worker, so that little is spent on starting. */
const today = sample(['happy', 'hanging', 'failing', 'immovable', 'late', 'cancel', 'paused'], 2, seed, (name) => name);

/** Its own: the lanes' hosts would be targets for everybody else. */
const root = mkdtempSync(join(tmpdir(), 'drover-matrix-'));
let lab: Lab;

beforeAll(async () => {
  lab = await startLab({ dir: join(root, 'lab') });
}, 180_000);
afterAll(async () => {
  await lab.stop();
  rmSync(root, { recursive: true, force: true });
}, 60_000);

const run = (names: readonly string[], choose: (cells: readonly Cell[]) => readonly Cell[], mutation?: string) =>
  runMatrix({ lab, scenarios: names.map(findScenario), lanes: 2, choose, report: () => undefined, ...(mutation === undefined ? {} : { mutation }) });

test(
  `every fault somewhere in ${today.join(' and ')} (npm run matrix -- --scenario ${today.join()} --sample ${sampled} --seed ${seed})`,
  async () => {
    const { clean, outcomes } = await run(today, (cells) => sample(cells, sampled, seed, ({ fault }) => fault));
    for (const { scenario, complaints } of clean) expect({ scenario, complaints }).toEqual({ scenario, complaints: [] });
    expect(outcomes).toHaveLength(sampled);
    for (const outcome of outcomes) expect({ again: `npm run matrix -- --cell ${formatCell(outcome)}`, complaints: outcome.complaints }).toMatchObject({ complaints: [] });
  },
  patienceMs,
);

test(
  'an ensure verb that does not look first is caught',
  async () => {
    const lost: Cell = { scenario: 'failing', step: 'A1/startLiveMigration.2', fault: 'failAfter' };
    const { clean, outcomes } = await run(['failing'], () => [lost], 'blindStart');
    // It does well as long as nothing goes wrong: that is why it takes the matrix to see it.
    expect(clean.map(({ complaints }) => complaints)).toEqual([[]]);
    expect(outcomes).toHaveLength(1);
    expect(outcomes[0]?.complaints.join()).toContain('invariant 3');
  },
  patienceMs,
);
