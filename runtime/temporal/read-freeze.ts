import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { optionalTsToDate } from '@temporalio/common/lib/time.js';

import { apiServerSafetyId, workflowTypes } from '../../contracts/ids.ts';
import { type Freeze, type ReadFreeze, safetyMemo } from '../../contracts/machine-safety/api-server-safety.ts';
import {
  type ApiServerSettings,
  readAnsweringServers,
  readSafetyState,
} from '../../contracts/machine-safety/judge-api-servers.ts';
import { type SafetyRun, judgeFreeze } from '../../contracts/machine-safety/judge-freeze.ts';
import { probeActivity } from '../../contracts/machine-safety/watch-api-servers.ts';
import type { Clock } from '../clock.ts';
import { unlessAborted } from '../unless-aborted.ts';
import { readPayload } from './read-payload.ts';
import { type CallLimits, limited, wordsOf } from './temporal.ts';

export interface FreezeSources {
  temporal: Client;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  clock: Clock;
  settings: ApiServerSettings;
}

const maxAgeMs = 1_000;
const callTimeoutMs = 5_000;

/**
 * One answer of Temporal's serves all callers within a second of the question; one that says nothing serves those only
 * that wait for it.
 */
export function createReadFreeze({ temporal, cluster, clock, settings }: FreezeSources): ReadFreeze {
  const kept = new Map<string, { askedMs: number; answer: Promise<Freeze> }>();

  const ask = async (namespace: string): Promise<Freeze> => {
    try {
      const run = await readSafetyRun(temporal, apiServerSafetyId(namespace, cluster), {
        timeoutMs: callTimeoutMs,
        clock,
      });
      return judgeFreeze(run, settings, clock.now());
    } catch (error) {
      return { state: 'unknown', reason: `Temporal cannot say whether Machines are frozen: ${wordsOf(error)}` };
    }
  };

  return async (namespace, signal) => {
    signal.throwIfAborted();
    const nowMs = clock.monotonicMs();
    const before = kept.get(namespace);
    if (before !== undefined && nowMs - before.askedMs < maxAgeMs) return await unlessAborted(before.answer, signal);
    // Not the caller's signal: others wait for the same answer.
    const asked = { askedMs: nowMs, answer: ask(namespace) };
    kept.set(namespace, asked);
    const freeze = await unlessAborted(asked.answer, signal);
    if (freeze.state === 'unknown' && kept.get(namespace) === asked) kept.delete(namespace);
    return freeze;
  };
}

/** What Temporal has of the run that keeps the freeze of a namespace. @throws what Temporal fails with */
export async function readSafetyRun(client: Client, workflowId: string, limits: CallLimits): Promise<SafetyRun> {
  const missing: SafetyRun = { status: 'missing', decided: null, beat: null };
  try {
    const { type, status, memo, raw } = await limited(client, limits, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
    if (type !== workflowTypes.watchApiServers) return missing;
    const probe = raw.pendingActivities?.find(({ activityType }) => activityType?.name === probeActivity);
    const beatAt = optionalTsToDate(probe?.lastHeartbeatTime);
    const details = beatAt === undefined ? null : await readPayload(client, probe?.heartbeatDetails?.payloads ?? []);
    return {
      status: status.name === 'RUNNING' || status.name === 'PAUSED' ? 'open' : 'closed',
      decided: readSafetyState(memo?.[safetyMemo]),
      beat:
        beatAt === undefined
          ? null
          : { atMs: beatAt.getTime(), state: readSafetyState(details), servers: readAnsweringServers(details) },
    };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return missing;
    throw error;
  }
}
