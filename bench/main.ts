/**
 * `npm run bench`: shows what is recorded; `npm run bench -- <suite>` measures, compares with the last record, and
 * records in evidence/.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { evictionSuite, figuresOfResults } from './eviction/figures.ts';
import type { Figure } from './eviction/main.ts';
import { benchEviction, figures } from './eviction/main.ts';
import { loads } from './eviction/overhead.ts';
import type { EvictionResults } from './eviction/results.ts';
import { mergeResults, renderMarkdown } from './eviction/results.ts';
import { type AgentCounts, quickCounts as quickAgents, usualCounts as usualAgentCounts } from './agents/figures.ts';
import { agentsSuite } from './agents/main.ts';
import { quickCounts as quickClones, usualCounts as usualCloneCounts } from './clones/figures.ts';
import { clonesSuite } from './clones/main.ts';
import type { Suite } from './harness/benchmark.ts';
import { figuresOf } from './harness/benchmark.ts';
import { writeLimitsPage } from './harness/limits-page.ts';
import type { RecordedFigure } from './harness/records.ts';
import { addToRecord, readRecords } from './harness/records.ts';
import { runSuite } from './harness/run-suite.ts';
import { renderMeasured, renderRecorded } from './harness/table.ts';
import type { LoadRun } from './load/load-run.ts';
import { loadSuite } from './load/main.ts';
import { withRun } from '../lab/command-run.ts';
import { labDirectory } from '../lab/lab.ts';
import { describeMachine, kindOf } from './machine.ts';
import {
  type MachineCounts,
  quickCounts as quickMachines,
  usualCounts as usualMachineCounts,
} from './machines/figures.ts';
import { machinesSuite } from './machines/main.ts';
import type { Size } from './onboarding/figures.ts';
import { sizes } from './onboarding/figures.ts';
import { onboardingSuite } from './onboarding/main.ts';
import { scaleSuite } from './scale/main.ts';
import type { VmCounts } from './vms/figures.ts';
import { quickCounts, usualCounts } from './vms/figures.ts';
import { vmsSuite } from './vms/main.ts';

const windowsOffered = loads.map(({ window }) => window);
const loadNames = loadSuite.benchmarks.map(({ name }) => name);
const scaleNames = scaleSuite.benchmarks.map(({ name }) => name);
const usualVms = vmsSuite(usualCounts);
const vmNames = usualVms.benchmarks.map(({ name }) => name);
const usualMachines = machinesSuite(usualMachineCounts);
const machineNames = usualMachines.benchmarks.map(({ name }) => name);
const usualAgents = agentsSuite(usualAgentCounts);
const agentNames = usualAgents.benchmarks.map(({ name }) => name);
const usualClones = clonesSuite(usualCloneCounts);
const cloneNames = usualClones.benchmarks.map(({ name }) => name);
/** Those whose figures docs/limits.md shows. */
const limitSuites = [loadSuite, onboardingSuite, scaleSuite, usualVms, usualMachines, usualAgents, usualClones];

const oneOf =
  <Item extends string | number>(offered: readonly Item[]) =>
  (text: string): Item[] =>
    text.split(',').map((part) => {
      const found = offered.find((item) => String(item) === part.trim());
      if (found === undefined) throw new InvalidArgumentError(`Choose from ${offered.join(', ')}.`);
      return found;
    });

const atLeastOne = (text: string): number => {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('Expected a number of at least 1.');
  return count;
};

const print = (text: string): void => void process.stdout.write(text);
const report = (line: string): void => void process.stderr.write(`${line}\n`);
const machine = kindOf(describeMachine());

interface MeasureOptions {
  repetitions: number;
  quick: boolean;
  json: boolean;
}

