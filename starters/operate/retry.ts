import type { Command } from 'commander';
import { annotations, evictionId, hypervisorId, nodeFailureId } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import { parseInstance } from '../command/arguments.ts';
import { asOption, describedCommand, hostArgument } from '../command/command.ts';
import type { Surroundings } from '../hypervisor/command-hypervisor.ts';
import { tellMode, withHypervisors } from '../hypervisor/command-hypervisor.ts';
import type { CommandContext } from '../command/context.ts';
import { CommandError } from '../command/error.ts';
import type { Retry } from './decide-retry.ts';
import { decideRetry } from './decide-retry.ts';
import { chooseEviction } from '../eviction/eviction-description.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import { commandFailureRun } from '../node-failure/failure-run.ts';
import { commandRun, giveCommand, updateRun } from '../command/give-command.ts';
import type { HypervisorObject } from '../hypervisor/hypervisor-objects.ts';
import { readEvictions } from '../command/kubernetes-access.ts';
import { refuseOtherCluster } from '../command/own-cluster.ts';
import { describeLifecycle } from '../command/lifecycle-condition.ts';
import { retryAgentPool, retryVsphereAgent } from '../agent-pool/retry-agent-pool.ts';
import { retryVolume } from '../data-volume/retry-volume.ts';
import { retryVirtualMachine } from '../virtual-machine/retry-virtual-machine.ts';
import { reviveEviction, tellRevival } from '../eviction/revive-eviction.ts';
import { retryConflicts } from '../../runtime/kubernetes/retry-conflicts.ts';
import { arrivalSource, showFirstStatus, signalRun } from '../hypervisor/send-hypervisor.ts';
import type { TemporalAccess } from '../command/temporal-access.ts';
import { isRunning } from '../command/temporal-access.ts';
import { namespaceOption, objectOf } from '../command/object-reference.ts';
import { whoRuns } from '../command/who.ts';

export const retryCommand = (context: CommandContext): Command =>
  describedCommand(
    'retry',
    'Tries again: one instance that did not move, a run that waits for a system to come back, an eviction that failed or was stopped, a hypervisor whose onboarding was aborted or that is blocked, a virtual machine, an agent pool or a VM of one, a DataVolume. Which of them is meant follows from the state of the host, and is shown.',
    [
      ['drover retry node-1', 'start what failed, was stopped or aborted again, or end a back-off'],
      ['drover retry node-1 web-3', 'try this instance again, in the eviction that runs'],
      ['drover retry vm team/web', 'observe this virtual machine now'],
      ['drover retry pool team/gpu', 'observe this agent pool now'],
      ['drover retry dv team/disk', 'observe this DataVolume now, or begin a clone anew that was given up'],
      ['drover retry agent team/worker-7', 'observe the VM of this VsphereAgent now'],
    ],
  )
    .usage('[options] (<host> [instance] | (vm | pool | agent | dv) <namespace/name>)')
    .addArgument(hostArgument())
    .argument(
      '[instance]',
      'name or id of the server; after the word vm, pool, agent or dv: NAMESPACE/NAME of a VirtualMachine, VsphereAgentPool, VsphereAgent or DataVolume',
      parseInstance,
    )
    .addOption(namespaceOption('object'))
    .addOption(asOption())
    .action(
      async (host: string, instance: string | undefined, { as, namespace }: { as?: string; namespace?: string }) => {
        const by = whoRuns(as, context.env);
        const object = objectOf(['vm', 'pool', 'agent', 'dv'], [host, instance], namespace);
        if (object?.noun === 'vm') return await retryVirtualMachine(context, object.reference, by);
        if (object?.noun === 'dv') return await retryVolume(context, object.reference, by);
        if (object?.noun === 'pool') return await retryAgentPool(context, object.reference, by);
        if (object !== null) return await retryVsphereAgent(context, object.reference, by);
        if (instance !== undefined) {
          return await giveCommand(context, host, messages.retryInstance, { instance, by });
        }
        await withHypervisors(context, (surroundings) => retryHost(surroundings, host, by));
      },
    );

