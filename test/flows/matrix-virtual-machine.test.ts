import { sampleSeed } from '../seed.ts';
import { expectSampleToPass, openMatrixLab, scenarioOfDay } from './matrix-sample.ts';
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
  `%s: one cell of each sort, and clean before (seed ${sampleSeed})`,
  (name) => expectSampleToPass(matrix.lab, name, 1),
  600_000,
);
