/** `npm run chaos -- --seed S --minutes M`: everything breaks at random, and at the end everything is as it should be. */
import { Command, InvalidArgumentError } from 'commander';
import { runChaos } from './run-chaos.ts';

const number = (text: string): number => {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw new InvalidArgumentError('A number, please.');
  return value;
};

await new Command('chaos')
  .description('A load of evictions and of lifecycles of hypervisors and virtual machines while bridge, worker, Temporal, kube-apiserver, the way to Nova and the vCenter are killed, frozen and cut at random.')
  .option('--seed <number>', 'decides what happens when', number, Math.floor(Date.now() / 1_000))
  .option('--minutes <number>', 'how long', number, 3)
  .action(async ({ seed, minutes }: { seed: number; minutes: number }) => {
    const print = (line: string): void => void process.stdout.write(`${line}\n`);
    print(`chaos with seed ${seed} for ${minutes} min`);
    const { complaints, strikes, deeds, turns, vmTurns, evictions, failures, moves, settleSeconds } = await runChaos({ seed, durationMs: minutes * 60_000, report: print });
    for (const complaint of complaints) print(`VIOLATED ${complaint}`);
    print(`${strikes} strikes, ${deeds} deeds, ${turns} turns of hypervisors, ${vmTurns} of virtual machines, ${evictions} evictions, ${failures} failures of hosts looked into, ${moves} migrations completed; settled after ${settleSeconds.toFixed(0)} s`);
    print(complaints.length === 0 ? 'every invariant holds' : `${complaints.length} complaints; again: npm run chaos -- --seed ${seed} --minutes ${minutes}`);
    process.exitCode = complaints.length === 0 ? 0 : 1;
  })
  .parseAsync();
