import { runChaos } from '../chaos/run-chaos.ts';
import { sampleSeed } from '../seed.ts';

/** Three minutes of `npm run chaos`. */

const minutes = 3;

test(`everything breaks at random, and at the end the invariants hold (npm run chaos -- --seed ${sampleSeed} --minutes ${minutes})`, async () => {
  const lines: string[] = [];
  const {
    complaints,
    snapshot: _,
    ...figures
  } = await runChaos({
    seed: sampleSeed,
    durationMs: minutes * 60_000,
    report: (line) => void lines.push(line),
  });
  console.info(`${JSON.stringify(figures)}\n${lines.join('\n')}`);
  expect(complaints).toEqual([]);
  expect(figures.moves).toBeGreaterThan(0);
}, 900_000);
