import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { ActiveMode } from '../contracts/kinds/kind.ts';
import { messages, type ObjectChanged } from '../contracts/messages.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import type { Logger } from '../runtime/telemetry/logging.ts';
import { signalWithStart } from '../runtime/temporal/signal-runs.ts';
import { type CallLimits, limited } from '../runtime/temporal/temporal.ts';
import { type Change, type Delivery, decideDelivery } from './decide-delivery.ts';
import { describePersonsStop, findLastRun, type FoundRun } from './find-last-run.ts';
import { reportStopped } from './report-stopped.ts';
import type { Route } from './routes.ts';

export interface DeliverDeps {
  temporal: Client;
  kubernetes: Kubernetes;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  /** See `Follower.digestOf`. */
  digestOf: (route: Route, subject: string) => string | null;
  /** For each call of Temporal. */
  timeoutMs: number;
  clock: Clock;
  log: Logger;
}

/** What is in the queue. */
export interface RoutedChange {
  route: Route;
  mode: ActiveMode;
  change: Change;
  /**
   * When the watch event came, by `Clock.monotonicMs`; null where a list or a comparison found it. Of
   * several, the earliest.
   */
  seenMs: number | null;
}

/** Takes one change to where it belongs, and says where that was. Whatever it throws may be tried again. */
export async function deliverChange(
  { temporal, kubernetes, cluster, digestOf, timeoutMs, clock, log }: DeliverDeps,
  { route, mode, change }: RoutedChange,
  abort: AbortSignal,
): Promise<Delivery> {
  const { facts, causes } = change;
  const { subject, fullName, uid, generation, resourceVersion } = facts;
  if (subject === null) {
    log.warn({ kind: route.resource.kind, object: fullName, uid }, 'the object does not say whom it concerns');
    return 'nothing';
  }
  const { row } = route;
  const traits = {
    observesMore: route.observesMore,
    stopIsFinal: row.stopped !== undefined,
    shared: row.shared === true,
    ongoing: row.ongoing === true,
  };
  const workflowId = row.workflowId(subject, cluster);
  const limits: CallLimits = { timeoutMs, abort, clock };
  const signal: ObjectChanged = { uid, generation, resourceVersion, cause: causes.join(', ') };

  let found: FoundRun | null = null;
  let delivery = decideDelivery(change, traits, null);
  if (delivery === 'lookUp') {
    found = await findLastRun(temporal, workflowId, uid, limits);
    delivery = decideDelivery(change, traits, found.lastRun);
  }
  switch (delivery) {
    case 'signalWithStart': {
      const object = route.watch === null && !traits.shared ? fullName : subject;
      const target = { subject, object, cluster, digest: digestOf(route, subject) };
      const runId = await signalWithStart(temporal, row, { ...target, signal }, limits);
      log.info({ workflowId, runId, object: fullName, ...signal }, 'signalled');
      break;
    }
    case 'signalOpen':
      if (await signalOpen(temporal, workflowId, signal, limits))
        log.info({ workflowId, object: fullName, ...signal }, 'signalled the open run');
      break;
    case 'reportStopped': {
      const message = found?.stop ? describePersonsStop(found.stop, subject) : '';
      if (await reportStopped({ kubernetes, clock }, route, facts, mode, message, abort))
        log.info({ workflowId, object: fullName, uid, message }, 'a person stopped it for good');
      break;
    }
    case 'nothing':
    case 'lookUp':
      break;
  }
  return delivery;
}

/** Whether there was an open run to signal. */
async function signalOpen(
  client: Client,
  workflowId: string,
  signal: ObjectChanged,
  limits: CallLimits,
): Promise<boolean> {
  try {
    await limited(client, limits, () => client.workflow.getHandle(workflowId).signal(messages.objectChanged, signal));
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
