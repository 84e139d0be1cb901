import { sampleSeed } from '../seed.ts';
import { expectSampleToPass, openMatrixLab, scenarioOfDay } from './matrix-sample.ts';
import { limitMs } from './world-base.ts';

/** A few cells of `npm run matrix`, of the lifecycles that need OpenStack. */

const eviction = scenarioOfDay([
  'happy',
  'hanging',
  'failing',
  'immovable',
  'cold',
  'consented',
  'forced',
  'leaving',
  'late',
  'cancel',
  'paused',
]);
const hypervisor = scenarioOfDay([
  'onboarding',
  'maintenance',
  'activation',
  'drift',
  'undermined',
  'released',
  'retried',
]);
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