/** Measures what was asked for, records it, and prints it beside the last record. */
async function measure(
  suite: Suite<LoadRun>,
  { only, repetitions, quick, json }: MeasureOptions & { only: string[] },
): Promise<void> {
  const startedMs = Date.now();
  const before = readRecords(suite);
  const measured: Record<string, RecordedFigure> = {};
  const shown = limitSuites.find(({ name }) => name === suite.name) ?? suite;
  const keep = (figures: Readonly<Record<string, RecordedFigure>>, failures: readonly string[]): void => {
    if (quick) return;
    addToRecord(figuresOf(shown), { figures, failures, startedMs });
    writeLimitsPage(figuresOf(shown), readRecords(shown));
  };
  const take = (figures: Readonly<Record<string, RecordedFigure>>): void => {
    Object.assign(measured, figures);
    keep(figures, []);
  };
  const failures = await withRun({ command: 'npm run bench', report }, ({ signal }) =>
    runSuite(suite, { quick, repetitions: quick ? 1 : repetitions, report, signal }, { only, report, take, signal }),
  );
  if (failures.length > 0) keep({}, failures);
  print(json ? `${JSON.stringify(measured, null, 2)}\n` : renderMeasured(figuresOf(suite), measured, before, machine));
  if (failures.length > 0) process.exitCode = 1;
}

const program = new Command('bench').description(
  'Measures drover on the real counterparts. Figures are recorded one by one, so that a part can be measured again. Without a command: shows what is recorded.',
);

program.action(() => {
  print(
    `${evictionSuite.title}: npm run bench -- eviction\n\n${renderRecorded(evictionSuite, readRecords(evictionSuite), machine)}\n`,
  );
  for (const suite of limitSuites)
    print(
      `${suite.title}: npm run bench -- ${suite.name}\n\n${renderRecorded(figuresOf(suite), readRecords(suite), machine)}\n`,
    );
  print('A part by itself: --only; to see that it works, without a record: --quick; more: npm run bench -- help\n');
});

program
  .command('eviction')
  .description(
    'overhead beside a bare script, history events, latency from change to activity, warm start: about 12 minutes on an idle machine',
  )
  .addOption(
    new Option('--only <figures>', `${figures.join(', ')}; history comes with overhead`)
      .argParser(oneOf<Figure>(figures))
      .default(['overhead', 'latency', 'start'] satisfies Figure[]),
  )
  .addOption(
    new Option('--windows <numbers>', 'of the overhead').argParser(oneOf(windowsOffered)).default(windowsOffered),
  )
  .addOption(new Option('--pairs <number>', 'of each window, for a spread').argParser(atLeastOne).default(1))
  .option('--quick', 'a few seconds and servers, and nothing recorded: to see that it works', false)
  .option('--json', 'print JSON', false)
  .action(
    async ({
      only,
      windows,
      pairs,
      quick,
      json,
    }: {
      only: Figure[];
      windows: number[];
      pairs: number;
      quick: boolean;
      json: boolean;
    }) => {
      const before = readRecords(evictionSuite);
      let measured: EvictionResults = {};
      const startedMs = Date.now();
      const keep = (figure: EvictionResults, failed: readonly string[]): void =>
        addToRecord(evictionSuite, {
          figures: figuresOfResults(figure),
          failures: failed,
          more: ({ results }) => ({ results: mergeResults(results ?? {}, figure) }),
          startedMs,
        });
      const take = (figure: EvictionResults): void => {
        measured = mergeResults(measured, figure);
        if (!quick) keep(figure, []);
      };
      const shared = process.env['DROVER_LAB'] === undefined ? {} : { lab: { dir: labDirectory(), stops: [] } };
      const failures = await withRun({ command: 'npm run bench', report, ...shared }, ({ signal }) =>
        benchEviction({ only, windows, pairs, quick, report, take, signal }),
      );
      if (failures.length > 0 && !quick) keep({}, failures);
      if (json) print(`${JSON.stringify(measured, null, 2)}\n`);
      else
        print(
          `${renderMarkdown(measured)}\n## Beside the last record\n\n${renderMeasured(evictionSuite, figuresOfResults(measured), before, machine)}`,
        );
      if (failures.length > 0) process.exitCode = 1;
    },
  );

