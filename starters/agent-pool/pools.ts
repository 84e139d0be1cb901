import type { Command } from 'commander';
import { describedCommand } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { type Listing, listing, type ListOptions } from '../command/list-objects.ts';
import { renderPools } from '../render/agent-pool.ts';
import { poolAccess } from './agent-pool-access.ts';
import type { AgentPoolObject } from './agent-pool-object.ts';
import { approveCommand } from './approve-deletions.ts';
import { type ListedPool, listPools } from './listed-pool.ts';
import { refreshIsoCommand } from './refresh-iso.ts';

const pools: Listing<AgentPoolObject, ListedPool, ListOptions> = {
  noun: 'pool',
  list: (kubernetes, namespace, abort) => poolAccess(kubernetes, abort).list(namespace),
  rows: (objects, { attention = false }, nowMs) => listPools(objects, { attention }, nowMs),
  render: renderPools,
};

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
    pools,
  )
    .addCommand(
      listing(
        context,
        describedCommand('ls', 'Does the same as `drover pools` alone.', [['drover pools ls', 'all of them']]),
        pools,
      ),
    )
    .addCommand(approveCommand(context))
    .addCommand(refreshIsoCommand(context));
