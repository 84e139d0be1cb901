import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { mapConcurrently } from '../../bench/load/concurrency.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import { type Bridge, startBridge } from '../../k8s-bridge/main.ts';
import { labClock } from '../../lab/clock.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import { writeServiceAccountKubeconfig } from '../../lab/parts/kubernetes-access.ts';
import { killTemporal, restartTemporal } from '../../lab/parts/temporal-faults.ts';
import { connectKubernetes, type KubernetesRequest } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import type { KubernetesFaultDetails } from '../../runtime/kubernetes/kubernetes-faults.ts';
import { createLogger } from '../../runtime/telemetry/logging.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import type { BridgeBase, BridgeOptions, TestBridge } from './bridge-base.ts';
import { quickSettings, quickTimings } from './bridge-base.ts';
import { type Proxy, openProxy } from './bridge-proxy.ts';
import { readSignals, type Signalled } from './read-signals.ts';
import { until } from './until.ts';

const path = (name?: string, subresource?: string): string =>
  resourcePath('kvm.cloud.sap/v1', 'evictions', {
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
  });

export interface LabBridgeOptions extends BridgeOptions {
  /** Puts a proxy of connections between the bridge and kube-apiserver. */
  throughProxy?: boolean;
  /** Where the bridge finds kube-apiserver, in the place of its own address. */
  server?: string;
}

export interface LabBridge extends Bridge {
  proxy: Proxy | null;
}

export type BridgeWorld = Awaited<ReturnType<typeof openBridgeWorld>>;
export type LabBridgeWorld = Awaited<ReturnType<typeof openLabBridgeWorld>>;

/** Bridges without a worker, on a lab; with DROVER_SIMULATED in a simulation. */
export async function openBridgeWorld() {
  const { env } = process;
  if (env['DROVER_SIMULATED'] === undefined)
    return composeBridgeWorld<TestBridge, BridgeOptions>((await openLabBase()).base);
  const { openSimulatedBridgeBase } = await import('../simulator/worlds/bridge-flow-world.ts');
  return composeBridgeWorld(await openSimulatedBridgeBase());
}

/** The same on a lab, and what only a lab has: connections, processes and service accounts. */
export async function openLabBridgeWorld() {
  const { lab, root, base } = await openLabBase();
  return { ...composeBridgeWorld(base), lab, root };
}

/**
 * A kube-apiserver that has started again opens the storage of a resource at the first request for it, and refuses that
 * one: 429, "storage is (re)initializing".
 */
async function onceServed(ask: () => Promise<unknown>): Promise<unknown> {
  const answered = await until('kube-apiserver to serve the resource', 15_000, async () => {
    try {
      return { answer: await ask() };
    } catch (error) {
      const isThrottled =
        error instanceof ApplicationFailure &&
        (error.details?.[0] as KubernetesFaultDetails | undefined)?.httpStatus === 429;
      return isThrottled ? error.message : { error };
    }
  });
  if ('error' in answered) throw answered.error;
  return answered.answer;
}

/**
 * A real kube-apiserver and a real Temporal of their own, and bridges that run under the service account that
 * deploy/rbac gives them.
 */
