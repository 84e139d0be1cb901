import { cpSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { killService, respawnService, signalService } from '../processes.ts';
import type { ProcessRecord } from '../part.ts';
import { etcdPost, etcdServes, kubeApiserverServes } from './kubernetes-access.ts';
import type { KubernetesHandle } from './kubernetes-handle.ts';

const RESTART_TIMEOUT_MS = 180_000;

/** kill -9 of kube-apiserver: every watch and request breaks. etcd and the controller manager run on. */
export function killKubeApiserver(handle: KubernetesHandle): Promise<void> {
  return killService(handle.dir, 'kube-apiserver');
}

/** Starts kube-apiserver again after `killKubeApiserver`, on the same port and data; resolves when it is ready. */
export function restartKubeApiserver(
  handle: KubernetesHandle,
  signal = AbortSignal.timeout(RESTART_TIMEOUT_MS),
): Promise<ProcessRecord> {
  return respawnService(
    handle.dir,
    'kube-apiserver',
    { ready: (attempt) => kubeApiserverServes(handle, attempt) },
    signal,
  );
}

/**
 * Keeps what etcd has now. Both processes are down meanwhile, as they are while the returned function brings that back:
 * the cluster is then as it was, with the revisions that it had.
 */
export async function backUpEtcd(handle: KubernetesHandle): Promise<() => Promise<void>> {
  const [data, backup] = ['etcd', 'etcd-backup'].map((name) => join(handle.dir, name)) as [string, string];
  const whileDown = async (work: () => void): Promise<void> => {
    await killKubeApiserver(handle);
    await killService(handle.dir, 'etcd');
    work();
    await respawnService(
      handle.dir,
      'etcd',
      { ready: (attempt) => etcdServes(handle.dir, attempt) },
      AbortSignal.timeout(RESTART_TIMEOUT_MS),
    );
    await restartKubeApiserver(handle);
  };
  await whileDown(() => cpSync(data, backup, { recursive: true }));
  return () =>
    whileDown(() => {
      rmSync(data, { recursive: true });
      renameSync(backup, data);
    });
}

/** Makes kube-apiserver hang: connections stay open and nothing answers, until `thawKubeApiserver`. */
export function freezeKubeApiserver(handle: KubernetesHandle): void {
  signalService(handle.dir, 'kube-apiserver', 'SIGSTOP');
}

export function thawKubeApiserver(handle: KubernetesHandle): void {
  signalService(handle.dir, 'kube-apiserver', 'SIGCONT');
}

/**
 * Drops etcd's history before `revision` (default: the present one) and resolves to that revision.
 *
 * The API server's watch cache still serves what it holds; a watch from a resourceVersion older than that gets 410, as
 * an ERROR event in an HTTP 200. Restart the API server after compacting to empty its cache.
 */
export async function compactEtcd(handle: KubernetesHandle, revision?: number): Promise<number> {
  const target = revision ?? (await etcdRevision(handle));
  await etcdPost(handle.dir, '/v3/kv/compaction', { revision: String(target), physical: true });
  return target;
}

/** etcd's present revision, which is what the API server calls resourceVersion. */
export async function etcdRevision(handle: KubernetesHandle): Promise<number> {
  const { header } = (await etcdPost(handle.dir, '/v3/maintenance/status', {})) as { header: { revision: string } };
  return Number(header.revision);
}
