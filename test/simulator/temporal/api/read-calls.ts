import { evict, queryRun } from '../sandbox.ts';
import type { Run } from '../run.ts';
import type { Payload } from '../sdk.ts';
import { enums } from '../sdk.ts';
import { allRuns, isOpen } from '../server.ts';
import { describeExecution, executionInfo } from './describe.ts';
import { grpcStatus, refuse } from './grpc.ts';
import { knownRun, within } from './lookup.ts';
import type { RequestOf, Service, ServiceOptions } from './calls.ts';
import { parseQuery } from './visibility.ts';

/** The calls that read runs. */

/** Between two looks at a worker that is not there. */
const pollMs = 50;

export function createReadCalls({ server, worker, workflowTasks, busy }: Omit<ServiceOptions, 'schedules'>): Service {
  /** Those that are open first, then those that closed last; of the same time, the last started first. */
  const select = (filter: string | null | undefined): Run[] => {
    const rank = ({ closeMs }: Run): number => closeMs ?? Number.MAX_SAFE_INTEGER;
    return allRuns(server)
      .filter(parseQuery(filter ?? ''))
      .toSorted((a, b) => rank(b) - rank(a) || b.startMs - a.startMs);
  };

  /** A worker answers, after all that it has to do for the run. */
  async function answerable(run: Run): Promise<void> {
    for (;;) {
      if (run.taskAttempt > 1)
        refuse(grpcStatus.failedPrecondition, 'Cannot query workflow due to Workflow Task in failed state.');
      if (run.task !== null) await run.task.over.promise;
      else if (!worker.host.process.isAlive || !worker.host.isConnected()) await server.clock.sleep(pollMs);
      else return;
    }
  }

  /** One that has closed, and is asked again until it says what is waited for, is not replayed each time. */
  let lastAsked: Run | null = null;
  function keep(run: Run): void {
    if (lastAsked !== null && lastAsked !== run && !isOpen(lastAsked) && lastAsked.cache.loading === null)
      evict(lastAsked);
    lastAsked = run;
  }

  async function query({ execution, query: asked }: NonNullable<RequestOf<'queryWorkflow'>>): Promise<object> {
    const run = knownRun(server, execution);
    await answerable(run);
    const atMs = Math.floor(server.clock.nowMs);
    const ask = (): Promise<Payload | null> =>
      queryRun(run, asked?.queryType ?? '', asked?.queryArgs?.payloads ?? [], atMs);
    try {
      const answer = await busy(workflowTasks.withLoadedRun(run, ask));
      return { queryResult: { payloads: answer === null ? [] : [answer] } };
    } catch (error) {
      return refuse(grpcStatus.invalidArgument, (error as Error).message);
    } finally {
      keep(run);
    }
  }

  return {
    queryWorkflow: (request) => query(request),
    describeWorkflowExecution: ({ execution }) => describeExecution(knownRun(server, execution)),

    async getWorkflowExecutionHistory({ execution, waitNewEvent, historyEventFilterType }, { longPollMs }) {
      const run = knownRun(server, execution);
      if (waitNewEvent && isOpen(run)) await within(server, longPollMs, run.closed.promise);
      const isCloseOnly = historyEventFilterType === enums.HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT;
      if (!isCloseOnly) return { history: { events: run.events } };
      return { history: { events: isOpen(run) ? [] : run.events.slice(-1) } };
    },

    getWorkflowExecutionHistoryReverse({ execution, maximumPageSize, nextPageToken: token }) {
      const run = knownRun(server, execution);
      const end = token?.length ? Number(Buffer.from(token).toString()) : run.events.length;
      const from = Math.max(0, end - (maximumPageSize || run.events.length));
      const nextPageToken = from === 0 ? new Uint8Array() : Buffer.from(String(from));
      return { history: { events: run.events.slice(from, end).toReversed() }, nextPageToken };
    },

    listWorkflowExecutions: ({ query: filter }) => ({ executions: select(filter).map(executionInfo) }),
    countWorkflowExecutions: ({ query: filter }) => ({ count: select(filter).length }),
  };
}
