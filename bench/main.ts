/** `npm run bench -- eviction`: measures, prints, and records in bench/results/. */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Figure } from './eviction/main.ts';
import { benchEviction, figures } from './eviction/main.ts';
import { loads } from './eviction/overhead.ts';
import type { EvictionResults } from './eviction/results.ts';
import { mergeResults, readResults, record, renderMarkdown } from './eviction/results.ts';

const windowsOffered = loads.map(({ window }) => window);

const oneOf = <Item extends string | number>(offered: readonly Item[]) => (text: string): Item[] =>
  text.split(',').map((part) => {
    const found = offered.find((item) => String(item) === part.trim());
    if (found === undefined) throw new InvalidArgumentError(`Choose from ${offered.join(', ')}.`);
    return found;
  });

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => interrupted.abort(new Error('interrupted')));

const program = new Command('bench').description('Measures drover on the real counterparts. Figures are recorded one by one, so that a part can be measured again.');
program
  .command('eviction')
  .description('overhead beside a bare script, history events, latency from change to activity, warm start: about 12 minutes on an idle machine')
  .addOption(new Option('--only <figures>', `${figures.join(', ')}; history comes with overhead`).argParser(oneOf<Figure>(figures)).default(['overhead', 'latency', 'start'] satisfies Figure[]))
  .addOption(new Option('--windows <numbers>', 'of the overhead').argParser(oneOf(windowsOffered)).default(windowsOffered))
  .option('--quick', 'a few seconds and servers, and nothing recorded: to see that it works', false)
  .option('--json', 'print JSON', false)
  .action(async ({ only, windows, quick, json }: { only: Figure[]; windows: number[]; quick: boolean; json: boolean }) => {
    let measured: EvictionResults = {};
    const failures = await benchEviction({
      only,
      windows,
      quick,
      report: (line) => void process.stderr.write(`${line}\n`),
      take(figure) {
        measured = mergeResults(measured, figure);
        if (!quick) record(mergeResults(readResults(), figure));
      },
      signal: interrupted.signal,
    });
    process.stdout.write(json ? `${JSON.stringify(measured, null, 2)}\n` : renderMarkdown(measured));
    if (failures.length > 0) process.exitCode = 1;
  });

try {
  await program.parseAsync();
} catch (error) {
  if (!interrupted.signal.aborted) throw error;
  process.stderr.write('Interrupted.\n');
  process.exitCode = 130;
}
