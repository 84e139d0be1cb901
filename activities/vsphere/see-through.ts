import type {
  Looking,
  SeenAfter,
  SubmittedTask,
  VirtualMachineVsphereActivities,
} from '../../contracts/virtual-machine/activities.ts';
import type { Execution } from '../lib/context.ts';
import { settlingDelayMs, whileBeating } from '../lib/wait.ts';
import type { VcenterGateway } from './types.ts';

/** Most tasks are over by then. */
const glanceMs = 2_000;

type Asked<Name extends keyof VirtualMachineVsphereActivities> = Parameters<VirtualMachineVsphereActivities[Name]>[0];

interface Glance {
  gateway: Pick<VcenterGateway, 'readTask'>;
  execution: () => Execution;
}

/**
 * The same activities, which stay with a task while it is short, and look at the VM when it is done, where they are told what to look at: so
 * that a run need ask neither. A task that takes longer, or fails, is left to who waits for it; a look that fails, to the next one. Meanwhile
 * they heartbeat, so that a worker that dies is replaced soon.
 */
export function seeThrough(calls: VirtualMachineVsphereActivities, glance: Glance): VirtualMachineVsphereActivities {
  const look = async ({ look: request }: Looking): Promise<SeenAfter | null> => {
    if (request === undefined) return null;
    return await calls.lookAtVirtualMachine(request).then(
      (facts) => ({ facts }),
      () => null,
    );
  };
  const seen =
    <Request extends Looking, Result extends object | null>(call: (request: Request) => Promise<Result>) =>
    (request: Request): Promise<Result | SeenAfter> =>
      whileBeating(glance.execution(), nothing, async () => {
        const result = await call(request);
        if (request.look === undefined || (isTask(result) && !(await endsSoon(glance, result)))) return result;
        return (await look(request)) ?? result;
      });
  return {
    ...calls,
    lookAtVirtualMachine: (request) =>
      whileBeating(glance.execution(), nothing, () => calls.lookAtVirtualMachine(request)),
    attachClusterModule: (request) =>
      whileBeating(glance.execution(), nothing, () => calls.attachClusterModule(request)),
    cancelVsphereTask: (request) => whileBeating(glance.execution(), nothing, () => calls.cancelVsphereTask(request)),
    submitNewVm: seen((request: Asked<'submitNewVm'>) => calls.submitNewVm(request)),
    // There is nothing to look at yet.
    submitFileDeed: (request) =>
      whileBeating(glance.execution(), nothing, async () => {
        const task = await calls.submitFileDeed(request);
        return task !== null && (await endsSoon(glance, task)) ? null : task;
      }),
    submitAdoption: seen((request: Asked<'submitAdoption'>) => calls.submitAdoption(request)),
    submitReconfigure: seen((request: Asked<'submitReconfigure'>) => calls.submitReconfigure(request)),
    submitHardwareUpgrade: seen((request: Asked<'submitHardwareUpgrade'>) => calls.submitHardwareUpgrade(request)),
    submitBootstrap: seen((request: Asked<'submitBootstrap'>) => calls.submitBootstrap(request)),
    submitPower: seen((request: Asked<'submitPower'>) => calls.submitPower(request)),
    submitBackup: seen((request: Asked<'submitBackup'>) => calls.submitBackup(request)),
    submitDetachDisks: seen((request: Asked<'submitDetachDisks'>) => calls.submitDetachDisks(request)),
    submitDestroy: seen((request: Asked<'submitDestroy'>) => calls.submitDestroy(request)),
    submitRelease: seen((request: Asked<'submitRelease'>) => calls.submitRelease(request)),
    awaitTask: async (request) => ({ ...(await calls.awaitTask(request)), ...(await look(request)) }),
  };
}

const nothing = (): undefined => undefined;

const isTask = (result: object | null): result is SubmittedTask => result !== null && 'taskId' in result;

/** Whether it ends well within the glance. What fails is told by who waits for it: that looks behind it, too. */
async function endsSoon({ gateway, execution }: Glance, { taskId }: SubmittedTask): Promise<boolean> {
  const {
    clock,
    scope: { signal },
  } = execution();
  const startMs = clock.now();
  try {
    for (;;) {
      const { state } = await gateway.readTask(taskId, signal);
      const waitedMs = clock.now() - startMs;
      if (state === 'success' || state === 'error' || waitedMs >= glanceMs) return state === 'success';
      await clock.sleep(settlingDelayMs(waitedMs), signal);
    }
  } catch {
    return false;
  }
}
