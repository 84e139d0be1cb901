import { UpdateAbortedError } from '../closing.ts';
import type { Run, Update } from '../run.ts';
import { enums } from '../sdk.ts';
import type { Server } from '../server.ts';
import { admitUpdate } from '../updates.ts';
import { grpcStatus, isGrpcError, multiOperationError, refuse } from './grpc.ts';
import { knownRun, openRun, within } from './lookup.ts';
import type { CallContext, RequestOf, Service } from './calls.ts';
import type { Start } from './start-calls.ts';

/** The calls about updates. */

type UpdateRequest = NonNullable<RequestOf<'updateWorkflowExecution'>>;

const {
  UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ADMITTED: admitted,
  UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ACCEPTED: accepted,
  UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED: completed,
} = enums.UpdateWorkflowExecutionLifecycleStage;

/** The server's limit, for each run. */
const mostInFlight = 10;

export function createUpdateCalls(server: Server, start: Start): Service {
  function admit(run: Run, { request }: UpdateRequest): Update {
    const { meta, input } = request ?? {};
    const id = meta?.updateId ?? '';
    const inFlight = [...run.updates.values()].filter(({ result }) => result === null);
    if (!run.updates.has(id) && inFlight.length >= mostInFlight) {
      refuse(
        grpcStatus.resourceExhausted,
        `limit on number of concurrent in-flight updates has been reached (${mostInFlight})`,
      );
    }
    return admitUpdate(server, run, id, input?.name ?? '', input?.args?.payloads ?? []);
  }

  /** Resolves when the update has come as far as the caller wants, or the call has waited long enough. */
  async function awaitStage(update: Update, stage: number, { longPollMs }: CallContext): Promise<void> {
    const waitsForOutcome = stage >= (completed as number);
    const reached = update.accepted.promise.then(() =>
      waitsForOutcome && update.result === null ? update.outcome.promise : undefined,
    );
    await within(server, longPollMs, reached);
  }

  /** Of one that its run has not seen before it continued as new, the next run is asked. */
  async function update(request: UpdateRequest, context: CallContext, first?: Run): Promise<object> {
    for (
      let run = first ?? openRun(server, request.workflowExecution);
      ;
      run = openRun(server, request.workflowExecution)
    ) {
      const one = admit(run, request);
      try {
        await awaitStage(one, request.waitPolicy?.lifecycleStage ?? 0, context);
        return describe(run, one);
      } catch (error) {
        if (!(error instanceof UpdateAbortedError)) throw error;
        if (!error.mayTryAgain || request.workflowExecution?.runId) refuse(grpcStatus.notFound, error.message);
      }
    }
  }

  return {
    updateWorkflowExecution: (request, context) => update(request, context),

    async pollWorkflowExecutionUpdate({ updateRef, waitPolicy }, context) {
      const id = updateRef?.updateId ?? '';
      const run = knownRun(server, updateRef?.workflowExecution);
      const one = run.updates.get(id) ?? refuse(grpcStatus.notFound, `update ${id} not found`);
      try {
        await awaitStage(one, waitPolicy?.lifecycleStage ?? 0, context);
        return describe(run, one);
      } catch (error) {
        return error instanceof UpdateAbortedError ? refuse(grpcStatus.notFound, error.message) : Promise.reject(error);
      }
    },

    async executeMultiOperation({ operations }, context) {
      const [first, second] = operations ?? [];
      if (!first?.startWorkflow || !second?.updateWorkflow)
        return refuse(grpcStatus.invalidArgument, 'Operations have to be exactly [Start, Update].');
      let failed: 'start' | 'update' = 'start';
      try {
        const { run, isNew } = start(first.startWorkflow);
        failed = 'update';
        const updateWorkflow = await update(second.updateWorkflow, context, run);
        return { responses: [{ startWorkflow: { runId: run.runId, started: isNew } }, { updateWorkflow }] };
      } catch (error) {
        throw isGrpcError(error) ? multiOperationError(failed, error) : error;
      }
    },
  };
}

/** What a call answers of an update, however far it has come. */
function describe({ workflowId, runId }: Run, { id, acceptedEventId, result }: Update): object {
  const updateRef = { workflowExecution: { workflowId, runId }, updateId: id };
  if (result === null) return { updateRef, stage: acceptedEventId === null ? admitted : accepted };
  if ('failure' in result) return { updateRef, stage: completed, outcome: { failure: result.failure } };
  return {
    updateRef,
    stage: completed,
    outcome: { success: { payloads: result.success === null ? [] : [result.success] } },
  };
}
