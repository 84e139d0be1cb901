import { join } from 'node:path';
import { stringify } from 'yaml';
import {
  agentsQueue,
  kubernetesQueue,
  machinesQueue,
  volumesQueue,
  novaQueue,
  virtualMachinesQueue,
  vsphereQueue,
  workflowQueue,
} from '../contracts/ids.ts';
import { polledSince, readPollers } from '../runtime/temporal/task-queues.ts';
import { openClient, readTemporalSettings } from '../runtime/temporal/temporal.ts';
import { checkoutDirectory, nodeSettings } from './context.ts';
import { cacheDirectory } from '../runtime/cache.ts';
import type { ProcessRecord } from './part.ts';
import type { Handles } from './parts.ts';
import { releasePorts, reservePorts } from './ports.ts';
import { writeServiceAccountKubeconfig } from './parts/kubernetes-access.ts';
import { ensurePrivateDirectory, writePrivateFile } from './private-files.ts';
import { killService, respawnService, spawnService, stopServices } from './processes.ts';

/** Of a busy machine, where the workflows have to be bundled first. */
const readyTimeoutMs = 150_000;

/** drover's own processes, run against a lab as an operator would run them: two service accounts, one settings file. */
export interface Drover {
  readonly dir: string;
  /** The environment in which `drover`, `tctl`, `temporal` and `kubectl` find the lab and these settings. */
  readonly env: Readonly<Record<string, string>>;
  readonly worker: ProcessRecord;
  readonly bridge: ProcessRecord | null;
  /** What each of them shows to Prometheus. */
  readonly metricsUrls: Readonly<Record<'worker' | 'bridge', string>>;
  /** kill -9. */
  kill(process: 'worker' | 'bridge'): Promise<void>;
  /** @param until `starts`: it may wait for what is away, and serves nothing before that is back */
  restart(process: 'worker' | 'bridge', until?: 'serves' | 'starts'): Promise<void>;
  stop(): Promise<void>;
}

export interface DroverOptions {
  /** Where logs, settings and kubeconfigs go; made with mode 0700. */
  readonly dir: string;
  /** Settings that differ from the defaults, as in drover.yaml. */
  readonly settings?: object;
  readonly cloud?: string;
  /** Default: both. */
  readonly bridge?: boolean;
  /** What Node runs as the worker; default: `drover worker`. */
  readonly workerArgs?: readonly string[];
  readonly signal?: AbortSignal;
}

/** What drover finds in a lab. */
export interface DroverLab {
  readonly exports: Readonly<Record<string, string>>;
  readonly handles: Pick<Handles, 'temporal' | 'kubernetes'> & Partial<Pick<Handles, 'openstack' | 'vsphere'>>;
}

/** What this reads of the settings. */
type GivenSettings = Partial<Record<'worker' | 'bridge', { healthAddress?: string }>> & {
  readonly modes?: Readonly<Record<string, unknown>>;
  readonly cluster?: string;
};

/** As settings call the lab's vCenter. */
export const labVcenter = 'lab';

