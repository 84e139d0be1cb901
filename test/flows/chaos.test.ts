import { runChaos } from '../chaos/run-chaos.ts';

/** Three minutes of `npm run chaos`, with another seed each day. */

const seed = Math.floor(Date.now() / 86_400_000);
const minutes = 3;

test(
  `everything breaks at random, and at the end the invariants hold (npm run chaos -- --seed ${seed} --minutes ${minutes})`,
  async () => {
    const lines: string[] = [];
    const { complaints, ...figures } = await runChaos({ seed, durationMs: minutes * 60_000, report: (line) => void lines.push(line) });
    console.info(`${JSON.stringify(figures)}\n${lines.join('\n')}`);
    expect(complaints).toEqual([]);
    expect(figures.moves).toBeGreaterThan(0);
  },
  900_000,
);
