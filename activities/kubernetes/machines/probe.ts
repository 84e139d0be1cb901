import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';

import { machineKind } from '../../../contracts/kinds/machine.ts';
import { node } from '../../../contracts/kinds/resources.ts';
import type { ProbeAnswer } from '../../../contracts/machine-safety/judge-api-servers.ts';
import { type Clock, withTimeout } from '../../../runtime/clock.ts';
import { failureCode, failureDetail } from '../../../runtime/failure.ts';
import { isError } from '../../../runtime/is-error.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { typed } from '../../../runtime/kubernetes/resources.ts';
import { redactedStart } from '../../../runtime/redaction.ts';

/** No object can be called so: that there is none is the answer of a server that is well. */
const absentName = 'dummy_name';
const machines = typed(machineKind, z.unknown());
const nodes = typed(node, z.unknown());

/** A server that takes longer is not well. */
const mostProbeMs = 10_000;

export interface ProbeLimits {
  signal: AbortSignal;
  clock: Clock;
  /** Of `machines.apiServers`. */
  timeoutMs: number;
}

/** Of the cluster that has the Machines. @throws the abort of the signal, and nothing else */
export const probeControl = (
  client: Pick<KubernetesObjects, 'get'>,
  namespace: string,
  limits: ProbeLimits,
): Promise<ProbeAnswer> => probe(limits, (signal) => client.get(machines, { namespace, name: absentName }, signal));

/** Of the cluster that has the Nodes. @throws the abort of the signal, and nothing else */
export const probeTarget = (client: Pick<KubernetesObjects, 'get'>, limits: ProbeLimits): Promise<ProbeAnswer> =>
  probe(limits, (signal) => client.get(nodes, { name: absentName }, signal));

/**
 * Whether the server has answered as one that is well does. A refusal of the credential, and an answer that is none of
 * kube-apiserver's, tell nothing of it.
 */
async function probe(
  { signal, clock, timeoutMs }: ProbeLimits,
  ask: (signal: AbortSignal) => Promise<unknown>,
): Promise<ProbeAnswer> {
  const withinMs = Math.min(mostProbeMs, timeoutMs);
  try {
    await withTimeout(clock, withinMs, (overdue) => ask(AbortSignal.any([signal, overdue])));
    return { isUp: true };
  } catch (error) {
    signal.throwIfAborted();
    const words = failureCode(error) === null ? `no answer within ${withinMs / 1_000} s.` : messageOf(error);
    return { isUp: false, why: words };
  }
}

/** What has happened, without what the table advises: that is said where a user is to do something. */
function messageOf(error: unknown): string {
  const said = isError(error) ? error.message : String(error);
  return redactedStart(error instanceof ApplicationFailure ? failureDetail(error) : said, 300);
}
