import { kindTable } from '../../contracts/kinds/table.ts';
import { evictionId, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { signalWithStart } from '../../runtime/temporal/signal-runs.ts';
import { CommandError } from '../command/error.ts';
import type { EvictionObject } from './eviction-facts.ts';
import type { EvictionRequest } from './eviction-request.ts';
import { evictionInput, evictionManifest, planEviction } from './eviction-request.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import type { KubernetesAccess } from '../command/kubernetes-access.ts';
import { formatTime } from '../render/duration.ts';
import type { TemporalAccess } from '../command/temporal-access.ts';
import { answered } from '../command/temporal-access.ts';
import type { Terminal } from '../command/terminal.ts';

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

/** Tells the run of the Eviction that it changed, starting it if none is open. The bridge does the same; twice does no harm. */
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
  const workflowId = evictionId(request.host, temporal.config.cluster);
  try {
    const start = () =>
      temporal.client.workflow.start(workflowTypes.evictHypervisor, {
        workflowId,
        taskQueue: workflowQueue,
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
