import { record, wake } from './history.ts';
import type { Run, Update } from './run.ts';
import type { CommandOf, Payload } from './sdk.ts';
import type { Server } from './server.ts';

/** Updates of runs: admitted, accepted or rejected, completed. */

/** One that the run has already is given again. */
export function admitUpdate(server: Server, run: Run, id: string, name: string, input: Payload[]): Update {
  const known = run.updates.get(id);
  if (known !== undefined) return known;
  const update: Update = {
    id,
    name,
    input,
    acceptedEventId: null,
    isDelivered: false,
    accepted: Promise.withResolvers(),
    outcome: Promise.withResolvers(),
    result: null,
  };
  // The client that asked may be dead.
  update.accepted.promise.catch(() => undefined);
  run.updates.set(id, update);
  server.counts.updates += 1;
  run.jobs.push({ doUpdate: { id, protocolInstanceId: id, name, input, runValidator: true, meta: { updateId: id } } });
  wake(server, run);
  return update;
}

/** Whether the run has said no more than that it rejects updates: then its task leaves no trace. */
export const isRejection = (
  run: Run,
  { updateResponse: response }: { updateResponse?: CommandOf<'updateResponse'> | null },
): boolean => (response?.rejected ? run.updates.get(response.protocolInstanceId)?.acceptedEventId === null : false);

export function respondToUpdate(
  server: Server,
  run: Run,
  { protocolInstanceId: id, accepted, rejected, completed }: CommandOf<'updateResponse'>,
  sequencingEventId: number,
): void {
  const update = run.updates.get(id);
  if (update === undefined) return;
  if (accepted) {
    const acceptedRequest = {
      meta: { updateId: id, identity: 'simulation' },
      input: { name: update.name, args: { payloads: update.input }, header: {} },
    };
    update.acceptedEventId = record(server, run, 'WorkflowExecutionUpdateAccepted', {
      protocolInstanceId: id,
      acceptedRequestMessageId: `${id}/request`,
      acceptedRequestSequencingEventId: sequencingEventId,
      acceptedRequest,
    });
    return update.accepted.resolve();
  }
  if (update.acceptedEventId !== null) {
    const outcome = rejected ? { failure: rejected } : { success: { payloads: completed ? [completed] : [] } };
    record(server, run, 'WorkflowExecutionUpdateCompleted', {
      meta: { updateId: id },
      acceptedEventId: update.acceptedEventId,
      outcome,
    });
  }
  update.result = rejected ? { failure: rejected } : { success: completed };
  if (update.acceptedEventId === null) run.updates.delete(id);
  update.accepted.resolve();
  update.outcome.resolve(update.result);
}
