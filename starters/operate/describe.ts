import type { Command } from 'commander';
import { describedCommand, hostArgument, jsonOption } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { CommandError, usageError } from '../command/error.ts';
import { describeAgentPool } from '../agent-pool/describe-pool.ts';
import { describeVolume } from '../data-volume/describe-volume.ts';
import { describeVirtualMachine } from '../virtual-machine/describe-virtual-machine.ts';
import type { EvictionDescription } from '../eviction/eviction-description.ts';
import { chooseEviction, withStory } from '../eviction/eviction-description.ts';
import type { Ending, EvictionObject, EvictionRun, MigrationObject } from '../eviction/eviction-objects.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { describeFailureRun } from '../node-failure/failure-run.ts';
import { finalProgress } from '../eviction/follow.ts';
import { findHoldingStops } from './holding-stops.ts';
import { explainError } from '../command/explain-error.ts';
import type { HypervisorObject } from '../hypervisor/hypervisor-objects.ts';
import { hypervisorAccess } from '../hypervisor/hypervisor-access.ts';
import type { HypervisorDescription } from '../hypervisor/hypervisor-description.ts';
import { describeHypervisorRun } from '../hypervisor/hypervisor-description.ts';
import { lifecycleOf } from '../command/lifecycle-condition.ts';
import { interruptible } from '../command/interruption.ts';
import type { KubernetesAccess } from '../command/kubernetes-access.ts';
import { readEvictions, withKubernetes } from '../command/kubernetes-access.ts';
import { renderDescription } from '../render/describe.ts';
import { askProgress, listRunsOf, readEnding } from '../command/runs.ts';
import type { TemporalAccess } from '../command/temporal-access.ts';
import { withTemporal } from '../command/temporal-access.ts';
import { printJson } from '../command/terminal.ts';
import { namespaceOption, nouns, objectOf } from '../command/object-reference.ts';
import { webUiLink } from '../command/web-ui.ts';

/** Older runs are in the Web UI. */
const earlierRuns = 5;

export const describeCommand = (context: CommandContext): Command =>
  describedCommand(
    'describe',
    'Shows everything about a host, a virtual machine, an agent pool or a DataVolume: its state, what it waits for and by when, what is in the way, what to type next. Of a host, that is its eviction and its lifecycle.',
    [
      ['drover describe node-1', 'a host'],
      ['drover describe vm team/web', 'a virtual machine'],
      ['drover describe pool team/gpu', 'an agent pool, with its VMs'],
      ['drover describe dv team/disk', 'a DataVolume: what was chosen and why, its snapshot, its Events'],
      ['drover describe node-1 --json', 'the same facts, for programs'],
    ],
  )
    .usage('[options] (<host> | (vm | pool | dv) <namespace/name>)')
    .addArgument(hostArgument())
    .argument(
      '[object]',
      'after the word vm, pool or dv: NAMESPACE/NAME of a VirtualMachine, VsphereAgentPool or DataVolume, or its name where only one has it',
    )
    .addOption(namespaceOption('object'))
    .addOption(jsonOption())
    .action(
      async (
        host: string,
        second: string | undefined,
        { json = false, namespace }: { json?: boolean; namespace?: string },
      ) => {
        const object = objectOf(['vm', 'pool', 'dv'], [host, second], namespace);
        if (object?.noun === 'vm') return await describeVirtualMachine(context, object.reference, json);
        if (object?.noun === 'dv') return await describeVolume(context, object.reference, json);
        if (object !== null) return await describeAgentPool(context, object.reference, json);
        if (second !== undefined)
          throw usageError(
            'One host is described at a time.',
            'For a virtual machine, say `drover describe vm NAMESPACE/NAME`; for an agent pool, `drover describe pool NAMESPACE/NAME`; for a DataVolume, `drover describe dv NAMESPACE/NAME`.',
          );
        await describeHost(context, host, json);
      },
    );

const describeHost = (context: CommandContext, host: string, json: boolean): Promise<void> =>
  interruptible(context, (abort) =>
    withTemporal(context, abort, (temporal) =>
      withKubernetes(temporal, async (kubernetes) => {
        const { terminal, clock } = context;
        const description = await gather(temporal, kubernetes, host);
        if (json) return printJson(terminal, description);
        const lines = renderDescription(description, clock.now(), terminal.paint, terminal.widthColumns());
        for (const line of lines) terminal.print(line);
      }),
    ),
  );

