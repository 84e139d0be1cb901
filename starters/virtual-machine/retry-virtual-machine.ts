import { annotations } from '../../contracts/ids.ts';
import type { CommandContext } from '../command/context.ts';
import { awaitFirstStatus } from '../command/first-status.ts';
import { interruptible } from '../command/interruption.ts';
import { withKubernetes } from '../command/kubernetes-access.ts';
import { describeLifecycle } from '../command/lifecycle-condition.ts';
import { refuseOtherCluster } from '../command/own-cluster.ts';
import { whyNothingHappens } from '../command/lifecycle-mode.ts';
import { renderNextCommands } from '../render/table.ts';
import type { TemporalAccess } from '../command/temporal-access.ts';
import { withTemporal } from '../command/temporal-access.ts';
import type { Terminal } from '../command/terminal.ts';
import type { ObjectAccess } from '../command/object-access.ts';
import { fullName, type ObjectReference } from '../command/object-reference.ts';
import { observeNow, signalRun } from '../command/object-retry.ts';
import { virtualMachineAccess } from './virtual-machine-access.ts';
import { virtualMachineCommands } from './virtual-machine-commands.ts';
import type { VirtualMachineObject } from './virtual-machine-object.ts';

interface Surroundings {
  context: CommandContext;
  temporal: TemporalAccess;
  access: ObjectAccess<VirtualMachineObject>;
  terminal: Terminal;
  abort: AbortSignal;
}

/** `drover retry vm`: the open run observes at once; where none is open, one starts, and what had failed is retried. */
export const retryVirtualMachine = (context: CommandContext, reference: ObjectReference, by: string): Promise<void> =>
  interruptible(context, (abort) =>
    withTemporal(context, abort, (temporal) =>
      withKubernetes(temporal, async (kubernetes) => {
        const access = virtualMachineAccess(kubernetes, abort);
        const surroundings = { context, temporal, access, terminal: context.terminal, abort };
        const machine = await access.read(reference, 'Nothing was changed.');
        await refuseOtherCluster(temporal, kubernetes);
        await retryKnown(surroundings, machine, by);
      }),
    ),
  );

async function retryKnown(surroundings: Surroundings, machine: VirtualMachineObject, by: string): Promise<void> {
  const { context, temporal, access, terminal, abort } = surroundings;
  const { clock, env } = context;
  const named = { name: fullName(machine), observed: machine.observed };
  const idle = whyNothingHappens('VirtualMachine', await context.loadConfig(), named, env);
  if (idle !== null) terminal.remark(idle);
  else if (await observeNow(temporal, { ...machine, kind: 'VirtualMachine' }, by)) return;

  const { namespace, name, uid } = machine;
  const retried = await access.annotate(
    { namespace, name, uid },
    { [annotations.retry]: new Date(clock.now()).toISOString() },
  );
  terminal.print(`VirtualMachine ${fullName(machine)} is tried again. It was ${describeLifecycle(machine)}`);
  if (idle !== null) return;
  await signalRun(temporal, { ...retried, kind: 'VirtualMachine' }, by);
  const read = (): Promise<VirtualMachineObject | null> => access.find(namespace, name);
  const { latest, isChanged } = await awaitFirstStatus(read, retried, { clock, abort });
  if (isChanged) terminal.print(describeLifecycle(latest));
  else
    terminal.remark(
      'No run has said anything new of it yet: `drover describe vm` shows when one has, `drover doctor` whether the bridge and the workers are there.',
    );
  const commands = [
    { command: `drover describe vm ${fullName(machine)}`, why: 'its state, and what it waits for' },
    ...virtualMachineCommands({ object: latest, run: null, stops: [] }),
  ];
  for (const line of renderNextCommands(commands, terminal.paint)) terminal.remark(line);
}
