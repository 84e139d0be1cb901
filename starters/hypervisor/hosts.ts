import { type Command, Option } from 'commander';
import type { LifecycleState } from '../../contracts/hypervisor/conditions.ts';
import { lifecycleStates } from '../../contracts/hypervisor/conditions.ts';
import { collectStates, splitList } from '../command/arguments.ts';
import { asOption, describedCommand, jsonOption, outputOption } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import type { Answer, EvictionRun } from '../eviction/eviction-objects.ts';
import { explainError } from '../command/explain-error.ts';
import { adopt } from './adopt.ts';
import { hypervisorAccess } from './hypervisor-access.ts';
import { interruptible } from '../command/interruption.ts';
import { withKubernetes } from '../command/kubernetes-access.ts';
import type { ListedHost } from './listed-host.ts';
import { listHosts } from './listed-host.ts';
import { renderHosts } from '../render/hypervisor.ts';
import { askAll, listRuns } from '../command/runs.ts';
import { whoRuns } from '../command/who.ts';
import { withTemporal } from '../command/temporal-access.ts';
import { printJson } from '../command/terminal.ts';

interface HostsOptions {
  adopt?: true | string[];
  consent?: boolean;
  as?: string;
  state?: LifecycleState[];
  attention?: boolean;
  json?: boolean;
  output?: 'json';
}

export const hostsCommand = (context: CommandContext): Command =>
  describedCommand(
    'hosts',
    'Lists hypervisors: the state of each, what it waits for, its instances, the eviction that empties it, its maintenance. Those that need attention come first, marked with "!".',
    [
      ['drover hosts', 'all of them'],
      ['drover hosts --attention', 'those that rest, wait for a user, or are late'],
      ['drover hosts --state maintenance,evicting', 'those in these states'],
      ['drover hosts --adopt', 'what the replaced operator has left on them, and nothing takes away'],
      ['drover hosts --adopt node-1,node-2 --consent', 'take it back, with your name'],
      [`drover hosts --json | jq -r '.[] | select(.status == "blocked") | .host + " " + .message'`, 'for programs'],
    ],
  )
    .option('--state <states>', `only these, separated by commas: ${lifecycleStates.join(', ')}`, collectStates)
    .option('--attention', 'only those that need attention')
    .addOption(
      new Option(
        '--adopt [hosts]',
        'show what a replaced operator has left on all hosts, or on these, separated by commas',
      )
        .argParser((text: string) => splitList(text))
        // They are of the list, and would be ignored.
        .conflicts(['state', 'attention', 'json', 'output']),
    )
    .option('--consent', 'with --adopt: take it back')
    .addOption(asOption())
    .addOption(jsonOption())
    .addOption(outputOption())
    .action(({ state: states = [], attention = false, json = false, output, ...adoption }: HostsOptions) =>
      interruptible(context, async (abort) => {
        const { terminal } = context;
        const { config } = await context.loadConfig();
        await withKubernetes({ context, config, abort }, async (kubernetes) => {
          if (adoption.adopt !== undefined) {
            const hosts = adoption.adopt === true ? [] : adoption.adopt;
            const by = whoRuns(adoption.as, context.env);
            return await adopt({ context, kubernetes, abort }, { hosts, consent: adoption.consent ?? false, by });
          }
          const [{ hypervisors, unreadable }, { runs, answers, problem }] = await Promise.all([
            hypervisorAccess(kubernetes).list(),
            askRuns(context, abort),
          ]);
          const hosts = listHosts(hypervisors, runs, answers, { states, attention });
          if (json || output === 'json') printJson(terminal, hosts);
          // Those that are not shown are there.
          else if (hypervisors.length > 0 || unreadable.length === 0) print(hosts, hypervisors.length, context);
          if (unreadable.length > 0)
            terminal.remark(`Not as their schema says, and not shown: ${unreadable.join(', ')}.`);
          if (problem !== null) terminal.remark(`How far evictions are is not shown: ${problem}`);
        });
      }),
    );

function print(hosts: readonly ListedHost[], total: number, { terminal, clock }: CommandContext): void {
  if (total === 0) return terminal.print('There is no Hypervisor.');
  const lines = renderHosts(hosts, clock.now(), terminal.paint, terminal.widthColumns());
  for (const text of lines) terminal.print(text);
  const inNeed = hosts.filter(({ needsAttention }) => needsAttention).length;
  if (inNeed > 0)
    terminal.remark(
      `${String(inNeed)} of ${String(total)} ${inNeed === 1 ? 'needs' : 'need'} attention: \`drover describe HOST\` shows what can be done.`,
    );
}

/** What runs now. Hosts are listed without Temporal, too. */
async function askRuns(
  context: CommandContext,
  abort: AbortSignal,
): Promise<{ runs: EvictionRun[]; answers: Map<string, Answer>; problem: string | null }> {
  try {
    return await withTemporal(context, abort, async (temporal) => {
      const listed = await listRuns(temporal, context.clock.now());
      const runs = listed.runs.filter(({ status }) => status === 'Running');
      return { runs, answers: await askAll(temporal, runs), problem: null };
    });
  } catch (error) {
    abort.throwIfAborted();
    return { runs: [], answers: new Map(), problem: explainError(error).message };
  }
}