/** Starts a worker and a bridge and waits until both serve. */
export async function startDrover(lab: DroverLab, options: DroverOptions): Promise<Drover> {
  const {
    dir,
    settings = {},
    cloud = 'lab',
    bridge: withBridge = true,
    workerArgs,
    signal = AbortSignal.timeout(readyTimeoutMs * 2),
  } = options;
  ensurePrivateDirectory(dir);
  const cacheDir = cacheDirectory();
  const ports = await reservePorts({ dir, cacheDir, signal }, ['worker', 'bridge']);
  const given: GivenSettings = settings;
  const withHealth = (name: 'worker' | 'bridge') => ({ healthAddress: `127.0.0.1:${ports[name]}`, ...given[name] });
  const sections = { worker: withHealth('worker'), bridge: withHealth('bridge') };
  const configFile = join(dir, 'drover.yaml');
  writePrivateFile(configFile, stringify({ ...settings, ...sections, audit: { file: join(dir, 'audit.jsonl') } }));
  const common = {
    ...nodeSettings.environment,
    ...lab.exports,
    DROVER_CONFIG: configFile,
    OS_CLOUD: cloud,
    NODE_COMPILE_CACHE: join(cacheDir, 'compiled'),
  };
  const account = (name: string): Promise<string> =>
    writeServiceAccountKubeconfig(lab.handles.kubernetes, {
      namespace: 'drover-system',
      name,
      path: join(dir, `${name}.kubeconfig`),
    });

  // Polls of a worker that was killed do not count for the one that is started after it.
  let startedMs = Date.now();
  const ready = {
    worker: () => everyQueueIsPolled(common, lab.handles, given, startedMs),
    bridge: () => answers(`http://${sections.bridge.healthAddress}/readyz`),
  };
  const start = async (name: 'worker' | 'bridge'): Promise<ProcessRecord> =>
    spawnService(
      dir,
      {
        name,
        command: process.execPath,
        args:
          name === 'worker' && workerArgs !== undefined
            ? workerArgs
            : [...nodeSettings.arguments, join(checkoutDirectory, 'starters/main.ts'), name],
        env: { ...common, KUBECONFIG: await account(`drover-${name}`) },
        ready: ready[name],
        readyTimeoutMs,
        stopTimeoutMs: 40_000,
      },
      signal,
    );
  const starting = [start('worker'), withBridge ? start('bridge') : Promise.resolve(null)] as const;
  const [worker, bridge] = await Promise.all(starting).catch(async (error: unknown) => {
    // One may be up without the other.
    await Promise.allSettled(starting);
    await stopServices(dir);
    releasePorts({ dir, cacheDir });
    throw error;
  });
  return {
    dir,
    env: common,
    worker,
    bridge,
    metricsUrls: {
      worker: `http://${sections.worker.healthAddress}/metrics`,
      bridge: `http://${sections.bridge.healthAddress}/metrics`,
    },
    kill: (name) => killService(dir, name),
    async restart(name, until = 'serves') {
      if (name === 'worker') startedMs = Date.now();
      const hasStarted = (): Promise<boolean> => answers(`http://${sections[name].healthAddress}/healthz`);
      const isReady = until === 'serves' ? ready[name] : hasStarted;
      await respawnService(dir, name, { ready: isReady, readyTimeoutMs }, AbortSignal.timeout(readyTimeoutMs));
    },
    async stop() {
      await stopServices(dir);
      releasePorts({ dir, cacheDir });
    },
  };
}

/** A worker serves once Temporal has a poller on each of its queues. */
async function everyQueueIsPolled(
  env: Readonly<Record<string, string>>,
  { openstack, vsphere }: DroverLab['handles'],
  { modes = {}, cluster = '' }: GivenSettings,
  sinceMs: number,
): Promise<boolean> {
  const isOn = (kind: string): boolean => (modes[kind] ?? 'off') !== 'off';
  const client = openClient(readTemporalSettings(env));
  try {
    const queues = [
      { name: workflowQueue(cluster), of: 'workflow' },
      { name: workflowQueue(cluster), of: 'activity' },
      { name: kubernetesQueue(cluster), of: 'activity' },
      ...(openstack === undefined ? [] : ([{ name: novaQueue(openstack.region, cluster), of: 'activity' }] as const)),
      ...(isOn('Machine') ? ([{ name: machinesQueue(cluster), of: 'activity' }] as const) : []),
      ...(isOn('DataVolume') ? ([{ name: volumesQueue(cluster), of: 'activity' }] as const) : []),
      ...(isOn('VsphereAgentPool') ? ([{ name: agentsQueue(cluster), of: 'activity' }] as const) : []),
      ...(vsphere === undefined || !isOn('VirtualMachine')
        ? []
        : ([
            { name: vsphereQueue(labVcenter, cluster), of: 'activity' },
            { name: virtualMachinesQueue(cluster), of: 'activity' },
          ] as const)),
    ] as const;
    const pollers = await Promise.all(queues.map((queue) => readPollers(client, queue)));
    return pollers.every((ofQueue) => polledSince(ofQueue, sinceMs).length > 0);
  } finally {
    await client.connection.close();
  }
}

async function answers(url: string): Promise<boolean> {
  return (await fetch(url, { signal: AbortSignal.timeout(1_000) })).ok;
}
