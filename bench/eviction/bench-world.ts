import { withKubernetes } from '../../lab/kubernetes-objects.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { EvictionResult } from '../../contracts/eviction/eviction.ts';
import { annotations, evictionId } from '../../contracts/ids.ts';
import type { Drover } from '../../lab/drover.ts';
import { startDrover } from '../../lab/drover.ts';
import { applyHypervisors } from '../../lab/hypervisors.ts';
import { kubectl } from '../../lab/kubectl.ts';
import type { Lab } from '../../lab/lab.ts';
import { startLab } from '../../lab/lab.ts';
import { connectFleet } from '../../lab/openstack/fleet.ts';
import { resetOpenStack } from '../../lab/openstack/reset.ts';
import type { Server } from '../../lab/openstack/seed.ts';
import { createInstances } from '../../lab/openstack/seed.ts';
import type { Session } from '../../lab/openstack/session.ts';
import { openSession } from '../../lab/openstack/session.ts';
import { stopServices } from '../../lab/processes.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { connectKubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import { clearLeftovers } from '../../test/flows/clear-leftovers.ts';
import { until } from '../../test/flows/until.ts';

/** The one that is emptied. */
export const source = 'node-1';
export const hosts = [1, 2, 3, 4, 5, 6].map((number) => `node-${number}`);

export type BenchLab = Lab<'temporal' | 'kubernetes' | 'openstack'>;

/** A lab with drover at work in it, for measurements. */
export interface BenchWorld {
  readonly lab: BenchLab;
  readonly drover: Drover;
  readonly client: Client;
  readonly session: Session;
  /** kube-apiserver, as the administrator. */
  readonly api: Kubernetes;
  /** Versions of the servers. */
  readonly versions: Readonly<Record<string, string>>;
  /**
   * An empty cloud, and then `count` servers on {@link source} whose copy takes so long; Nova moves `window` at once.
   */
  seed(count: number, seconds: number, window: number): Promise<Server[]>;
  /** Creates the Eviction of a host. @returns when it was asked for, in unix ms */
  createEviction(host: string, notes?: Readonly<Record<string, string>>): Promise<number>;
  /** Waits until the run that began since then has ended. */
  untilEnded(
    host: string,
    sinceMs: number,
    deadlineMs: number,
  ): Promise<{ runId: string; closedMs: number; result: EvictionResult }>;
  removeEvictions(): Promise<void>;
  close(): Promise<void>;
}

const patient = (): AbortSignal => AbortSignal.timeout(30_000);

/** The lab that DROVER_LAB names, left as it is found; else one of its own, for as long as `measure` takes. */
export async function withBenchLab(
  report: (line: string) => void,
  signal: AbortSignal,
  measure: (lab: BenchLab) => Promise<void>,
): Promise<void> {
  const shared = process.env['DROVER_LAB'];
  const ownDir = shared === undefined ? mkdtempSync(join(tmpdir(), 'drover-bench-')) : null;
  try {
    const lab = await startLab({
      dir: shared ?? join(ownDir ?? '', 'lab'),
      parts: ['temporal', 'kubernetes', 'openstack'],
      report,
      signal,
    });
    try {
      await measure(lab);
    } finally {
      if (ownDir !== null) await lab.stop();
    }
  } finally {
    if (ownDir !== null) rmSync(ownDir, { recursive: true, force: true });
  }
}

/** Starts drover in the lab, with these settings where they differ from the defaults. */
export async function openBenchWorld(lab: BenchLab, settings: object, signal: AbortSignal): Promise<BenchWorld> {
  const { openstack, kubernetes } = lab.handles;
  const dir = join(lab.dir, 'bench');
  // What an aborted measurement left.
  await stopServices(dir);
  rmSync(dir, { recursive: true, force: true });
  const client = openClient(readTemporalSettings(lab.exports));
  const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig });
  await clearLeftovers(client, api);
  await kubectl(
    kubernetes,
    ['apply', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } }),
  );
  await withKubernetes(kubernetes, (api) => applyHypervisors(api, Object.fromEntries(hosts.map((host) => [host, {}]))));
  const session = await openSession(openstack);
  const drover = await startDrover(lab, { dir, settings, signal }).catch(async (error: unknown) => {
    await stopServices(dir);
    await Promise.all([client.connection.close(), api.close()]);
    throw error;
  });
  const evictionPath = (name?: string): string =>
    resourcePath('kvm.cloud.sap/v1', 'evictions', name === undefined ? {} : { name });

  return {
    lab,
    drover,
    client,
    session,
    api,
    versions: await readVersions(client, api),
    async seed(count, seconds, window) {
      await resetOpenStack(openstack);
      await connectFleet(openstack).change(source, { maxConcurrentLiveMigrations: window });
      return await createInstances(
        session,
        Array.from({ length: count }, (_, index) => ({ name: `vm-${index + 1}`, host: source, seconds })),
      );
    },
    async createEviction(host, notes = {}) {
      const atMs = Date.now();
      const body = {
        apiVersion: 'kvm.cloud.sap/v1',
        kind: 'Eviction',
        metadata: { name: host, annotations: notes },
        spec: { hypervisor: host, reason: 'bench' },
      };
      await api.request({ method: 'POST', path: evictionPath(), body }, patient());
      return atMs;
    },
    async untilEnded(host, sinceMs, deadlineMs) {
      const run = await until(`the run of ${host} to end`, deadlineMs, async () => {
        const { runId, status, startTime, closeTime } = await client.workflow.getHandle(evictionId(host)).describe();
        // Of the same id, an earlier one.
        if (startTime.getTime() < sinceMs) return 'it has not begun';
        return closeTime === undefined ? `it is ${status.name}` : { runId, closedMs: closeTime.getTime() };
      });
      const result = (await client.workflow.getHandle(evictionId(host), run.runId).result()) as EvictionResult;
      return { ...run, result };
    },
    async removeEvictions() {
      await api.request({ method: 'DELETE', path: evictionPath() }, patient());
      await until('the Evictions to be gone', 60_000, async () => {
        const { items } = (await api.request({ method: 'GET', path: evictionPath() }, patient())) as {
          items: unknown[];
        };
        return items.length === 0 ? true : `${items.length} are there`;
      });
    },
    async close() {
      await drover.stop();
      await client.connection.close();
      await api.close();
    },
  };
}

/** The annotation that widens an Eviction's window. */
export const parallel = (window: number): Record<string, string> => ({ [annotations.parallelism]: String(window) });

async function readVersions(client: Client, api: Kubernetes): Promise<Record<string, string>> {
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  const { gitVersion } = (await api.request({ method: 'GET', path: '/version' }, patient())) as { gitVersion: string };
  return { temporal: serverVersion ?? 'unknown', kubernetes: gitVersion };
}
