import type { Command } from 'commander';
import { describeStop, readStops } from '../runtime/stop.ts';
import { describedCommand, hostArgument, jsonOption } from './command.ts';
import { CommandError } from './command-error.ts';
import type { EvictionDescription } from './eviction-description.ts';
import { chooseEviction, withStory } from './eviction-description.ts';
import type { Ending, EvictionRun } from './eviction-facts.ts';
import { exitCodes } from './exit-codes.ts';
import { explainError } from './explain-error.ts';
import { describeFailureRun } from './failure-run.ts';
import { finalProgress } from './follow-source.ts';
import { hypervisorAccess } from './hypervisor-access.ts';
import type { HypervisorDescription } from './hypervisor-description.ts';
import { describeHypervisorRun } from './hypervisor-description.ts';
import { lifecycleOf } from './hypervisor-objects.ts';
import { inBatches } from './in-batches.ts';
import { interruptible } from './interruption.ts';
import type { KubernetesAccess } from './kubernetes-access.ts';
import { readEvictions, withKubernetes } from './kubernetes-access.ts';
import { renderDescription } from './render/describe.ts';
import { askProgress, listRunsOf, readEnding } from './runs.ts';
import type { TemporalAccess } from './temporal-access.ts';
import { withTemporal } from './temporal-access.ts';
import { printJson, systemTerminal } from './terminal.ts';
import { webUiLink } from './web-ui.ts';

/** Older runs are in the Web UI. */
const earlierRuns = 5;

export const describeCommand = (): Command =>
  describedCommand('describe', 'Tells everything about a host: how its eviction and its lifecycle stand, what they wait for and by when, what is in the way, what to type next.', [
    ['drover describe node-1', 'for people'],
    ['drover describe node-1 --json', 'the same facts, for programs'],
  ])
    .addArgument(hostArgument())
    .addOption(jsonOption())
    .action((host: string, { json = false }: { json?: boolean }) =>
      interruptible((abort) =>
        withTemporal(abort, (temporal) =>
          withKubernetes(temporal.config, abort, async (kubernetes) => {
            const terminal = systemTerminal();
            const description = await gather(temporal, kubernetes, host);
            if (json) return printJson(terminal, description);
            for (const line of renderDescription(description, Date.now(), terminal.paint, terminal.widthColumns())) terminal.print(line);
          }),
        ),
      ),
    );

async function gather(temporal: TemporalAccess, kubernetes: KubernetesAccess, host: string): Promise<EvictionDescription> {
  const [runs, { objects, problem }, hypervisor, stops, failure] = await Promise.all([listRunsOf(temporal, host), readEvictions(kubernetes), readHypervisor(temporal, kubernetes, host), findStops(temporal, kubernetes), describeFailureRun(temporal, host)]);
  const ofHost = objects.filter((object) => object.host === host);
  const [run = null, ...earlier] = runs;
  const isEvicted = run !== null || ofHost.length > 0;
  if (!isEvicted && hypervisor === null && failure === null && problem === null) throw unknownHost(host);

  const progress = run === null ? null : run.status === 'Running' ? await askProgress(temporal, run) : await finalProgress(temporal, run.workflowId, run.runId);
  const ending = run === null || run.status === 'Running' ? null : await readEndingOf(temporal, run);
  const eviction = chooseEviction(ofHost, progress?.eviction ?? ending?.result?.eviction ?? null);
  return {
    host,
    run,
    progress,
    ending: ending === null ? null : withStory(ending, eviction),
    migrations: eviction === null ? [] : await kubernetes.migrations(eviction.uid).catch(() => []),
    eviction,
    others: ofHost.filter((object) => object !== eviction && !object.settled),
    earlier: await inBatches(earlier.slice(0, earlierRuns), earlierRuns, async (past) => ({ run: past, ending: await readEndingOf(temporal, past) })),
    // Where drover does not drive it, there is nothing to tell beside an eviction.
    hypervisor: hypervisor === null || (isEvicted && lifecycleOf(hypervisor.object) === undefined) ? null : hypervisor,
    failure,
    stops: stops.sentences,
    webUi: run === null ? null : webUiLink(temporal.namespace, run.workflowId, run.runId),
    problems: [problem, stops.problem].filter((sentence) => sentence !== null),
  };
}

/** Null where Temporal has forgotten the history already. */
const readEndingOf = (temporal: TemporalAccess, { workflowId, runId }: EvictionRun): Promise<Ending | null> =>
  readEnding(temporal, { workflowId, runId }).catch(() => {
    temporal.abort.throwIfAborted();
    return null;
  });

/** The stops that hold evictions or lifecycles up. One of a region is told too: which region the host is in, only its worker knows. */
async function findStops({ config, abort }: TemporalAccess, kubernetes: KubernetesAccess): Promise<{ sentences: string[]; problem: string | null }> {
  try {
    const stops = await readStops(await kubernetes.open(), config.kubernetes.systemNamespace, abort);
    const holding = stops.filter(({ of, name }) => of === 'all' || of === 'region' || (of === 'kind' ? name === 'Eviction' || name === 'Hypervisor' : name === config.cluster));
    return { sentences: holding.map(describeStop), problem: null };
  } catch (error) {
    return { sentences: [], problem: `Whether drover is stopped: ${explainError(error).message}` };
  }
}

const unknownHost = (host: string): CommandError =>
  new CommandError(`Nothing is known of a host ${host}, nor of an eviction of it.`, exitCodes.notFound, '`drover ls --all` lists evictions; `drover hosts` lists hosts.');

/** Null: there is none, or it may not be read; that Kubernetes is away is told of the Evictions already. */
async function readHypervisor(temporal: TemporalAccess, kubernetes: KubernetesAccess, host: string): Promise<HypervisorDescription | null> {
  const object = await hypervisorAccess(kubernetes, temporal.abort)
    .read(host)
    .catch(() => {
      temporal.abort.throwIfAborted();
      return null;
    });
  return object === null ? null : await describeHypervisorRun(temporal, object);
}
