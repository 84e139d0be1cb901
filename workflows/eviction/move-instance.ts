import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { ChildWorkflowHandle } from '@temporalio/workflow';
import { CancellationScope, ChildWorkflowCancellationType, ParentClosePolicy, startChild } from '@temporalio/workflow';
import { migrationId } from '../../contracts/ids.ts';
import type { MigrateInstanceResult } from '../../contracts/eviction/migrate-instance.ts';
import { initialAttributes } from '../lib/attributes.ts';
import { explain } from '../lib/failures.ts';
import { migrateInstance } from '../migration/migrate-instance.ts';
import { moveBegan, moveEnded, moveFoundBusy } from './answers.ts';
import { failed } from './problem.ts';
import type { EvictionRun } from './run.ts';
import { note } from './run.ts';
import type { TrackedInstance } from './state.ts';
import { acceptedObstacles, become } from './state.ts';

/** Starts the child that moves one server, and takes in its end whenever that comes. */
export function startMove(run: EvictionRun, one: TrackedInstance): void {
  moveBegan(one, Date.now());
  run.unpublished = true;
  const scope = new CancellationScope({ cancellable: true });
  const progress = { isStarted: false, isAborted: false };
  const abort = (): void => {
    progress.isAborted = true;
    if (progress.isStarted) scope.cancel();
  };
  run.moves.set(one.instance.id, { abort });
  void scope
    .run(async () => {
      const child = await start(run, one);
      // A cancel that overtakes the start finds no child, and Temporal does not keep it.
      progress.isStarted = true;
      if (progress.isAborted) scope.cancel();
      return await child.result();
    })
    .then(
      (result) => takeResult(run, one, result),
      (error: unknown) => takeFailure(run, one, error),
    )
    .finally(() => {
      run.moves.delete(one.instance.id);
      run.unpublished = true;
      run.wake();
    });
}

function start(
  { state }: EvictionRun,
  { instance }: TrackedInstance,
): Promise<ChildWorkflowHandle<typeof migrateInstance>> {
  const { desired, settings, host } = state;
  const accepted = acceptedObstacles(state);
  return startChild(migrateInstance, {
    workflowId: migrationId(instance.id, settings.cluster),
    args: [
      {
        instance,
        sourceHost: host?.host ?? desired.hypervisor,
        eviction: { name: desired.name, uid: desired.uid },
        consent: desired.consent,
        accepted: [...accepted].some((id) => id.endsWith(`/${instance.id}`)),
        settings,
      },
    ],
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    staticSummary: `Move ${instance.name} off ${desired.hypervisor}`,
    staticDetails: `Server ${instance.id}, ${instance.memoryMiB} MiB, for Eviction ${desired.name}: ${desired.reason}`,
    typedSearchAttributes: initialAttributes({ kind: 'Migration', object: instance.id, host: desired.hypervisor }),
  });
}

function takeResult(run: EvictionRun, one: TrackedInstance, result: MigrateInstanceResult): void {
  moveEnded(run.state, one.instance.id, result, Date.now());
  if (one.state === 'blocked')
    note(
      run,
      'Warning',
      'InstanceNotMigratable',
      `${one.instance.name} (${one.instance.id}): ${one.message ?? 'did not move'}`,
    );
}

/** A failed child concerns Nova as a whole: its server waits, and so does the eviction. */
function takeFailure(run: EvictionRun, one: TrackedInstance, error: unknown): void {
  if (error instanceof WorkflowExecutionAlreadyStartedError) return moveFoundBusy(one, run.state, Date.now());
  const problem = explain(error);
  become(one, 'pending', Date.now(), problem.message);
  if (run.state.stop === null) failed(run, problem, 'step');
}

/** Asks every move in flight to end now: live migrations are aborted, cold ones run to their end. */
export function abortMoves(run: EvictionRun): void {
  for (const move of run.moves.values()) move.abort();
}