program
  .command('load')
  .description(
    `the bridge and the workers under load, and after a death: about ${loadSuite.benchmarks.reduce((sum, { minutes }) => sum + minutes, 0)} minutes on an idle machine`,
  )
  .addOption(
    new Option(
      '--only <benchmarks>',
      loadSuite.benchmarks.map(({ name, title, minutes }) => `${name}: ${title} (${minutes} min)`).join('; '),
    )
      .argParser(oneOf(loadNames))
      .default(loadNames, 'all'),
  )
  .addOption(new Option('--repetitions <number>', 'of each, for a spread').argParser(atLeastOne).default(3))
  .option('--quick', 'a few seconds and objects, and nothing recorded: to see that it works', false)
  .option('--json', 'print JSON', false)
  .action((options: MeasureOptions & { only: string[] }) => measure(loadSuite, options));

program
  .command('onboarding')
  .description('Nodes that become hypervisors: time, calls of the APIs, memory')
  .addOption(
    new Option(
      '--hosts <numbers>',
      `so many at once: ${onboardingSuite.benchmarks.map(({ minutes }, index) => `${sizes[index]} (${minutes} min)`).join(', ')}`,
    )
      .argParser(oneOf<Size>(sizes))
      .default([1, 20]),
  )
  .addOption(new Option('--repetitions <number>', 'of each, for a spread').argParser(atLeastOne).default(3))
  .option('--quick', 'a few hosts, and nothing recorded: to see that it works', false)
  .option('--json', 'print JSON', false)
  .action(({ hosts, ...options }: MeasureOptions & { hosts: Size[] }) =>
    measure(onboardingSuite, { ...options, only: hosts.map((size) => `onboarding-${size}`) }),
  );

program
  .command('scale')
  .description(
    'evictions of a large region, on the simulator’s Nova: requests, and virtual time; any machine gives the same figures',
  )
  .addOption(
    new Option(
      '--only <benchmarks>',
      scaleSuite.benchmarks.map(({ name, title, minutes }) => `${name}: ${title} (${minutes} min)`).join('; '),
    )
      .argParser(oneOf(scaleNames))
      .default(scaleNames, 'all'),
  )
  .option('--quick', 'a tenth of the hosts, and nothing recorded: to see that it works', false)
  .option('--json', 'print JSON', false)
  .action((options: Omit<MeasureOptions, 'repetitions'> & { only: string[] }) =>
    measure(scaleSuite, { ...options, repetitions: 1 }),
  );

program
  .command('vms')
  .description(
    'virtual machines on vSphere: time and calls beside a bare script, what idle ones cost, how soon an outside change is signalled',
  )
  .addOption(
    new Option(
      '--only <benchmarks>',
      usualVms.benchmarks.map(({ name, title, minutes }) => `${name}: ${title} (${minutes} min)`).join('; '),
    )
      .argParser(oneOf(vmNames))
      .default(vmNames, 'all'),
  )
  .addOption(new Option('--vms <number>', 'that are made at once').argParser(atLeastOne).default(usualCounts.vms))
  .addOption(new Option('--idle <number>', 'idle ones').argParser(atLeastOne).default(usualCounts.idle))
  .addOption(new Option('--repetitions <number>', 'of each, for a spread').argParser(atLeastOne).default(3))
  .option(
    '--quick',
    `${quickCounts.vms} VMs, ${quickCounts.idle} idle ones by default, and nothing recorded: to see that it works`,
    false,
  )
  .option('--json', 'print JSON', false)
  .action(async ({ vms, idle, ...options }: MeasureOptions & VmCounts & { only: string[] }, command: Command) => {
    const chosen = (name: keyof VmCounts, count: number): number =>
      options.quick && command.getOptionValueSource(name) === 'default' ? quickCounts[name] : count;
    await measure(vmsSuite({ vms: chosen('vms', vms), idle: chosen('idle', idle) }), options);
  });

