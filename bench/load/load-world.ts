import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { Lab } from '../../lab/lab.ts';
import { startLab } from '../../lab/lab.ts';
import { connectKubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import { until } from '../../test/flows/until.ts';
import type { BridgeHealth, BridgeProcess } from './bridge-process.ts';
import { prepareBridge } from './bridge-process.ts';
import type { LoadRun } from './load-run.ts';
import type { WatchLog } from './watch-log.ts';
import { openWatchLog } from './watch-log.ts';

/**
 * A Temporal and a kube-apiserver of their own, without workers: what is signalled stays to be read, and nothing else
 * takes time.
 */
export interface LoadWorld {
  lab: Lab<'temporal' | 'kubernetes'>;
  client: Client;
  bridge: BridgeProcess;
  /** Creates an Eviction that is not reconciled. */
  create: (host: string, annotations?: Readonly<Record<string, string>>) => Promise<Eviction>;
  /** Writes the status with which an Eviction is over. */
  reconcile: (host: string) => Promise<Eviction>;
  changeSpec: (host: string, reason: string) => Promise<Eviction>;
  /** Sees every change of an Eviction from now on, besides the bridge. */
  watch: () => Promise<WatchLog>;
  untilHealth: (what: string, deadlineMs: number, is: (health: BridgeHealth) => boolean) => Promise<BridgeHealth>;
}

const collection = resourcePath('kvm.cloud.sap/v1', 'evictions');

/** Opens a world for as long as `measure` takes. */
export async function withLoadWorld<Result>(
  { report, signal }: LoadRun,
  measure: (world: LoadWorld) => Promise<Result>,
): Promise<Result> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-load-')));
  const cleanups: (() => unknown)[] = [() => rmSync(root, { recursive: true, force: true })];
  try {
    const lab = await startLab({ dir: join(root, 'lab'), parts: ['temporal', 'kubernetes'], report, signal });
    cleanups.push(() => lab.stop());
    const api = connectKubernetes({ kubeconfig: lab.handles.kubernetes.kubeconfig, requestTimeoutMs: 30_000 });
    cleanups.push(() => api.close());
    const client = openClient(readTemporalSettings(lab.exports));
    cleanups.push(() => client.connection.close());
    const bridge = await prepareBridge(lab, signal);
    cleanups.push(() => bridge.stop());
    const request = (method: 'POST' | 'PATCH', path: string, body: object): Promise<Eviction> =>
      api.request(
        { method, path, body, ...(method === 'PATCH' && { patchType: 'merge' as const }) },
        signal,
      ) as Promise<Eviction>;
    return await measure({
      lab,
      client,
      bridge,
      create: (host, annotations = {}) =>
        request('POST', collection, {
          apiVersion: 'kvm.cloud.sap/v1',
          kind: 'Eviction',
          metadata: { name: host, annotations },
          spec: { hypervisor: host, reason: 'bench' },
        }),
      reconcile: (host) =>
        request('PATCH', `${collection}/${host}/status`, {
          status: {
            conditions: [
              {
                type: 'Evicting',
                status: 'False',
                reason: 'Succeeded',
                message: `0 of 0 servers have left ${host}`,
                observedGeneration: 1,
                lastTransitionTime: new Date().toISOString(),
              },
            ],
          },
        }),
      changeSpec: (host, reason) => request('PATCH', `${collection}/${host}`, { spec: { reason } }),
      watch: async () => {
        const log = await openWatchLog(api, collection);
        cleanups.push(() => log.close());
        return log;
      },
      untilHealth: (what, deadlineMs, is) =>
        until(
          what,
          deadlineMs,
          async () => {
            const health = await bridge.health();
            return is(health) ? health : JSON.stringify(health);
          },
          signal,
        ),
    });
  } finally {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  }
}

/** Nothing waits in the bridge any more. */
export const isIdle = ({ queue }: BridgeHealth): boolean =>
  queue.fresh + queue.resync + queue.inFlight + queue.backingOff === 0;
