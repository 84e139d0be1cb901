import type { Command } from 'commander';
import type { VirtualMachineState } from '../../contracts/virtual-machine/conditions.ts';
import { virtualMachineStates } from '../../contracts/virtual-machine/conditions.ts';
import { collectVirtualMachineStates } from '../command/arguments.ts';
import { describedCommand } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { type Listing, listing, type ListOptions } from '../command/list-objects.ts';
import { renderVirtualMachines } from '../render/virtual-machine.ts';
import type { ListedVirtualMachine } from './listed-virtual-machine.ts';
import { listVirtualMachines } from './listed-virtual-machine.ts';
import { virtualMachineAccess } from './virtual-machine-access.ts';
import type { VirtualMachineObject } from './virtual-machine-object.ts';

interface VmsOptions extends ListOptions {
  state?: VirtualMachineState[];
}

const machines: Listing<VirtualMachineObject, ListedVirtualMachine, VmsOptions> = {
  noun: 'vm',
  list: (kubernetes, namespace, abort) => virtualMachineAccess(kubernetes, abort).list(namespace),
  rows: (objects, { state: states = [], attention = false }, nowMs) =>
    listVirtualMachines(objects, { states, attention }, nowMs),
  render: renderVirtualMachines,
};

export const vmsCommand = (context: CommandContext): Command =>
  listing(
    context,
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
    ).option(
      '--state <states>',
      `only these, separated by commas: ${virtualMachineStates.join(', ')}`,
      collectVirtualMachineStates,
    ),
    machines,
  );