async function openLabBase(): Promise<{
  lab: Lab<'temporal' | 'kubernetes'>;
  root: string;
  base: BridgeBase<LabBridge, LabBridgeOptions>;
}> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-bridge-')));
  const lab = await startLab({ dir: join(root, 'lab'), parts: ['temporal', 'kubernetes'] });
  const admin = connectKubernetes({ kubeconfig: lab.handles.kubernetes.kubeconfig });
  const account = await writeServiceAccountKubeconfig(lab.handles.kubernetes, {
    namespace: 'drover-system',
    name: 'drover-bridge',
    path: join(root, 'bridge.kubeconfig'),
  });
  const client = openClient(readTemporalSettings(lab.exports));
  const log = createLogger({ level: 'error', component: 'bridge' });
  let proxies = 0;

  const kubeconfigOf = (server: string): string => {
    const kubeconfig = join(root, `proxied-${(proxies += 1)}.kubeconfig`);
    const moved = readFileSync(account, 'utf8').replaceAll(lab.handles.kubernetes.server, server);
    // The client library rejects plain HTTP unless verification is switched off.
    const trusting = server.startsWith('https:')
      ? moved
      : moved.replace(/certificate-authority-data: .+/u, 'insecure-skip-tls-verify: true');
    writeFileSync(kubeconfig, trusting, { mode: 0o600 });
    return kubeconfig;
  };

  const start = async ({ settings, timings, throughProxy = false, server }: LabBridgeOptions): Promise<LabBridge> => {
    const proxy = throughProxy ? await openProxy(Number(new URL(lab.handles.kubernetes.server).port)) : null;
    const address = proxy === null ? server : `https://127.0.0.1:${proxy.port}`;
    const kubernetes = connectKubernetes({ kubeconfig: address === undefined ? account : kubeconfigOf(address) });
    const temporal = openClient(readTemporalSettings(lab.exports));
    const started = await startBridge({
      kubernetes,
      temporal,
      settings: { ...quickSettings, healthAddress: '127.0.0.1:0', ...settings },
      timings: { ...quickTimings, ...timings },
      log,
    });
    const stop = async (): Promise<number> => {
      const left = await started.stop();
      await Promise.all([kubernetes.close(), temporal.connection.close(), proxy?.close()]);
      return left;
    };
    let stopped: Promise<number> | null = null;
    return { ...started, stop: () => (stopped ??= stop()), proxy };
  };

  const close = async (): Promise<void> => {
    await Promise.all([admin.close(), client.connection.close()]);
    await lab.stop();
    rmSync(root, { recursive: true, force: true });
  };
  const { temporal: handle } = lab.handles;
  const temporal = { kill: () => killTemporal(handle), restart: () => restartTemporal(handle) };
  return { lab, root, base: { client, admin, start, temporal, close } };
}

