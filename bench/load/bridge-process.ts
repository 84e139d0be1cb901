import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { cacheDirectory } from '../../runtime/cache.ts';
import { checkoutDirectory, nodeSettings } from '../../lab/context.ts';
import type { Lab } from '../../lab/lab.ts';
import { writeServiceAccountKubeconfig } from '../../lab/parts/kubernetes-access.ts';
import { releasePorts, reservePorts } from '../../lab/ports.ts';
import { ensurePrivateDirectory, writePrivateFile } from '../../lab/private-files.ts';
import { killService, readProcess, respawnService, spawnService, stopServices } from '../../lab/processes.ts';

/** What the bridge says of itself on /readyz, as far as it is measured. */
export interface BridgeHealth {
  lease: { held: boolean };
  queue: { fresh: number; resync: number; inFlight: number; backingOff: number; delivered: number; coalesced: number };
  deliveries: { signalWithStart: number };
  kinds: { Eviction?: { synced: boolean; objects: number } };
}

/** `drover bridge`, as an operator runs it: a process of its own, under its own service account, with every default. */
export interface BridgeProcess {
  /** Starts it; resolves when its health page answers. @returns when it was asked for, in unix ms */
  start(): Promise<number>;
  pid(): number;
  health(): Promise<BridgeHealth>;
  /** kill -9; {@link restart} starts it again. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const readyTimeoutMs = 60_000;

export async function prepareBridge(lab: Lab<'temporal' | 'kubernetes'>, signal: AbortSignal): Promise<BridgeProcess> {
  const dir = join(lab.dir, 'bench-bridge');
  await stopServices(dir);
  rmSync(dir, { recursive: true, force: true });
  ensurePrivateDirectory(dir);
  const owner = { dir, cacheDir: cacheDirectory() };
  const { health: port } = await reservePorts({ ...owner, signal }, ['health']);
  const url = `http://127.0.0.1:${port}`;
  const DROVER_CONFIG = join(dir, 'drover.yaml');
  writePrivateFile(DROVER_CONFIG, stringify({ bridge: { healthAddress: `127.0.0.1:${port}` }, logLevel: 'warn' }));
  const KUBECONFIG = await writeServiceAccountKubeconfig(lab.handles.kubernetes, {
    namespace: 'drover-system',
    name: 'drover-bridge',
    path: join(dir, 'bridge.kubeconfig'),
  });
  const ready = async (attempt: AbortSignal): Promise<boolean> =>
    (await fetch(`${url}/healthz`, { signal: attempt })).ok;

  return {
    async start() {
      const startedMs = Date.now();
      const args = [...nodeSettings.arguments, join(checkoutDirectory, 'starters/main.ts'), 'bridge'];
      await spawnService(
        dir,
        {
          name: 'bridge',
          command: process.execPath,
          args,
          env: { ...nodeSettings.environment, ...lab.exports, DROVER_CONFIG, KUBECONFIG },
          ready,
          readyTimeoutMs,
          stopTimeoutMs: 20_000,
        },
        signal,
      );
      return startedMs;
    },
    pid: () => readProcess(dir, 'bridge').pid,
    health: async () =>
      (await (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) })).json()) as BridgeHealth,
    kill: () => killService(dir, 'bridge'),
    restart: async () => void (await respawnService(dir, 'bridge', { ready, readyTimeoutMs }, signal)),
    async stop() {
      await stopServices(dir);
      releasePorts(owner);
    },
  };
}
