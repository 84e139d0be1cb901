import { matrixSeries } from '../evidence/matrix-record.ts';
import { sampleSeed } from '../seed.ts';
import { expectSampleToPass, openMatrixLab, scenarioOfDay } from './matrix-sample.ts';
import { limitMs } from './world-base.ts';

/** A few cells of `npm run matrix`, of the lifecycles that need OpenStack. */

/** Each of its cells waits for what a user gives up, which is minutes: of the whole matrix alone. */
const long = 'leftovers';
const scenarioOf = (...series: (keyof typeof matrixSeries)[]): string =>
  scenarioOfDay(series.flatMap((name) => matrixSeries[name]).filter((name) => name !== long));

const eviction = scenarioOf('matrix-evictions');
const hypervisor = scenarioOf('matrix-hypervisors', 'matrix-repairs');
let matrix: Awaited<ReturnType<typeof openMatrixLab>>;

beforeAll(async () => {
  matrix = await openMatrixLab([eviction, hypervisor]);
}, limitMs);
afterAll(() => matrix?.close(), 60_000);

test.each([eviction, hypervisor])(
  `%s: one cell of each sort, and clean before (seed ${sampleSeed})`,
  (name) => expectSampleToPass(matrix.lab, name, 2),
  600_000,
);
