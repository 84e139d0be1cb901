import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, Runtime } from '@temporalio/worker';
import type { TurnActivities } from '../../../contracts/activities.ts';
import { createAllowanceId, virtualMachineId, vsphereQueue, workflowQueue } from '../../../contracts/ids.ts';
import { messages } from '../../../contracts/messages.ts';
import { startLab } from '../../../lab/lab.ts';
import type { AllowanceProgress } from '../../../workflows/limits/describe.ts';
import { openOwnWorkers } from '../own-workers.ts';
import { until } from '../until.ts';
import type { MakeActivities, MakeOneInput } from './make-one.ts';

/** What a vCenter is and has seen. */
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

export type TurnsWorld = Awaited<ReturnType<typeof openTurnsWorld>>;

/** A real Temporal, a worker with the run under test, and vCenters that count. */
export async function openTurnsWorld() {
  const logger = new DefaultLogger('ERROR');
  Runtime.install({ logger, telemetryOptions: { logging: { filter: 'ERROR' } } });
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-turns-')));
  const lab = await startLab({ dir: join(root, 'lab'), parts: ['temporal'] });
  const { address } = lab.handles.temporal;
  const bundle = await bundleWorkflowCode({ workflowsPath: fileURLToPath(new URL('./index.ts', import.meta.url)), logger });
  const workers = await openOwnWorkers(address, bundle);
  const { client } = workers;

  return {
    client,
    bundle,
    /** One of its own for each test. */
    async openVcenter(title: string, settings: Partial<Pick<Vcenter, 'limit' | 'checkMs' | 'silentMs'>> = {}) {
      const name = `${title}-${workers.count()}`;
      const vcenter: Vcenter = { name, limit: 2, checkMs: 300, silentMs: 3_000, silent: false, gate: null, tasks: new Map(), begun: [], most: 0, ...settings };
      await workers.start({ taskQueue: vsphereQueue(name), activities: activitiesOf(vcenter), maxConcurrentActivityTaskExecutions: 100 });
      const ledger = client.workflow.getHandle(createAllowanceId(name));
      const idOf = (vm: string): string => virtualMachineId(name, vm);
      return {
        vcenter,
        ledger,
        run: (vm: string) => client.workflow.getHandle(idOf(vm)),
        /** Starts a run that makes one VM. */
        begin: (vm: string, input: Partial<Pick<MakeOneInput, 'taskMs' | 'turnRenewMs' | 'times'>> = {}) =>
          client.workflow.start<(input: MakeOneInput) => Promise<void>>('makeOne', { workflowId: idOf(vm), taskQueue: workflowQueue, args: [{ vcenter: name, name: vm, taskMs: 300, turnRenewMs: 600_000, ...input }] }),
        waitingFor: (vm: string): Promise<string | null> => client.workflow.getHandle(idOf(vm)).query<string | null>(messages.progress),
        progress: (): Promise<AllowanceProgress> => ledger.query<AllowanceProgress>(messages.progress),
        /** Waits until nobody shares turns out any more; gives how that run ended. */
        ended: () =>
          until('the turns to be unused', 60_000, async () => {
            const { status } = await ledger.describe();
            return status.name === 'RUNNING' ? 'still running' : { status: status.name };
          }),
      };
    },
    async close(): Promise<void> {
      await workers.close();
      await lab.stop();
      rmSync(root, { recursive: true });
    },
  };
}

function activitiesOf(vcenter: Vcenter): MakeActivities & TurnActivities {
  return {
    make({ name, taskMs }) {
      vcenter.tasks.set(name, `task-${vcenter.begun.length + 1}`);
      vcenter.begun.push(name);
      vcenter.most = Math.max(vcenter.most, vcenter.tasks.size);
      const { promise, resolve } = Promise.withResolvers<void>();
      setTimeout(resolve, taskMs);
      return Promise.all([promise, vcenter.gate?.promise]).then(() => void vcenter.tasks.delete(name));
    },
    observeTurns() {
      if (vcenter.silent) return Promise.reject(new Error('vCenter does not answer'));
      const { name, limit, checkMs, silentMs } = vcenter;
      const tasks = [...vcenter.tasks.values()];
      return Promise.resolve({ limit, checkMs, silentMs, inProgress: tasks.length === 0 ? {} : { [name]: tasks.length }, tasks });
    },
  };
}
