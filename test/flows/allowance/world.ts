import { fileURLToPath } from 'node:url';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { AllowanceActivities } from '../../../contracts/eviction/activities.ts';
import type { AllowanceObservation, AllowanceProgress } from '../../../contracts/allowance.ts';
import { migrationAllowanceId, novaQueue, workflowQueue, workflowTypes } from '../../../contracts/ids.ts';
import { progressQuery, messages } from '../../../contracts/messages.ts';
import { labClock } from '../../../lab/clock.ts';
import type { OwnWorkersOptions } from '../own-workers.ts';
import { openOwnWorkers } from '../own-workers.ts';
import { until } from '../until.ts';
import type { UseAllowanceInput, WorkActivities } from './use-allowance.ts';

/** A region's cloud, and what it has counted. */
export interface Region {
  name: string;
  limit: number;
  checkMs: number;
  silentMs: number;
  /** Set while the cloud does not answer. */
  silent: boolean;
  inProgress: Record<string, number>;
  done: Record<string, number>;
  begun: Record<string, number>;
  /** The most that was ever in progress at once, since it was last reset. */
  most: number;
  observations: number;
}

export type AllowanceTestWorld = Awaited<ReturnType<typeof openAllowanceWorld>>;

const workflowsPath = fileURLToPath(new URL('./index.ts', import.meta.url));

/** A Temporal, workers with the run under test, and clouds that count. */
export async function openAllowanceWorld(options: Pick<OwnWorkersOptions, 'longHistory'> = {}) {
  const regions = new Map<string, Region>();
  const workers = await openOwnWorkers({ workflowsPath, ...options });
  const { client } = workers;
  return {
    client,
    historyOf: (handle: WorkflowHandle) => workers.historyOf(handle),
    close: () => workers.close(),
    /** A region of its own for each test, with its own worker. */
    async openRegion(title: string, settings: Partial<Pick<Region, 'limit' | 'checkMs' | 'silentMs'>> = {}) {
      const name = `${title}-${regions.size + 1}`;
      const world = { inProgress: {}, done: {}, begun: {}, most: 0, observations: 0, silent: false };
      const region: Region = { name, limit: 4, checkMs: 400, silentMs: 6_000, ...world, ...settings };
      regions.set(name, region);
      await workers.start(novaQueue(name, ''), cloudOf(region));
      return { ...regionTools(client, region), region };
    },
  };
}

export const totalOf = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);

function cloudOf(region: Region): WorkActivities & AllowanceActivities {
  return {
    async doPiece({ host, pieceMs }) {
      region.inProgress[host] = (region.inProgress[host] ?? 0) + 1;
      region.begun[host] = (region.begun[host] ?? 0) + 1;
      region.most = Math.max(region.most, totalOf(region.inProgress));
      await labClock().sleep(pieceMs);
      region.inProgress[host] -= 1;
      region.done[host] = (region.done[host] ?? 0) + 1;
    },
    observeAllowance(): Promise<AllowanceObservation> {
      const { limit, checkMs, silentMs, inProgress } = region;
      if (region.silent) return Promise.reject(new Error('the cloud does not answer'));
      region.observations += 1;
      return Promise.resolve({
        limit,
        checkMs,
        silentMs,
        inProgress: Object.fromEntries(Object.entries(inProgress).filter(([, count]) => count > 0)),
      });
    },
  };
}

/** What a test does in one region. */
function regionTools(client: Client, { name }: Region) {
  const ledgerId = migrationAllowanceId(name);
  const ledger = client.workflow.getHandle(ledgerId);
  const consumerId = (host: string): string => `consumer/${name}/${host}`;
  const runs = async () => {
    const found = [];
    for await (const run of client.workflow.list({ query: `WorkflowId = "${ledgerId}"` })) found.push(run);
    return found.toSorted((a, b) => a.startTime.getTime() - b.startTime.getTime());
  };
  return {
    ledger,
    ledgerId,
    consumer: (host: string) =>
      client.workflow.getHandle<(input: UseAllowanceInput) => Promise<number>>(consumerId(host)),
    /** Starts a consumer of its own host. */
    begin: (host: string, input: Pick<UseAllowanceInput, 'pieces' | 'parallelism'> & Partial<UseAllowanceInput>) =>
      client.workflow.start<(input: UseAllowanceInput) => Promise<number>>('useAllowance', {
        workflowId: consumerId(host),
        taskQueue: workflowQueue(''),
        args: [{ region: name, host, pieceMs: 300, renewMs: 2_000, ...input }],
      }),
    /** A report by any sender, which starts the allocator as consumers do. */
    report: (wanted: unknown) =>
      client.workflow.signalWithStart(workflowTypes.allocateAllowance, {
        workflowId: ledgerId,
        taskQueue: workflowQueue(''),
        workflowIdConflictPolicy: 'USE_EXISTING',
        args: [{ region: name }],
        signal: messages.allowanceRequested,
        signalArgs: [wanted],
      }),
    progress: (): Promise<AllowanceProgress> => ledger.query(progressQuery<AllowanceProgress>()),
    /** Every run of the ledger, the oldest first, as visibility knows them. */
    runs,
    /** Waits until the ledger has ended by itself; returns its runs. */
    ended: () =>
      until('the ledger to end', 60_000, async () => {
        const { status } = await ledger.describe();
        if (status.name === 'RUNNING') return JSON.stringify(await ledger.query(messages.progress));
        const all = await runs();
        return all.some((run) => run.status.name === 'RUNNING') ? 'visibility still shows it running' : all;
      }),
  };
}
