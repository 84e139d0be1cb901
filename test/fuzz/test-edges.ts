import type { Edge } from './edge.ts';
import { isSampleOfDay, sampleSeed } from '../seed.ts';
import { fuzz } from './edge.ts';

/** Per edge. `npm run fuzz` takes the full count, and other inputs each time; tests take those of their seed. */
const runs = Number(process.env['DROVER_FUZZ_RUNS'] ?? 300);
const isFuzzing = process.env['DROVER_FUZZ_RUNS'] !== undefined && !isSampleOfDay;
const seed = isFuzzing ? Date.now() % 2 ** 31 : sampleSeed;

const isTold = process.env['DROVER_FUZZ_TELL'] !== undefined;

/** A test per edge; `npm run fuzz` also tells what became of the inputs. */
export function testEdges(edges: readonly Edge[]): void {
  test.each(edges.map((edge) => [edge.name, edge] as const))(
    '%s: a value or a typed failure, soon',
    async (_, edge) => {
      const { accepted, refused, seconds, slowestMs } = await fuzz(edge, runs, seed);
      const codes = Object.entries(refused).map(([code, count]) => `${code} ${count}`);
      if (isTold)
        process.stderr.write(
          `${edge.name}: ${[`${accepted} taken`, ...codes].join(', ')} (${seconds.toFixed(1)} s, slowest ${slowestMs.toFixed(0)} ms)\n`,
        );
      // Inputs that are all refused, or all taken, would prove nothing.
      if (edge.takes !== 'nothing') expect(accepted).toBeGreaterThan(runs / 50);
      if (edge.failures.length > 0) expect(runs - accepted).toBeGreaterThan(runs / 50);
    },
    900_000,
  );
}
