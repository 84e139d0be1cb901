import type { Command } from 'commander';
import { describeStop, readStops } from '../runtime/stop.ts';
import { describedCommand, hostArgument, jsonOption } from './command.ts';
import { CommandError } from './command-error.ts';
import type { EvictionDescription } from './eviction-description.ts';
import { chooseEviction, withStory } from './eviction-description.ts';
import type { Ending, EvictionRun } from './eviction-facts.ts';
import { exitCodes } from './exit-codes.ts';
import { explainError } from './explain-error.ts';
import { finalProgress } from './follow-source.ts';
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
  describedCommand('describe', 'Tells everything about the eviction of a host: how it stands, what it waits for, what is in the way, what to type next.', [
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
  const [runs, { objects, problem }, stops] = await Promise.all([listRunsOf(temporal, host), readEvictions(kubernetes), findStops(temporal, kubernetes)]);
  const ofHost = objects.filter((object) => object.host === host);
  const [run = null, ...earlier] = runs;
  if (run === null && ofHost.length === 0 && problem === null) throw await unknownHost(kubernetes, host);

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

/** The stops that hold evictions up. One of a region is told too: which region the host is in, only its worker knows. */
async function findStops({ config, abort }: TemporalAccess, kubernetes: KubernetesAccess): Promise<{ sentences: string[]; problem: string | null }> {
  try {
    const stops = await readStops(await kubernetes.open(), config.kubernetes.systemNamespace, abort);
    const holding = stops.filter(({ of, name }) => of === 'all' || of === 'region' || name === (of === 'kind' ? 'Eviction' : config.cluster));
    return { sentences: holding.map(describeStop), problem: null };
  } catch (error) {
    return { sentences: [], problem: `Whether drover is stopped: ${explainError(error).message}` };
  }
}

async function unknownHost(kubernetes: KubernetesAccess, host: string): Promise<CommandError> {
  const known = (await kubernetes.hypervisors().catch((): string[] => [])).includes(host);
  if (known) return new CommandError(`Nothing is known of an eviction of ${host}.`, exitCodes.notFound, `Start one: drover evict ${host} --reason "…"`);
  return new CommandError(`Nothing is known of a host ${host}, nor of an eviction of it.`, exitCodes.notFound, '`drover ls --all` lists evictions; `kubectl get hypervisors` lists hosts.');
}
