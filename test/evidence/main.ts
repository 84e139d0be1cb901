/** `npm run evidence`: what is recorded of long runs, and whether it is older than its sources. */
import { Command } from 'commander';
import { judgeAll } from './judge-all.ts';
import { findOldReports, writeReports } from './keep.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

await new Command('evidence')
  .description('Says of each series of evidence whether its newest record is of the sources as they are.')
  .option('--write', 'writes the reports in evidence/ anew', false)
  .option('--check', 'fails where a report is not what its records give', false)
  .option('--fresh', 'fails where a series is not fresh', false)
  .action(({ write, check, fresh }: { write: boolean; check: boolean; fresh: boolean }) => {
    if (write) return writeReports();
    if (check) {
      const old = findOldReports();
      for (const report of old) print(`${report} is not what its records give: npm run evidence -- --write`);
      if (old.length > 0) process.exitCode = 1;
      return;
    }
    const judgements = judgeAll();
    for (const { name, state, why, sample } of judgements) {
      const shown = sample === undefined ? state.padEnd(6) : `${state} (${sample})`;
      print(`${name.padEnd(24)} ${shown} ${why}`);
    }
    if (fresh && judgements.some(({ state }) => state !== 'fresh')) process.exitCode = 1;
  })
  .parseAsync();
