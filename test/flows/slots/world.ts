import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import type { SlotActivities } from '../../../contracts/eviction/activities.ts';
import { createAllowanceId, virtualMachineId, vsphereQueue, workflowQueue } from '../../../contracts/ids.ts';
import { messages, progressQuery } from '../../../contracts/messages.ts';
import { labClock } from '../../../lab/clock.ts';
import type { AllowanceProgress } from '../../../contracts/allowance.ts';
import { openOwnWorkers } from '../own-workers.ts';
import { until } from '../until.ts';
import type { MakeActivities, MakeOneInput } from './make-one.ts';

/** A vCenter, and what it has counted. */
export interface Vcenter {
  name: string;
  limit: number;
  checkMs: number;
  silentMs: number;
  /** Set while it does not answer. */
  silent: boolean;
  /** Until it resolves no task ends. */
  gate: PromiseWithResolvers<void> | null;
  /** Ids of its tasks, by the VM that they make. */
  tasks: Map<string, string>;
  /** VMs, in the order in which their making began. */
  begun: string[];
  /** The most that were ever made at once. */
  most: number;
}

/** What the Web UI shows beside the activity that acquires a slot. */
export interface Queued {
  says: string;
  attempt: number;
}

export type SlotsWorld = Awaited<ReturnType<typeof openSlotsWorld>>;

const workflowsPath = fileURLToPath(new URL('./index.ts', import.meta.url));

/** A Temporal, workers with the run under test, and vCenters that count. */
export async function openSlotsWorld() {
  const workers = await openOwnWorkers({ workflowsPath });
  const { client } = workers;
  let vcenters = 0;
  return {
    client,
    historyOf: (handle: WorkflowHandle) => workers.historyOf(handle),
    close: () => workers.close(),
    /** One of its own for each test. */
    async openVcenter(title: string, settings: Partial<Pick<Vcenter, 'limit' | 'checkMs' | 'silentMs'>> = {}) {
      const name = `${title}-${(vcenters += 1)}`;
      const world = { silent: false, gate: null, tasks: new Map(), begun: [], most: 0 };
      const vcenter: Vcenter = { name, limit: 2, checkMs: 300, silentMs: 3_000, ...world, ...settings };
      await workers.start(vsphereQueue(name, ''), activitiesOf(vcenter));
      const ledger = client.workflow.getHandle(createAllowanceId(name));
      const idOf = (vm: string): string => virtualMachineId(name, vm);
      return {
        vcenter,
        ledger,
        run: (vm: string) => client.workflow.getHandle(idOf(vm)),
        /** Starts a run that makes one VM. */
        begin: (vm: string, input: Partial<Pick<MakeOneInput, 'taskMs' | 'slotRenewMs' | 'times'>> = {}) =>
          client.workflow.start<(input: MakeOneInput) => Promise<void>>('makeOne', {
            workflowId: idOf(vm),
            taskQueue: workflowQueue(''),
            args: [{ vcenter: name, name: vm, taskMs: 300, slotRenewMs: 600_000, ...input }],
          }),
        /** What the run says that it waits for. */
        waitingFor: async (vm: string): Promise<string | null> =>
          (await client.workflow.getHandle(idOf(vm)).query(messages.progress)).waiting?.message ?? null,
        /** How it waits in the queue; null: it does not. */
        queueOf: async (vm: string): Promise<Queued | null> => {
          const { raw } = await client.workflow.getHandle(idOf(vm)).describe();
          const pending = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'acquireSlot');
          const says = pending?.lastFailure?.message ?? null;
          return pending === undefined || says === null ? null : { says, attempt: pending.attempt ?? 0 };
        },
        progress: (): Promise<AllowanceProgress> => ledger.query(progressQuery<AllowanceProgress>()),
        /** Waits until the run that allocates the slots has ended; gives how. */
        ended: () =>
          until('the slots to be unused', 60_000, async () => {
            const { status } = await ledger.describe();
            return status.name === 'RUNNING' ? 'still running' : { status: status.name };
          }),
      };
    },
  };
}

function activitiesOf(vcenter: Vcenter): MakeActivities & SlotActivities {
  return {
    async make({ name, taskMs }) {
      vcenter.tasks.set(name, `task-${vcenter.begun.length + 1}`);
      vcenter.begun.push(name);
      vcenter.most = Math.max(vcenter.most, vcenter.tasks.size);
      await Promise.all([labClock().sleep(taskMs), vcenter.gate?.promise]);
      vcenter.tasks.delete(name);
    },
    observeSlots() {
      if (vcenter.silent) return Promise.reject(new Error('vCenter does not answer'));
      const { name, limit, checkMs, silentMs } = vcenter;
      const tasks = [...vcenter.tasks.values()];
      return Promise.resolve({
        limit,
        checkMs,
        silentMs,
        inProgress: tasks.length === 0 ? {} : { [name]: tasks.length },
        tasks,
      });
    },
  };
}
