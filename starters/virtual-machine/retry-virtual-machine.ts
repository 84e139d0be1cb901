import { kindTable } from '../../contracts/kinds/table.ts';
import { annotations, virtualMachineId } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import { signalWithStart } from '../../runtime/temporal/signal-runs.ts';
import type { CommandContext } from '../command/context.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import { awaitFirstStatus } from '../command/first-status.ts';
import { updateRun } from '../command/give-command.ts';
import { interruptible } from '../command/interruption.ts';
import { withKubernetes } from '../command/kubernetes-access.ts';
import { describeLifecycle } from '../command/lifecycle-condition.ts';
import { whyNothingHappens } from '../command/lifecycle-mode.ts';
import { renderNextCommands } from '../render/table.ts';
import type { TemporalAccess } from '../command/temporal-access.ts';
import { withTemporal } from '../command/temporal-access.ts';
import type { Terminal } from '../command/terminal.ts';
import { onlyOneNamed, unknownVirtualMachine } from './unknown-virtual-machine.ts';
import type { VirtualMachineAccess } from './virtual-machine-access.ts';
import { listForSuggestion, virtualMachineAccess } from './virtual-machine-access.ts';
import { virtualMachineCommands } from './virtual-machine-commands.ts';
import type { VirtualMachineObject, VirtualMachineReference } from './virtual-machine-object.ts';
import { fullName } from './virtual-machine-object.ts';

interface Surroundings {
  context: CommandContext;
  temporal: TemporalAccess;
  access: VirtualMachineAccess;
  terminal: Terminal;
  abort: AbortSignal;
}

/** `drover retry vm`: the open run observes at once; where none is open, one starts, and what had failed is retried. */
export const retryVirtualMachine = (
  context: CommandContext,
  reference: VirtualMachineReference,
  by: string,
): Promise<void> =>
  interruptible(context, (abort) =>
    withTemporal(context, abort, (temporal) =>
      withKubernetes(temporal, async (kubernetes) => {
        const access = virtualMachineAccess(kubernetes);
        const surroundings = { context, temporal, access, terminal: context.terminal, abort };
        await retryKnown(surroundings, await readKnown(access, reference, abort), by);
      }),
    ),
  );

/** @throws CommandError notFound, with the name that may have been meant */
async function readKnown(
  access: VirtualMachineAccess,
  { namespace, name }: VirtualMachineReference,
  abort: AbortSignal,
): Promise<VirtualMachineObject> {
  const consequence = 'Nothing was changed.';
  if (namespace === null) return onlyOneNamed(name, (await access.list(null)).machines, consequence);
  const machine = await access.read(namespace, name);
  if (machine === null)
    throw unknownVirtualMachine({ namespace, name }, await listForSuggestion(access, abort), consequence);
  return machine;
}

async function retryKnown(surroundings: Surroundings, machine: VirtualMachineObject, by: string): Promise<void> {
  const { context, temporal, access, terminal, abort } = surroundings;
  const { clock, env } = context;
  const named = { name: fullName(machine), observed: machine.observed };
  const idle = whyNothingHappens('VirtualMachine', await context.loadConfig(), named, env);
  if (idle !== null) terminal.remark(idle);
  else if (await observeNow(surroundings, machine, by)) return;

  const retried = await access.annotate(machine, { [annotations.retry]: new Date(clock.now()).toISOString() });
  terminal.print(`VirtualMachine ${fullName(machine)} is tried again. It was ${describeLifecycle(machine)}`);
  if (idle !== null) return;
  await signalRun(temporal, retried, by);
  const read = (): Promise<VirtualMachineObject | null> => access.read(machine.namespace, machine.name);
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

/** Whether a run is open; it observes at once, or as soon as there is a worker. */
async function observeNow(
  { temporal, terminal }: Surroundings,
  machine: VirtualMachineObject,
  by: string,
): Promise<boolean> {
  try {
    terminal.print(
      `${await updateRun(temporal, virtualMachineId(machine.namespace, machine.name, temporal.config.cluster), messages.retryNow, { by })}.`,
    );
    return true;
  } catch (error) {
    const { exitCode } = explainError(error);
    if (exitCode === exitCodes.notFound) return false;
    if (exitCode !== exitCodes.unreachable) throw error;
    await signalRun(temporal, machine, by);
    terminal.print(`No worker answers now. ${fullName(machine)} is observed as soon as one does.`);
    return true;
  }
}

/** Signals the run that something changed, starting it if none is open. The bridge does the same; twice does no harm. */
const signalRun = (
  { context: { clock }, client, config }: TemporalAccess,
  { namespace, name, uid, generation, resourceVersion }: VirtualMachineObject,
  by: string,
): Promise<string> => {
  const signal = { uid, generation, resourceVersion, cause: 'retry' };
  const target = { subject: `${namespace}/${name}`, cluster: config.cluster, startedBy: by };
  return signalWithStart(client, kindTable.VirtualMachine, { ...target, signal }, { clock });
};
