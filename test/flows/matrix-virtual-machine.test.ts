import { runMatrix } from '../faults/matrix.ts';
import { findScenario } from '../faults/scenarios.ts';
import { sampleSeed } from '../seed.ts';
import { expectPassed, oneOfEach, openMatrixLab, scenarioOfDay } from './matrix-sample.ts';
import { startTimeoutMs } from './vsphere-world.ts';

/** A few cells of `npm run matrix`, of the lifecycles that need a vCenter. */

const vm = scenarioOfDay(['made', 'changed', 'deleted', 'adopted', 'waiting', 'unwanted', 'copied']);
const policy = scenarioOfDay(['provided', 'withdrawn']);
let matrix: Awaited<ReturnType<typeof openMatrixLab>>;

beforeAll(async () => {
  matrix = await openMatrixLab([vm, policy]);
}, startTimeoutMs);
afterAll(() => matrix?.close(), 60_000);

test.each([vm, policy])(
  `%s: the worker is killed, the run is cancelled, and one fault more (seed ${sampleSeed})`,
  async (name) =>
    expectPassed(
      await runMatrix({
        lab: matrix.lab,
        scenarios: [findScenario(name)],
        parallelism: 1,
        choose: oneOfEach,
        report: () => undefined,
      }),
    ),
  600_000,
);
