import { runMatrix } from '../faults/matrix.ts';
import type { Cell } from '../faults/run-cell.ts';
import { findScenario } from '../faults/scenarios.ts';
import { openMatrixLab } from './matrix-sample.ts';
import { startTimeoutMs } from './vsphere-world.ts';

/** The matrix can fail: an ensure verb that is broken on purpose. It does well as long as nothing goes wrong. */

test.each<[what: string, cell: Cell, mutation: string, complaint: RegExp]>([
  [
    'a start of a migration',
    { scenario: 'failing', step: 'A1/startLiveMigration.2', fault: 'failAfter' },
    'blindStart',
    /invariant 3/u,
  ],
  [
    'a create of a VM',
    { scenario: 'made', step: 'A/submitNewVm.1', fault: 'failAfter' },
    'blindClone',
    /invariant 13: VirtualMachine .* has 2 VMs/u,
  ],
])(
  '%s that does not observe first is caught',
  async (_, cell, mutation, complaint) => {
    const matrix = await openMatrixLab([cell.scenario]);
    try {
      const { clean, outcomes } = await runMatrix({
        lab: matrix.lab,
        scenarios: [findScenario(cell.scenario)],
        parallelism: 1,
        choose: () => [cell],
        isSample: false,
        report: () => undefined,
        mutation,
      });
      expect(clean.map(({ complaints }) => complaints)).toEqual([[]]);
      expect(outcomes.map(({ complaints }) => complaints.join())).toEqual([expect.stringMatching(complaint)]);
    } finally {
      await matrix.close();
    }
  },
  startTimeoutMs + 600_000,
);
