import { evictionId } from '../../contracts/ids.ts';
import { chooseEviction, withStory } from './eviction-description.ts';
import type { Ending, EvictionObject } from './eviction-facts.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import type { FollowSource, Look } from './follow.ts';
import { notRunning } from '../command/give-command.ts';
import type { KubernetesAccess } from '../command/kubernetes-access.ts';
import { askProgress, readEnding } from '../command/runs.ts';
import type { TemporalAccess } from '../command/temporal-access.ts';
import { answered } from '../command/temporal-access.ts';

/** The run that is followed: once chosen, it is followed to its end and not into the next eviction of the host. */
interface Followed {
  runId: string;
  status: 'running' | 'ended' | 'continued';
}

/**
 * Looks at the eviction of one host: its run in Temporal, and for finer progress its Migration objects.
 * `look` throws notFound when there is neither a run nor an Eviction that could begin one.
 */
export function followSource(access: TemporalAccess, kubernetes: KubernetesAccess, host: string): FollowSource {
  const workflowId = evictionId(host, access.config.cluster);
  let runId: string | undefined;
  let uid: string | null = null;
  let last: string | null = null;

  const evictionOf = async ({ result }: Ending): Promise<EvictionObject | null> =>
    chooseEviction(
      (await kubernetes.evictions().catch(() => [])).filter((object) => object.host === host),
      result?.eviction ?? last,
    );
  const waitingEviction = async (): Promise<EvictionObject | undefined> =>
    (await kubernetes.evictions().catch(() => [])).find((object) => object.host === host && !object.settled);

  async function look(): Promise<Look> {
    const followed = await describe(access, workflowId, runId);
    if (followed?.status === 'continued') {
      runId = undefined;
      return await look();
    }
    if (followed?.status === 'running') {
      runId = followed.runId;
      const progress = await askProgress(access, { workflowId, runId });
      last = progress?.eviction ?? last;
      return { state: 'running', progress };
    }
    // Before anything was followed, an Eviction that has no run yet is the one that is meant.
    const waiting = runId === undefined ? await waitingEviction() : undefined;
    if (waiting !== undefined)
      return {
        state: 'waiting',
        message: `Eviction ${waiting.name} has no run yet. The bridge starts one; \`drover retry ${host}\` does too.`,
      };
    if (followed === null) throw notRunning(host);
    const ending = await readEnding(access, { workflowId, runId: followed.runId });
    return {
      state: 'ended',
      ending: withStory(ending, await evictionOf(ending)),
      progress: await finalProgress(access, workflowId, followed.runId),
    };
  }

  return {
    look,
    async percents({ eviction }) {
      if (eviction === null) return new Map();
      uid ??= (await kubernetes.evictions()).find(({ name }) => name === eviction)?.uid ?? null;
      const migrations = uid === null ? [] : await kubernetes.migrations(uid);
      return new Map(migrations.flatMap(({ id, percent }) => (percent === null ? [] : [[id, percent]])));
    },
  };
}

async function describe(
  access: TemporalAccess,
  workflowId: string,
  runId: string | undefined,
): Promise<Followed | null> {
  try {
    const { runId: found, status } = await answered(access, () =>
      access.client.workflow.getHandle(workflowId, runId).describe(),
    );
    if (status.name === 'CONTINUED_AS_NEW') return { runId: found, status: 'continued' };
    return { runId: found, status: status.name === 'RUNNING' || status.name === 'PAUSED' ? 'running' : 'ended' };
  } catch (error) {
    if (explainError(error).exitCode === exitCodes.notFound) return null;
    throw error;
  }
}

/** What the run showed last; null when no worker is there to tell, or the run shows nothing after its end. */
export async function finalProgress(access: TemporalAccess, workflowId: string, runId: string) {
  const progress = await askProgress(access, { workflowId, runId });
  return progress === null || progress.phase === 'Opening' ? null : progress;
}
