import type { Command } from 'commander';
import type { VirtualMachineState } from '../../contracts/virtual-machine/conditions.ts';
import { virtualMachineStates } from '../../contracts/virtual-machine/conditions.ts';
import { collectVirtualMachineStates } from '../command/arguments.ts';
import { describedCommand, jsonOption, outputOption } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { interruptible } from '../command/interruption.ts';
import { withKubernetes } from '../command/kubernetes-access.ts';
import type { ListedVirtualMachine } from './listed-virtual-machine.ts';
import { listVirtualMachines } from './listed-virtual-machine.ts';
import { renderVirtualMachines } from '../render/virtual-machine.ts';
import type { Terminal } from '../command/terminal.ts';
import { printJson } from '../command/terminal.ts';
import { virtualMachineAccess } from './virtual-machine-access.ts';
import { namespaceOption } from '../command/object-reference.ts';

interface VmsOptions {
  namespace?: string;
  state?: VirtualMachineState[];
  attention?: boolean;
  json?: boolean;
  output?: 'json';
}

export const vmsCommand = (context: CommandContext): Command =>
  describedCommand(
    'vms',
    'Lists virtual machines: the state of each, what it waits for, its power, where it runs. Those that need attention come first, marked with "!".',
    [
      ['drover vms', 'all of them'],
      ['drover vms -n team --attention', 'those of a namespace that rest, or wait too long'],
      ['drover vms --state failed,notowned', 'those in these states'],
      [
        `drover vms --json | jq -r '.[] | select(.status == "blocked") | .namespace + "/" + .name + " " + .message'`,
        'for programs',
      ],
    ],
  )
    .addOption(namespaceOption('VirtualMachine').conflicts('allNamespaces'))
    .option('-A, --all-namespaces', 'those of every namespace; so it is where none is named')
    .option(
      '--state <states>',
      `only these, separated by commas: ${virtualMachineStates.join(', ')}`,
      collectVirtualMachineStates,
    )
    .option('--attention', 'only those that need attention')
    .addOption(jsonOption())
    .addOption(outputOption())
    .action(({ namespace, state: states = [], attention = false, json = false, output }: VmsOptions) =>
      interruptible(context, async (abort) => {
        const { terminal } = context;
        const { config } = await context.loadConfig();
        await withKubernetes({ context, config, abort }, async (kubernetes) => {
          const { machines, unreadable } = await virtualMachineAccess(kubernetes).list(namespace ?? null);
          const nowMs = context.clock.now();
          const listed = listVirtualMachines(machines, { states, attention }, nowMs);
          if (json || output === 'json') printJson(terminal, listed);
          else print(listed, { total: machines.length, namespace: namespace ?? null, nowMs, terminal });
          if (unreadable.length > 0)
            terminal.remark(`Not as their schema says, and not shown: ${unreadable.join(', ')}.`);
        });
      }),
    );

function print(
  listed: readonly ListedVirtualMachine[],
  { total, namespace, nowMs, terminal }: { total: number; namespace: string | null; nowMs: number; terminal: Terminal },
): void {
  if (total === 0) return terminal.print(`There is no VirtualMachine${namespace === null ? '' : ` in ${namespace}`}.`);
  for (const text of renderVirtualMachines(listed, nowMs, terminal.paint, terminal.widthColumns()))
    terminal.print(text);
  const inNeed = listed.filter(({ needsAttention }) => needsAttention).length;
  if (inNeed > 0)
    terminal.remark(
      `${String(inNeed)} of ${String(total)} ${inNeed === 1 ? 'needs' : 'need'} attention: \`drover describe vm NAMESPACE/NAME\` shows what can be done.`,
    );
}