function composeBridgeWorld<Started extends TestBridge, Options extends BridgeOptions>(
  base: BridgeBase<Started, Options>,
) {
  const { admin, client, temporal } = base;
  const cleanups: (() => Promise<unknown>)[] = [];

  const request = <Answer>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    to: string,
    body?: unknown,
    query: KubernetesRequest['query'] = {},
  ): Promise<Answer> => {
    const request: KubernetesRequest = {
      method,
      path: to,
      query,
      body,
      ...(method === 'PATCH' && { patchType: 'merge' }),
    };
    return onceServed(() => admin.request(request, AbortSignal.timeout(20_000))) as Promise<Answer>;
  };

  /** Starts a bridge; it is stopped at the end of the test if the test does not stop it. */
  const bridge = async (options = {} as Options): Promise<Started> => {
    const started = await base.start(options);
    cleanups.push(() => started.stop());
    return started;
  };

  const isLeading = (one: TestBridge): boolean =>
    one.stats().leading && Object.values(one.stats().reflectors).every(({ synced }) => synced);

  /** Default: those of the runs that empty the host. */
  const signals = (host: string, workflowId?: string): Promise<Signalled[]> => readSignals(client, host, workflowId);

  /** Waits until the runs of a host have received at least so many signals, and returns them. */
  const signalled = (host: string, count: number, deadlineMs = 15_000, workflowId?: string): Promise<Signalled[]> =>
    until(`${count} signals for ${host}`, deadlineMs, async () => {
      const all = await signals(host, workflowId);
      return all.length >= count ? all : `${all.length}: ${all.map(({ cause }) => cause).join('; ')}`;
    });

  return {
    client,
    admin,
    temporal,
    bridge,
    signals,
    signalled,
    /** What the last run of the id was started with, and the time-outs of its execution and its run; 0: none. */
    async startOf(workflowId: string): Promise<{ input: unknown[]; timeoutsSeconds: number[] }> {
      const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
      const started = events?.[0]?.workflowExecutionStartedEventAttributes;
      const { payloadConverter } = client.options.loadedDataConverter;
      return {
        input: (started?.input?.payloads ?? []).map((payload) => payloadConverter.fromPayload(payload)),
        timeoutsSeconds: [started?.workflowExecutionTimeout, started?.workflowRunTimeout].map((timeout) =>
          Number(timeout?.seconds ?? 0),
        ),
      };
    },
    request,

    /** Starts a bridge and waits until it delivers. */
    async leadingBridge(options?: Options): Promise<Started> {
      const one = await bridge(options);
      await until('the bridge to lead', 20_000, () => isLeading(one) || JSON.stringify(one.stats()));
      return one;
    },
    isLeading,

    create: (host: string, { name = host, annotations = {}, finalizers = [] as string[] } = {}): Promise<Eviction> =>
      request('POST', path(), {
        apiVersion: 'kvm.cloud.sap/v1',
        kind: 'Eviction',
        metadata: { name, annotations, finalizers },
        spec: { hypervisor: host, reason: 'test' },
      }),
    get: (name: string): Promise<Eviction> => request('GET', path(name)),
    patch: (name: string, change: object): Promise<Eviction> => request('PATCH', path(name), change),
    patchStatus: (name: string, status: object): Promise<Eviction> =>
      request('PATCH', path(name, 'status'), { status }),
    remove: (name: string): Promise<unknown> => request('DELETE', path(name)),
    annotate: (name: string, annotations: Record<string, string | null>): Promise<Eviction> =>
      request('PATCH', path(name), { metadata: { annotations } }),
    /** The status that a worker would write. */
    report: (name: string, status: 'True' | 'False', reason: string, observedGeneration = 1): Promise<Eviction> =>
      request('PATCH', path(name, 'status'), {
        status: {
          conditions: [
            {
              type: 'Evicting',
              status,
              reason,
              message: reason,
              observedGeneration,
              lastTransitionTime: new Date(labClock().now()).toISOString(),
            },
          ],
        },
      }),

    /**
     * Stops what a test started and removes what it made; the Lease too, as a bridge whose connection is broken cannot
     * release it.
     */
    async clear(): Promise<void> {
      await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
      await request(
        'DELETE',
        resourcePath('coordination.k8s.io/v1', 'leases', { namespace: 'drover-system', name: 'drover-bridge' }),
      ).catch(() => undefined);
      const { items } = await request<{ items: Eviction[] }>('GET', path());
      await mapConcurrently(items, 16, async ({ metadata: { name, finalizers = [] } }) => {
        if (finalizers.length > 0) await request('PATCH', path(name), { metadata: { finalizers: null } });
        await request('DELETE', path(name)).catch(() => undefined);
      });
      // The lab has no Nodes of its own.
      const ofVms = [
        'virtualmachines',
        'virtualmachineclasses',
        'virtualmachineimages',
        'virtualmachinesetresourcepolicies',
      ].map((plural) => resourcePath('vmoperator.vmware.com/v1alpha6', plural, { namespace: 'default' }));
      for (const all of [
        resourcePath('kvm.cloud.sap/v1', 'hypervisors'),
        resourcePath('v1', 'nodes'),
        resourcePath('vmoperator.vmware.com/v1alpha6', 'clustervirtualmachineimages'),
        ...ofVms,
      ]) {
        const { items: others } = await request<{ items: { metadata: { name: string; finalizers?: string[] } }[] }>(
          'GET',
          all,
        );
        await mapConcurrently(others, 16, async ({ metadata: { name, finalizers = [] } }) => {
          if (finalizers.length > 0) await request('PATCH', `${all}/${name}`, { metadata: { finalizers: null } });
          await request('DELETE', `${all}/${name}`).catch(() => undefined);
        });
      }
    },

    async close(): Promise<void> {
      await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
      await base.close();
    },
  };
}