export async function gather(
  temporal: TemporalAccess,
  kubernetes: KubernetesAccess,
  host: string,
): Promise<EvictionDescription> {
  const [runs, evictions, read, stops, failure] = await Promise.all([
    listRunsOf(temporal, host),
    readEvictions(kubernetes),
    readHypervisor(temporal, kubernetes, host),
    findHoldingStops(kubernetes, temporal, ['Eviction', 'Hypervisor']),
    describeFailureRun(temporal, host),
  ]);
  const { hypervisor } = read;
  const ofHost = evictions.objects.filter((object) => object.host === host);
  const [run = null, ...earlier] = runs;
  const isEvicted = run !== null || ofHost.length > 0;
  const problems = [evictions.problem, read.problem].filter((problem) => problem !== null);
  if (!isEvicted && hypervisor === null && failure === null && problems.length === 0) throw unknownHost(host);

  const progress =
    run === null
      ? null
      : run.status === 'Running'
        ? await askProgress(temporal, run)
        : await finalProgress(temporal, run.workflowId, run.runId);
  const ending = run === null || run.status === 'Running' ? null : await readEndingOf(temporal, run);
  const eviction = chooseEviction(ofHost, progress?.eviction ?? ending?.result?.eviction ?? null);
  const migrations = await readMigrations(temporal, kubernetes, eviction);
  return {
    host,
    run,
    progress,
    ending: ending === null ? null : withStory(ending, eviction),
    migrations: migrations.objects,
    eviction,
    others: ofHost.filter((object) => object !== eviction && !object.reconciled),
    earlier: await Promise.all(
      earlier.slice(0, earlierRuns).map(async (past) => ({ run: past, ending: await readEndingOf(temporal, past) })),
    ),
    // Where drover does not drive it, there is nothing to show besides an eviction.
    hypervisor: hypervisor === null || (isEvicted && lifecycleOf(hypervisor.object) === undefined) ? null : hypervisor,
    failure,
    stops: stops.sentences,
    webUi: run === null ? null : webUiLink(temporal.namespace, run.workflowId, run.runId, temporal.context.env),
    problems: [...problems, migrations.problem, stops.problem].filter((sentence) => sentence !== null),
  };
}

/** Null where Temporal has forgotten the history already. */
const readEndingOf = (temporal: TemporalAccess, { workflowId, runId }: EvictionRun): Promise<Ending | null> =>
  readEnding(temporal, { workflowId, runId }).catch(() => {
    temporal.abort.throwIfAborted();
    return null;
  });

const unknownHost = (host: string): CommandError =>
  new CommandError(
    `Nothing is known of a host ${host}, nor of an eviction of it.`,
    exitCodes.notFound,
    host === 'vm' || host === 'pool' || host === 'dv'
      ? `Of ${host === 'pool' ? 'an' : 'a'} ${nouns[host].what}, say \`drover describe ${host} NAMESPACE/NAME\`; \`${nouns[host].list}\` lists them.`
      : '`drover ls --all` lists evictions; `drover hosts` lists hosts.',
  );

/** What of its Hypervisor can be shown, or why there is none to show. */
async function readHypervisor(
  temporal: TemporalAccess,
  kubernetes: KubernetesAccess,
  host: string,
): Promise<{ hypervisor: HypervisorDescription | null; problem: string | null }> {
  let object: HypervisorObject | null;
  try {
    object = await hypervisorAccess(kubernetes).read(host);
  } catch (error) {
    temporal.abort.throwIfAborted();
    return { hypervisor: null, problem: `Hypervisor ${host}: ${explainError(error).message}` };
  }
  return { hypervisor: object === null ? null : await describeHypervisorRun(temporal, object), problem: null };
}

/** The same of the Migrations of an Eviction. */
async function readMigrations(
  temporal: TemporalAccess,
  kubernetes: KubernetesAccess,
  eviction: EvictionObject | null,
): Promise<{ objects: MigrationObject[]; problem: string | null }> {
  if (eviction === null) return { objects: [], problem: null };
  try {
    return { objects: await kubernetes.migrations(eviction.uid), problem: null };
  } catch (error) {
    temporal.abort.throwIfAborted();
    return { objects: [], problem: `Migrations of Eviction ${eviction.name}: ${explainError(error).message}` };
  }
}
