import { withKubernetes } from '../../lab/kubernetes-objects.ts';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { workflowTypes } from '../../contracts/ids.ts';
import type { Drover } from '../../lab/drover.ts';
import { startDrover } from '../../lab/drover.ts';
import type { Lab } from '../../lab/lab.ts';
import { startLab } from '../../lab/lab.ts';
import type { VcenterControl } from '../../lab/vsphere/control.ts';
import { connectVcenterControl } from '../../lab/vsphere/control.ts';
import { setUpVmNamespace, vcenterSettings, vmManifest } from '../../lab/vsphere/vm-fixture.ts';
import { openGovcWitness } from '../../lab/vsphere/witness.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { connectKubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import { until } from '../../test/flows/until.ts';
import { mapConcurrently } from '../load/concurrency.ts';
import type { LoadRun } from '../load/load-run.ts';
import { countCalls } from '../onboarding/count-calls.ts';
import type { VmWatch } from './vm-watch.ts';
import { openVmWatch } from './vm-watch.ts';

/** The namespace of all VMs that drover makes. */
export const namespace = 'bench';
/** kube-apiserver takes some hundred creations a second. */
const concurrency = 20;
/** For each VM, at most. */
const patienceMs = 3_000;
const patienceAtLeastMs = 120_000;

/** A lab with a drover that drives virtual machines and nothing else, by its defaults but for `asyncSignal`. */
export interface VmsWorld {
  lab: Lab<'temporal' | 'kubernetes' | 'vsphere'>;
  drover: Drover;
  client: Client;
  api: Kubernetes;
  control: VcenterControl;
  /** Every change of a VirtualMachine since the world was opened. */
  watch: VmWatch;
  /**
   * Creates VirtualMachines that shall be on, and waits until the watch has shown all of them on and settled.
   * @returns by name, in unix ms
   */
  make(names: readonly string[]): Promise<Map<string, { createdMs: number; reconciledMs: number }>>;
  /** Deletes all VirtualMachines and waits until they are gone. */
  removeAll(): Promise<void>;
  /** Waits until no run of a VM is open. */
  untilQuiet(): Promise<void>;
  /** Calls by system since they began, of worker and bridge. */
  calls(): Promise<Record<'worker' | 'bridge', Map<string, number>>>;
}

/** Guests of the simulator never have an address; with events of vCenter drover does not wait for one. */
const own = {
  modes: { Eviction: 'off', Hypervisor: 'off', VirtualMachine: 'act' },
  virtualMachine: { asyncSignal: true },
};

export const collection = resourcePath('vmoperator.vmware.com/v1alpha6', 'virtualmachines', { namespace });
const patient = (): AbortSignal => AbortSignal.timeout(30_000);

/** @param settings where they differ from the defaults */
export async function withVmsWorld<Result>(
  { report, signal }: LoadRun,
  settings: object,
  measure: (world: VmsWorld) => Promise<Result>,
): Promise<Result> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-vms-')));
  const cleanups: (() => unknown)[] = [() => rmSync(root, { recursive: true, force: true })];
  try {
    const lab = await startLab({
      dir: join(root, 'lab'),
      parts: ['temporal', 'kubernetes', 'vsphere'],
      report,
      signal,
    });
    cleanups.push(() => lab.stop());
    const { kubernetes, vsphere } = lab.handles;
    await withKubernetes(kubernetes, (api) => setUpVmNamespace(api, openGovcWitness(vsphere), namespace));
    const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig, requestTimeoutMs: 30_000 });
    cleanups.push(() => api.close());
    const client = openClient(readTemporalSettings(lab.exports));
    cleanups.push(() => client.connection.close());
    const drover = await startDrover(lab, {
      dir: join(lab.dir, 'bench'),
      settings: { ...own, vsphere: vcenterSettings(vsphere), ...settings },
      signal,
    });
    cleanups.push(() => drover.stop());
    const watch = await openVmWatch(api, collection);
    cleanups.push(() => watch.close());
    return await measure({
      lab,
      drover,
      client,
      api,
      control: connectVcenterControl(vsphere),
      watch,
      make: (names) => makeVms(api, watch, names, signal),
      removeAll: () => removeVms(api, signal),
      untilQuiet: () =>
        until(
          'all runs to end',
          120_000,
          async () => {
            const { count } = await client.workflow.count(
              `WorkflowType = "${workflowTypes.reconcileVirtualMachine}" AND ExecutionStatus = "Running"`,
            );
            return count === 0 ? true : `${count} are open`;
          },
          signal,
        ).then(() => undefined),
      async calls() {
        const [worker, bridge] = await Promise.all(
          [drover.metricsUrls.worker, drover.metricsUrls.bridge].map(async (url) =>
            countCalls(await (await fetch(url, { signal: AbortSignal.timeout(10_000) })).text()),
          ),
        );
        return { worker: worker ?? new Map(), bridge: bridge ?? new Map() };
      },
    });
  } finally {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  }
}

async function makeVms(
  api: Kubernetes,
  watch: VmWatch,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, { createdMs: number; reconciledMs: number }>> {
  const createdMs = new Map<string, number>();
  await mapConcurrently(names, concurrency, async (name) => {
    createdMs.set(name, Date.now());
    await api.request({ method: 'POST', path: collection, body: vmManifest(namespace, name) }, patient());
  });
  const observe = (): true | string => {
    const left = names.filter((name) => !watch.reconciledMs.has(name));
    return left.length === 0
      ? true
      : `${left.length} of ${names.length} are not, such as ${left[0]}: ${watch.lastMessage.get(left[0] ?? '') ?? 'no condition yet'}`;
  };
  await until(
    `${names.length} VMs to be on and reconciled`,
    Math.max(patienceAtLeastMs, names.length * patienceMs),
    observe,
    signal,
  );
  return new Map(
    names.map((name) => [
      name,
      { createdMs: createdMs.get(name) ?? Number.NaN, reconciledMs: watch.reconciledMs.get(name) ?? Number.NaN },
    ]),
  );
}

async function removeVms(api: Kubernetes, signal: AbortSignal): Promise<void> {
  const { items } = (await api.request({ method: 'GET', path: collection }, patient())) as {
    items: { metadata: { name: string } }[];
  };
  await mapConcurrently(items, concurrency, ({ metadata }) =>
    api.request({ method: 'DELETE', path: `${collection}/${metadata.name}` }, patient()),
  );
  const observe = async (): Promise<true | string> => {
    const left = ((await api.request({ method: 'GET', path: collection }, patient())) as { items: unknown[] }).items
      .length;
    return left === 0 ? true : `${left} are there`;
  };
  await until(
    'the VirtualMachines to be gone',
    Math.max(patienceAtLeastMs, items.length * patienceMs),
    observe,
    signal,
  );
}
