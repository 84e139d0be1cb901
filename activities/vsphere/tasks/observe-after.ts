import type {
  ObserveAfter,
  ObservedAfter,
  SubmittedTask,
  VirtualMachineVsphereActivities,
} from '../../../contracts/virtual-machine/activities.ts';
import type { Execution } from '../../lib/context.ts';
import { growingDelayMs, whileBeating } from '../../lib/wait.ts';
import type { VcenterGateway } from '../types.ts';
import type { RecentObservations } from '../watch/recent-observations.ts';

/** Most tasks are over by then. */
const shortMs = 2_000;
/** So are most clones: to await one in an activity of its own costs each VM six events. */
const createMs = 6_000;

type Asked<Name extends keyof VirtualMachineVsphereActivities> = Parameters<VirtualMachineVsphereActivities[Name]>[0];

interface Staying {
  gateway: Pick<VcenterGateway, 'readTask'>;
  recent: Pick<RecentObservations, 'noteTask'>;
  execution: () => Execution;
}

/**
 * The same activities, which await a short task and then observe the VM, where the request says what to observe: the
 * run needs an activity for neither. A task that takes longer, or fails, is left to `awaitTask`; an observation that
 * fails, to the next one. Meanwhile they heartbeat, so that a worker that dies is replaced soon.
 */
export function observeAfter(
  calls: VirtualMachineVsphereActivities,
  staying: Staying,
): VirtualMachineVsphereActivities {
  const observe = async ({ observeAfter: request }: ObserveAfter): Promise<ObservedAfter | null> => {
    if (request === undefined) return null;
    return await calls.observeVirtualMachineInVcenter(request).then(
      (observation) => ({ observation }),
      () => null,
    );
  };
  /** The watch need not signal what is observed here when the task has ended. */
  const whileAtWork = async <Result>({ observeAfter: request }: ObserveAfter, act: () => Promise<Result>) => {
    if (request === undefined) return await act();
    const task = staying.recent.noteTask(`${request.object.namespace}/${request.object.name}`);
    try {
      return await act();
    } finally {
      task.done(staying.execution().clock.now());
    }
  };
  const withObservation =
    <Request extends ObserveAfter, Result extends object | null>(
      call: (request: Request) => Promise<Result>,
      stayMs: number = shortMs,
    ) =>
    (request: Request): Promise<Result | ObservedAfter> =>
      whileBeating(staying.execution(), nothing, () =>
        whileAtWork(request, async () => {
          const result = await call(request);
          if (request.observeAfter === undefined || (isTask(result) && !(await endsWithin(stayMs, staying, result))))
            return result;
          return (await observe(request)) ?? result;
        }),
      );
  return {
    ...calls,
    observeVirtualMachineInVcenter: (request) =>
      whileBeating(staying.execution(), nothing, () => calls.observeVirtualMachineInVcenter(request)),
    attachClusterModule: (request) =>
      whileBeating(staying.execution(), nothing, () => calls.attachClusterModule(request)),
    submitPromotion: (request) => whileBeating(staying.execution(), nothing, () => calls.submitPromotion(request)),
    cancelVsphereTask: (request) => whileBeating(staying.execution(), nothing, () => calls.cancelVsphereTask(request)),
    submitNewVm: withObservation((request: Asked<'submitNewVm'>) => calls.submitNewVm(request), createMs),
    // There is no VM to observe yet.
    submitFileOperation: (request) =>
      whileBeating(staying.execution(), nothing, async () => {
        const task = await calls.submitFileOperation(request);
        return task !== null && (await endsWithin(shortMs, staying, task)) ? null : task;
      }),
    submitAdoption: withObservation((request: Asked<'submitAdoption'>) => calls.submitAdoption(request)),
    submitReconfigure: withObservation((request: Asked<'submitReconfigure'>) => calls.submitReconfigure(request)),
    submitHardwareUpgrade: withObservation((request: Asked<'submitHardwareUpgrade'>) =>
      calls.submitHardwareUpgrade(request),
    ),
    submitBootstrap: withObservation((request: Asked<'submitBootstrap'>) => calls.submitBootstrap(request)),
    submitPower: withObservation((request: Asked<'submitPower'>) => calls.submitPower(request)),
    submitBackup: withObservation((request: Asked<'submitBackup'>) => calls.submitBackup(request)),
    submitDetachDisks: withObservation((request: Asked<'submitDetachDisks'>) => calls.submitDetachDisks(request)),
    submitDestroy: withObservation((request: Asked<'submitDestroy'>) => calls.submitDestroy(request)),
    submitRelease: withObservation((request: Asked<'submitRelease'>) => calls.submitRelease(request)),
    awaitTask: (request) =>
      whileAtWork(request, async () => ({ ...(await calls.awaitTask(request)), ...(await observe(request)) })),
  };
}

const nothing = (): undefined => undefined;

const isTask = (result: object | null): result is SubmittedTask => result !== null && 'taskId' in result;

/**
 * Whether it succeeds by then. A failure is left to `awaitTask`, which also checks whether the purpose is reached all
 * the same.
 */
async function endsWithin(
  stayMs: number,
  { gateway, execution }: Staying,
  { taskId }: SubmittedTask,
): Promise<boolean> {
  const {
    clock,
    scope: { signal },
  } = execution();
  const startMs = clock.now();
  try {
    for (;;) {
      const { state } = await gateway.readTask(taskId, signal);
      const waitedMs = clock.now() - startMs;
      if (state === 'success' || state === 'error' || waitedMs >= stayMs) return state === 'success';
      await clock.sleep(growingDelayMs(waitedMs), signal);
    }
  } catch {
    return false;
  }
}
