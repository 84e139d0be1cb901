import * as fc from 'fast-check';
import { sampleSeed } from '../seed.ts';

test('a property that names no seed takes that of the run', () => {
  expect(fc.readConfigureGlobal().seed).toBe(sampleSeed);
  const { seed } = fc.check(fc.property(fc.nat(), () => true));
  expect(seed).toBe(sampleSeed);
});
