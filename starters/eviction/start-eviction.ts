import type { EvictionPhase } from '../../contracts/eviction/eviction.ts';
import { evictionId, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { kindTable } from '../../contracts/kinds/table.ts';
import { isKubeconfigMissing } from '../../runtime/kubernetes/kubernetes-faults.ts';
import { signalWithStart } from '../../runtime/temporal/signal-runs.ts';
import { CommandError } from '../command/error.ts';
import { exitCodeOfEnding, exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import type { KubernetesAccess } from '../command/kubernetes-access.ts';
import { refuseOtherCluster } from '../command/own-cluster.ts';
import { nextCommands } from '../command/next-commands.ts';
import { answered, type TemporalAccess } from '../command/temporal-access.ts';
import type { Terminal } from '../command/terminal.ts';
import { webUiLink } from '../command/web-ui.ts';
import { formatTime } from '../render/duration.ts';
import { renderEnding } from '../render/progress.ts';
import { renderNextCommands } from '../render/table.ts';
import { describeChanges } from '../render/watch.ts';
import { openObstacles } from './eviction-description.ts';
import type { EvictionObject } from './eviction-objects.ts';
import { evictionInput, evictionManifest, type EvictionRequest, planEviction } from './eviction-request.ts';
import type { FollowSource, Observed } from './follow.ts';

/** Makes the Eviction and starts its run. */
export async function startEviction(
  temporal: TemporalAccess,
  kubernetes: KubernetesAccess,
  request: EvictionRequest,
): Promise<void> {
  const { host, by } = request;
  const { terminal, clock } = temporal.context;
  const world = await readWorld(kubernetes, terminal);
  if (world === null) return await startWithoutKubernetes(temporal, request);
  await refuseOtherCluster(temporal, kubernetes);
  const nowMs = clock.now();
  const plan = planEviction(request, world.hypervisors, world.objects, nowMs);
  const eviction =
    plan.do === 'join'
      ? plan.eviction
      : await kubernetes.createEviction(evictionManifest(request, plan.name, formatTime(nowMs)));
  await signalChange(temporal, eviction, 'spec', by);
  terminal.print(
    plan.do === 'join'
      ? `Eviction ${eviction.name} of ${host} was there already, and runs.`
      : `Eviction ${eviction.name} made; run ${evictionId(host, temporal.config.cluster)} started.`,
  );
}

/**
 * Signals the run of the Eviction that it changed, starting it if none is open. The bridge does the same; twice
 * does no harm.
 */
export const signalChange = (
  temporal: TemporalAccess,
  { uid, generation, resourceVersion, host, name }: EvictionObject,
  cause: string,
  by: string,
): Promise<string> =>
  signalWithStart(
    temporal.client,
    kindTable.Eviction,
    {
      subject: host,
      object: name,
      cluster: temporal.config.cluster,
      startedBy: by,
      signal: { uid, generation, resourceVersion, cause },
    },
    { clock: temporal.context.clock },
  );

/** Null where there is no kubeconfig at all; a kube-apiserver that does not answer is no reason to go on without it. */
async function readWorld(
  kubernetes: KubernetesAccess,
  terminal: Terminal,
): Promise<{ objects: EvictionObject[]; hypervisors: string[] | null } | null> {
  try {
    await kubernetes.open();
  } catch (error) {
    // A kubeconfig that is wrong says that there is a cluster, in which another Eviction may be in the way.
    if (!isKubeconfigMissing(error)) throw error;
    terminal.remark(`${explainError(error).message} The run makes the Eviction itself.`);
    return null;
  }
  const hypervisors = kubernetes.hypervisors().catch((error: unknown) => {
    const explained = explainError(error);
    if (explained.exitCode !== exitCodes.refused) throw error;
    terminal.remark(`Whether the host exists is left to the preflight: ${explained.message}`);
    return null;
  });
  const [objects, names] = await Promise.all([kubernetes.evictions(), hypervisors]);
  return { objects, hypervisors: names };
}

async function startWithoutKubernetes(temporal: TemporalAccess, request: EvictionRequest): Promise<void> {
  const { cluster } = temporal.config;
  const workflowId = evictionId(request.host, cluster);
  try {
    const start = () =>
      temporal.client.workflow.start(workflowTypes.evictHypervisor, {
        workflowId,
        taskQueue: workflowQueue(cluster),
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        args: [evictionInput(request)],
        memo: { startedBy: request.by },
        staticSummary: `Evict ${request.host}`,
      });
    await answered(temporal, start);
    temporal.context.terminal.print(`Run ${workflowId} started.`);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'WorkflowExecutionAlreadyStartedError') throw error;
    throw new CommandError(
      `${request.host} is being evicted already. Nothing was started.`,
      exitCodes.refused,
      `drover watch ${request.host} follows it.`,
      error,
    );
  }
}

/** A preflight that refuses does so within seconds: worth waiting for, so that the person learns of it here. */
const beginningMs = 20_000;
/** A run whose outcome is decided ends within moments, and a script wants its exit code. */
const endingMs = 30_000;

/** For how long it is waited for more; a phase that is not named says enough. */
const patienceMs: Readonly<Partial<Record<EvictionPhase, number>>> = {
  Opening: beginningMs,
  Preflight: beginningMs,
  Succeeded: endingMs,
  Failed: endingMs,
  Stopped: endingMs,
  Observed: endingMs,
};

/** Shows how an eviction begins, and what to type next. */
export async function tellBeginning(
  source: FollowSource,
  temporal: TemporalAccess,
  { host, observe }: { host: string; observe: boolean },
): Promise<void> {
  const { context } = temporal;
  const { terminal } = context;
  const observed = await observeBeginning(source, temporal);
  const progress = observed?.state === 'running' || observed?.state === 'ended' ? observed.progress : null;
  if (observed?.state === 'running' && progress !== null)
    for (const line of describeChanges(null, progress)) terminal.print(line);
  if (observed?.state === 'ended') {
    for (const line of renderEnding(observed.ending, terminal.paint)) terminal.print(line);
    context.exitCode = exitCodeOfEnding(observed.ending.outcome, { observe });
  }
  const link = webUiLink(temporal.namespace, evictionId(host, temporal.config.cluster), null, context.env);
  if (link !== null) terminal.remark(`Web UI: ${link}`);
  const situation = {
    host,
    running: observed?.state !== 'ended',
    progress,
    outcome: observed?.state === 'ended' ? observed.ending.outcome : null,
    eviction: null,
    obstacles: progress === null ? [] : openObstacles(progress),
    stopped: false,
    leftDisabled: null,
  };
  for (const line of renderNextCommands(
    [...nextCommands(situation), { command: `drover describe ${host}`, why: 'everything about it' }],
    terminal.paint,
  ))
    terminal.remark(line);
}

async function observeBeginning(
  source: FollowSource,
  { context: { clock }, abort }: TemporalAccess,
): Promise<Observed | null> {
  const sinceMs = clock.now();
  for (;;) {
    const observed = await source.observe().catch((error: unknown) => {
      abort.throwIfAborted();
      if (explainError(error).exitCode !== exitCodes.unreachable) throw error;
      return null;
    });
    if (clock.now() - sinceMs >= patienceWith(observed)) return observed;
    await clock.sleep(250, abort);
  }
}

/** Milliseconds since the beginning; 0: it says enough. */
function patienceWith(observed: Observed | null): number {
  if (observed === null || observed.state === 'waiting') return beginningMs;
  if (observed.state !== 'running') return 0;
  return observed.progress === null ? beginningMs : (patienceMs[observed.progress.phase] ?? 0);
}