export async function retryHost(surroundings: Surroundings, host: string, by: string): Promise<void> {
  const { temporal, kubernetes, terminal } = surroundings;
  const [isEvicting, isFailing, { objects, problem }, hypervisor] = await Promise.all([
    isRunning(temporal, evictionId(host, temporal.config.cluster)),
    isRunning(temporal, nodeFailureId(host, temporal.config.cluster)),
    readEvictions(kubernetes),
    readIfAllowed(surroundings, host),
  ]);
  if (problem !== null) terminal.remark(`Which Evictions of ${host} there are is not known: ${problem}`);
  if (isFailing) {
    terminal.print(`Failure of ${host}: ${await commandFailureRun(temporal, host, messages.retryNow, { by })}.`);
    // It holds the host until it is over: nothing but an eviction goes on beside it.
    if (!isEvicting) return;
  }
  const eviction = chooseEviction(
    objects.filter((object) => object.host === host),
    null,
  );
  const retry = decideRetry(isEvicting, eviction, hypervisor);
  if (retry.eviction && retry.hypervisor !== null)
    terminal.print(`Both the eviction of ${host} and its Hypervisor are tried again.`);
  if (retry.left !== null) terminal.remark(retry.left);
  if (hypervisor !== null && retry.hypervisor !== null)
    await retryHypervisor(surroundings, hypervisor, retry.hypervisor, by);
  if (retry.eviction) await retryEviction(surroundings, host, hypervisor, by);
}

/** Who may not see Hypervisors can still retry an eviction. */
async function readIfAllowed({ access, terminal }: Surroundings, host: string): Promise<HypervisorObject | null> {
  try {
    return await access.read(host);
  } catch (error) {
    const { message } = explainError(error);
    terminal.remark(`Whether Hypervisor ${host} waits for an operator is not known: ${message}`);
    return null;
  }
}

async function retryHypervisor(
  surroundings: Surroundings,
  hypervisor: HypervisorObject,
  how: NonNullable<Retry['hypervisor']>,
  by: string,
): Promise<void> {
  const { context, temporal, kubernetes, access, terminal, abort } = surroundings;
  const { name } = hypervisor;
  await refuseOtherCluster(temporal, kubernetes);
  const { acts } = await tellMode(surroundings, hypervisor, false);
  if (how === 'now') {
    if (acts) terminal.print(await observeNow(temporal, hypervisor, by));
    return;
  }
  const asked = { [annotations.retry]: new Date(context.clock.now()).toISOString() };
  const retried = await retryConflicts(async () =>
    access.patch((await access.read(name)) ?? hypervisor, { annotations: asked }),
  );
  terminal.print(`Hypervisor ${name} is tried again. It was ${describeLifecycle(hypervisor)}`);
  if (!acts) return;
  await signalRun(temporal, name, retried, 'retry', by);
  await showFirstStatus(arrivalSource(access, kubernetes, name), retried, { abort, context });
}

/** What the run answers; where none is open, or no worker answers for it, it observes when there is one. */
async function observeNow(temporal: TemporalAccess, hypervisor: HypervisorObject, by: string): Promise<string> {
  const { name } = hypervisor;
  try {
    return `${await updateRun(temporal, hypervisorId(name, temporal.config.cluster), messages.retryNow, { by })}.`;
  } catch (error) {
    const { exitCode } = explainError(error);
    if (exitCode !== exitCodes.notFound && exitCode !== exitCodes.unreachable) throw error;
    await signalRun(temporal, name, hypervisor, 'retry', by);
    return exitCode === exitCodes.notFound
      ? `A run observes ${name} now. It was ${describeLifecycle(hypervisor)}`
      : `No worker answers now. ${name} is observed as soon as one does.`;
  }
}

async function retryEviction(
  { temporal, kubernetes, terminal }: Surroundings,
  host: string,
  hypervisor: HypervisorObject | null,
  by: string,
): Promise<void> {
  const answer = await retryRun(temporal, host, by);
  if (answer !== null) return terminal.print(answer);
  const eviction = await reviveEviction(temporal, kubernetes, host, { accept: [], consent: [], by }).catch(
    (error: unknown) => {
      const { exitCode, message } = explainError(error);
      if (exitCode !== exitCodes.notFound || hypervisor === null) throw error;
      throw new CommandError(
        `${message} Hypervisor ${host} does not wait for an operator either: ${describeLifecycle(hypervisor)}`,
        exitCodes.notFound,
        `\`drover describe ${host}\` shows what can be done.`,
        error,
      );
    },
  );
  terminal.print(`Eviction ${eviction.name} of ${host} is tried again.`);
  await tellRevival(temporal, kubernetes, eviction);
}

/** What the running eviction answers; null when none runs, or it has come to its end and lingers. */
async function retryRun(temporal: TemporalAccess, host: string, by: string): Promise<string | null> {
  if (!(await isRunning(temporal, evictionId(host, temporal.config.cluster)))) return null;
  return await commandRun(temporal, host, messages.retryNow, { by }).catch((error: unknown) => {
    if (explainError(error).exitCode === exitCodes.refused || explainError(error).exitCode === exitCodes.notFound)
      return null;
    throw error;
  });
}
