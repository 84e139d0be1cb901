import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import type { Drover } from '../../lab/drover.ts';
import { startDrover } from '../../lab/drover.ts';
import { startLab } from '../../lab/lab.ts';
import { connectFleet } from '../../lab/openstack/fleet.ts';
import { openSession } from '../../lab/openstack/session.ts';
import { connectKubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import { applyNode, ensureAggregates } from '../../test/faults/hypervisor-objects.ts';
import { mapConcurrently } from '../load/concurrency.ts';
import type { LoadRun } from '../load/load-run.ts';

/**
 * A lab with a drover that drives hypervisors by its defaults, and hosts that Nova knows and that are
 * not onboarded yet.
 */
export interface OnboardingWorld {
  client: Client;
  drover: Drover;
  /** Creates the Node of a host. */
  addNode: (host: string) => Promise<void>;
  listHypervisors: () => Promise<Hypervisor[]>;
}

/** Nodes that are created at once; kube-apiserver takes some hundred a second. */
export const concurrency = 20;

/** Without tests: their time is that of libvirt, Open vSwitch, Ceph and Nova, not drover's. */
const settings = { modes: { Eviction: 'act', Hypervisor: 'act' } };

export async function withOnboardingWorld<Result>(
  { report, signal }: LoadRun,
  hosts: readonly string[],
  measure: (world: OnboardingWorld) => Promise<Result>,
): Promise<Result> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-onboarding-')));
  const cleanups: (() => unknown)[] = [() => rmSync(root, { recursive: true, force: true })];
  try {
    const lab = await startLab({
      dir: join(root, 'lab'),
      parts: ['temporal', 'kubernetes', 'openstack'],
      report,
      signal,
    });
    cleanups.push(() => lab.stop());
    const { openstack, kubernetes } = lab.handles;
    const fleet = connectFleet(openstack);
    const beganMs = performance.now();
    for (const host of hosts) {
      signal.throwIfAborted();
      await fleet.change(host, {});
    }
    report(`${hosts.length} nova-computes registered in ${((performance.now() - beganMs) / 1_000).toFixed(0)} s`);
    await ensureAggregates({ session: await openSession(openstack) });
    const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig, requestTimeoutMs: 30_000 });
    cleanups.push(() => api.close());
    const client = openClient(readTemporalSettings(lab.exports));
    cleanups.push(() => client.connection.close());
    const drover = await startDrover(lab, { dir: join(lab.dir, 'bench'), settings, signal });
    cleanups.push(() => drover.stop());
    return await measure({
      client,
      drover,
      addNode: (host) => applyNode({ api }, host),
      listHypervisors: async () =>
        (
          (await api.request(
            { method: 'GET', path: resourcePath('kvm.cloud.sap/v1', 'hypervisors') },
            AbortSignal.timeout(30_000),
          )) as { items: Hypervisor[] }
        ).items,
    });
  } finally {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  }
}

/** The Nodes of all of them, as fast as kube-apiserver takes them. @returns when each was asked for, in unix ms */
export async function addNodes({ addNode }: OnboardingWorld, hosts: readonly string[]): Promise<Map<string, number>> {
  const createdMs = new Map<string, number>();
  await mapConcurrently(hosts, concurrency, async (host) => {
    createdMs.set(host, Date.now());
    await addNode(host);
  });
  return createdMs;
}
