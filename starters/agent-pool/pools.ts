import type { Command } from 'commander';
import { describedCommand, jsonOption, outputOption } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { interruptible } from '../command/interruption.ts';
import { withKubernetes } from '../command/kubernetes-access.ts';
import { namespaceOption } from '../command/object-reference.ts';
import { printJson, type Terminal } from '../command/terminal.ts';
import { renderPools } from '../render/agent-pool.ts';
import { agentPoolAccess } from './agent-pool-access.ts';
import { approveCommand } from './approve-deletions.ts';
import { type ListedPool, listPools } from './listed-pool.ts';
import { refreshIsoCommand } from './refresh-iso.ts';

interface PoolsOptions {
  namespace?: string;
  attention?: boolean;
  json?: boolean;
  output?: 'json';
}

export const poolsCommand = (context: CommandContext): Command =>
  listing(
    context,
    describedCommand(
      'pools',
      'Lists agent pools: how many AgentMachines wait, how many VMs are wanted, under way, available and bound, how old the discovery ISO is, and what each pool waits for. Those that need attention come first, marked with "!".',
      [
        ['drover pools', 'all of them'],
        ['drover pools -n team --attention', 'those of a namespace that need a user'],
        ['drover describe pool team/gpu', 'one of them, with its VMs'],
        ['drover pools approve team/gpu', 'let VMs go that wait for an approval'],
        ['drover pools refresh-iso team/gpu', 'download its discovery ISO again'],
        [`drover pools --json | jq -r '.[] | select(.counts.wanted > 0).name'`, 'for programs'],
      ],
    ),
  )
    .addCommand(
      listing(
        context,
        describedCommand('ls', 'Does the same as `drover pools` alone.', [['drover pools ls', 'all of them']]),
      ),
    )
    .addCommand(approveCommand(context))
    .addCommand(refreshIsoCommand(context));

const listing = (context: CommandContext, command: Command): Command =>
  command
    .addOption(namespaceOption('VsphereAgentPool').conflicts('allNamespaces'))
    .option('-A, --all-namespaces', 'those of every namespace; so it is where none is named')
    .option('--attention', 'only those that need attention')
    .addOption(jsonOption())
    .addOption(outputOption())
    .action(({ namespace, attention = false, json = false, output }: PoolsOptions) =>
      interruptible(context, async (abort) => {
        const { terminal, clock } = context;
        const { config } = await context.loadConfig();
        await withKubernetes({ context, config, abort }, async (kubernetes) => {
          const { pools, unreadable } = await agentPoolAccess(kubernetes, abort).list(namespace ?? null);
          const nowMs = clock.now();
          const listed = listPools(pools, { attention }, nowMs);
          if (json || output === 'json') printJson(terminal, listed);
          else print(listed, { total: pools.length, namespace: namespace ?? null, nowMs, terminal });
          if (unreadable.length > 0)
            terminal.remark(`Not as their schema says, and not shown: ${unreadable.join(', ')}.`);
        });
      }),
    );

function print(
  listed: readonly ListedPool[],
  { total, namespace, nowMs, terminal }: { total: number; namespace: string | null; nowMs: number; terminal: Terminal },
): void {
  if (total === 0)
    return terminal.print(`There is no VsphereAgentPool${namespace === null ? '' : ` in ${namespace}`}.`);
  for (const line of renderPools(listed, nowMs, terminal.paint, terminal.widthColumns())) terminal.print(line);
  const inNeed = listed.filter(({ needsAttention }) => needsAttention).length;
  if (inNeed > 0)
    terminal.remark(
      `${String(inNeed)} of ${String(total)} ${inNeed === 1 ? 'needs' : 'need'} attention: \`drover describe pool NAMESPACE/NAME\` shows what can be done.`,
    );
}
