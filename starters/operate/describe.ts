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
import { findHypervisorRun, readTakenAway } from '../hypervisor/hypervisor-description.ts';
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
  interruptible(context, async (abort) => {
    const { config } = await context.loadConfig();
    await withKubernetes({ context, config, abort }, async (kubernetes) => {
      const { terminal, clock } = context;
      const description = await gather({ context, config, abort }, kubernetes, host);
      if (json) return printJson(terminal, description);
      const lines = renderDescription(description, clock.now(), terminal.paint, terminal.widthColumns());
      for (const line of lines) terminal.print(line);
    });
  });

type Reading = Pick<TemporalAccess, 'context' | 'config' | 'abort'>;

/** Kubernetes and Temporal each do without the other. */
export async function gather(
  reading: Reading,
  kubernetes: KubernetesAccess,
  host: string,
): Promise<EvictionDescription> {
  const { abort } = reading;
  const [ofTemporal, evictions, ofHypervisor, stops] = await Promise.all([
    readRuns(reading, host),
    readEvictions(kubernetes),
    readHypervisor(kubernetes, host, abort),
    findHoldingStops(kubernetes, reading, ['Eviction', 'Hypervisor']),
  ]);
  const { run, progress, ending, earlier, failure, ofLifecycle, webUi } = ofTemporal.known ?? noRuns;
  const { object } = ofHypervisor;
  const ofHost = evictions.objects.filter((one) => one.host === host);
  const isEvicted = run !== null || ofHost.length > 0;
  // Of nothing that is known, no page can be made.
  if (ofTemporal.known === null && !isEvicted && object === null) throw ofTemporal.error;
  const unknown = ofTemporal.known === null ? `Runs of ${host}: ${explainError(ofTemporal.error).message}` : null;
  const problems = [unknown, evictions.problem, ofHypervisor.problem].filter((problem) => problem !== null);
  if (!isEvicted && object === null && failure === null && problems.length === 0) throw unknownHost(host);

  const eviction = chooseEviction(ofHost, progress?.eviction ?? ending?.result?.eviction ?? null);
  const migrations = await readMigrations(kubernetes, eviction, abort);
  return {
    host,
    run,
    runsKnown: ofTemporal.known !== null,
    progress,
    ending: ending === null ? null : withStory(ending, eviction),
    migrations: migrations.objects,
    eviction,
    others: ofHost.filter((one) => one !== eviction && !one.reconciled),
    earlier,
    // Where drover does not drive it, there is nothing to show besides an eviction.
    hypervisor:
      object === null || (isEvicted && lifecycleOf(object) === undefined)
        ? null
        : { object, ...ofLifecycle, takenAwayAt: readTakenAway(object) },
    failure,
    stops: stops.sentences,
    webUi,
    problems: [...problems, migrations.problem, stops.problem].filter((sentence) => sentence !== null),
  };
}

/** What Temporal has of a host. */
interface HostRuns extends Pick<EvictionDescription, 'run' | 'progress' | 'ending' | 'earlier' | 'failure' | 'webUi'> {
  ofLifecycle: Pick<HypervisorDescription, 'run' | 'webUi'>;
}

const noRuns: HostRuns = {
  run: null,
  progress: null,
  ending: null,
  earlier: [],
  failure: null,
  ofLifecycle: { run: null, webUi: null },
  webUi: null,
};

/** With what is wrong where it cannot be read: what Kubernetes has is worth showing without. */
async function readRuns(
  { context, abort }: Reading,
  host: string,
): Promise<{ known: HostRuns } | { known: null; error: unknown }> {
  try {
    return { known: await withTemporal(context, abort, (temporal) => askRuns(temporal, host)) };
  } catch (error) {
    abort.throwIfAborted();
    return { known: null, error };
  }
}

async function askRuns(temporal: TemporalAccess, host: string): Promise<HostRuns> {
  const [[run = null, ...earlier], failure, ofLifecycle] = await Promise.all([
    listRunsOf(temporal, host),
    describeFailureRun(temporal, host),
    findHypervisorRun(temporal, host),
  ]);
  const isOpen = run?.status === 'Running';
  return {
    run,
    progress:
      run === null
        ? null
        : isOpen
          ? await askProgress(temporal, run)
          : await finalProgress(temporal, run.workflowId, run.runId),
    ending: run === null || isOpen ? null : await readEndingOf(temporal, run),
    earlier: await Promise.all(
      earlier.slice(0, earlierRuns).map(async (past) => ({ run: past, ending: await readEndingOf(temporal, past) })),
    ),
    failure,
    ofLifecycle,
    webUi: run === null ? null : webUiLink(temporal.namespace, run.workflowId, run.runId, temporal.context.env),
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
  kubernetes: KubernetesAccess,
  host: string,
  abort: AbortSignal,
): Promise<{ object: HypervisorObject | null; problem: string | null }> {
  try {
    return { object: await hypervisorAccess(kubernetes).read(host), problem: null };
  } catch (error) {
    abort.throwIfAborted();
    return { object: null, problem: `Hypervisor ${host}: ${explainError(error).message}` };
  }
}

/** The same of the Migrations of an Eviction. */
async function readMigrations(
  kubernetes: KubernetesAccess,
  eviction: EvictionObject | null,
  abort: AbortSignal,
): Promise<{ objects: MigrationObject[]; problem: string | null }> {
  if (eviction === null) return { objects: [], problem: null };
  try {
    return { objects: await kubernetes.migrations(eviction.uid), problem: null };
  } catch (error) {
    abort.throwIfAborted();
    return { objects: [], problem: `Migrations of Eviction ${eviction.name}: ${explainError(error).message}` };
  }
}