program
  .command('machines')
  .description(
    'the safety jobs of Machines: what a sweep of many VMs costs, how soon Machines are frozen, and how soon an orphan goes',
  )
  .addOption(
    new Option(
      '--only <benchmarks>',
      usualMachines.benchmarks.map(({ name, title, minutes }) => `${name}: ${title} (${minutes} min)`).join('; '),
    )
      .argParser(oneOf(machineNames))
      .default(machineNames, 'all'),
  )
  .addOption(new Option('--vms <number>', 'in vCenter').argParser(atLeastOne).default(usualMachineCounts.vms))
  .addOption(new Option('--servers <number>', 'in Nova').argParser(atLeastOne).default(usualMachineCounts.servers))
  .addOption(new Option('--repetitions <number>', 'of each, for a spread').argParser(atLeastOne).default(3))
  .option(
    '--quick',
    `${quickMachines.vms} VMs, ${quickMachines.servers} servers by default, and nothing recorded: to see that it works`,
    false,
  )
  .option('--json', 'print JSON', false)
  .action(
    async ({ vms, servers, ...options }: MeasureOptions & MachineCounts & { only: string[] }, command: Command) => {
      const chosen = (name: keyof MachineCounts, count: number): number =>
        options.quick && command.getOptionValueSource(name) === 'default' ? quickMachines[name] : count;
      await measure(machinesSuite({ vms: chosen('vms', vms), servers: chosen('servers', servers) }), options);
    },
  );

program
  .command('agents')
  .description(
    'agent pools: time and calls of many agents at once beside a script and beside one after another, and a NodePool that is scaled to and fro',
  )
  .addOption(
    new Option(
      '--only <benchmarks>',
      usualAgents.benchmarks.map(({ name, title, minutes }) => `${name}: ${title} (${minutes} min)`).join('; '),
    )
      .argParser(oneOf(agentNames))
      .default(agentNames, 'all'),
  )
  .addOption(new Option('--agents <number>', 'at once').argParser(atLeastOne).default(usualAgentCounts.agents))
  .addOption(new Option('--flapping <number>', 'to and fro').argParser(atLeastOne).default(usualAgentCounts.flapping))
  .addOption(new Option('--repetitions <number>', 'of each, for a spread').argParser(atLeastOne).default(3))
  .option(
    '--quick',
    `${quickAgents.agents} agents, ${quickAgents.flapping} to and fro by default, and nothing recorded: to see that it works`,
    false,
  )
  .option('--json', 'print JSON', false)
  .action(
    async ({ agents, flapping, ...options }: MeasureOptions & AgentCounts & { only: string[] }, command: Command) => {
      const chosen = (name: keyof AgentCounts, count: number): number =>
        options.quick && command.getOptionValueSource(name) === 'default' ? quickAgents[name] : count;
      await measure(agentsSuite({ agents: chosen('agents', agents), flapping: chosen('flapping', flapping) }), options);
    },
  );

program
  .command('clones')
  .description('clones of one volume at once: time, snapshots, calls and events of each, beside a script')
  .addOption(
    new Option(
      '--only <benchmarks>',
      usualClones.benchmarks.map(({ name, title, minutes }) => `${name}: ${title} (${minutes} min)`).join('; '),
    )
      .argParser(oneOf(cloneNames))
      .default(cloneNames, 'all'),
  )
  .addOption(
    new Option('--counts <numbers>', 'at once, one after the other')
      .argParser((text) => text.split(',').map(atLeastOne))
      .default([...usualCloneCounts], usualCloneCounts.join()),
  )
  .addOption(new Option('--repetitions <number>', 'of each, for a spread').argParser(atLeastOne).default(3))
  .option('--quick', `${quickClones.join(' and ')} by default, and nothing recorded: to see that it works`, false)
  .option('--json', 'print JSON', false)
  .action(async ({ counts, ...options }: MeasureOptions & { counts: number[]; only: string[] }, command: Command) => {
    const isDefault = command.getOptionValueSource('counts') === 'default';
    await measure(clonesSuite(options.quick && isDefault ? quickClones : counts), options);
  });

program
  .command('limits')
  .description(
    'puts the recorded figures of the load, of the onboarding, of large regions, of virtual machines, of Machines, of agent pools and of clones into docs/limits.md',
  )
  .action(() => limitSuites.forEach((suite) => writeLimitsPage(figuresOf(suite), readRecords(suite))));

await program.parseAsync();
