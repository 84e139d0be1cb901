import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Lab } from '../../lab/lab.ts';
import { startLab } from '../../lab/lab.ts';
import { budgetOf } from '../budgets/budget-of.ts';
import { budgets } from '../budgets/budgets.ts';
import { costOf, countsOf, excesses } from '../budgets/cost.ts';
import { formatCell } from '../faults/run-cell.ts';
import type { Cell } from '../faults/run-cell.ts';
import { runMatrix, withLanes } from '../faults/matrix.ts';
import { sample } from '../faults/sample.ts';
import { findScenario, partsFor } from '../faults/scenarios.ts';
import { recordOn, tellingCalls } from '../replay/record-scenarios.ts';
import { startTimeoutMs } from './vsphere-world.ts';

/** A sample of the matrix of virtual machines, and the proof that it can fail. Others each day; the seed is in the output. */

const patienceMs = 600_000;
const seed = Math.floor(Date.now() / 86_400_000);
const sampled = 3;
/** They share a worker. */
const scenarios = ['made', 'changed', 'deleted'].map(findScenario);

const root = mkdtempSync(join(tmpdir(), 'drover-matrix-vm-'));
let lab: Lab<'temporal' | 'kubernetes' | 'vsphere'>;

beforeAll(async () => {
  lab = (await startLab({ dir: join(root, 'lab'), parts: partsFor(scenarios) })) as typeof lab;
}, startTimeoutMs);
afterAll(async () => {
  await lab.stop();
  rmSync(root, { recursive: true, force: true });
}, 60_000);

test(
  'what the runs of a VM cost is in their budgets',
  async () => {
    const settings = tellingCalls(findScenario('made').settings);
    const told = ['changed', 'settled', 'deleted'].map((name) => ({ ...findScenario(name), settings }));
    const runs: Awaited<ReturnType<typeof recordOn>> = [];
    await withLanes({ lab, scenarios: told, lanes: 1 }, async ([lane]) => {
      for (const scenario of told) if (lane !== undefined) runs.push(...(await recordOn(lane, scenario, null)));
    });
    const costs = runs.map(({ workflowId, history, calls = {} }) => ({ workflowId, budget: budgetOf(history) ?? raise(`${workflowId} has no budget`), cost: costOf(history, countsOf(calls)) }));
    console.info(costs.map(({ workflowId, budget, cost }) => `${workflowId} ${budget}: ${String(cost.events)} events, ${String(cost.activityCalls)} activity calls, ${JSON.stringify(Object.fromEntries(cost.calls ?? []))}`).join('\n'));
    for (const { workflowId, budget, cost } of costs) expect({ workflowId, budget, excesses: excesses(cost, budgets[budget]) }).toEqual({ workflowId, budget, excesses: [] });
    // One that is made where another has just gone may be told of that besides.
    const names = new Set<string>(costs.map(({ budget }) => budget));
    expect([...names].toSorted()).toEqual(expect.arrayContaining(['turns', 'vmCreate', 'vmDelete', 'vmGlance', 'vmLargeUpdate', 'vmUpdate']));
  },
  patienceMs,
);

const raise = (message: string): never => {
  throw new Error(message);
};

test(
  `every fault but one somewhere in the lifecycle of a VM (seed ${seed})`,
  async () => {
    // One that hangs waits for Temporal's patience, and for nothing else: the whole matrix has those.
    const choose = (cells: readonly Cell[]) => sample(cells.filter(({ fault }) => fault !== 'timeOut'), sampled, seed, ({ fault }) => fault);
    const { clean, outcomes } = await runMatrix({ lab, scenarios, lanes: 2, choose, report: () => undefined });
    for (const { scenario, complaints } of clean) expect({ scenario, complaints }).toEqual({ scenario, complaints: [] });
    expect(outcomes).toHaveLength(sampled);
    for (const outcome of outcomes) expect({ again: `npm run matrix -- --cell ${formatCell(outcome)}`, complaints: outcome.complaints }).toMatchObject({ complaints: [] });
  },
  patienceMs,
);

test(
  'a create that does not look first is caught',
  async () => {
    const lost: Cell = { scenario: 'made', step: 'A/submitNewVm.1', fault: 'failAfter' };
    const { clean, outcomes } = await runMatrix({ lab, scenarios: [findScenario('made')], lanes: 1, choose: () => [lost], report: () => undefined, mutation: 'blindClone' });
    expect(clean.map(({ complaints }) => complaints)).toEqual([[]]);
    expect(outcomes.map(({ complaints }) => complaints.join())).toEqual([expect.stringMatching(/invariant 13: VirtualMachine .* has 2 VMs/u)]);
  },
  patienceMs,
);
