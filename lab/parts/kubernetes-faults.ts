import { killService, respawnService, signalService } from '../processes.ts';
import type { ProcessRecord } from '../part.ts';
import { etcdPost, kubeApiserverServes } from './kubernetes-access.ts';
import type { KubernetesHandle } from './kubernetes-handle.ts';

const RESTART_TIMEOUT_MS = 60_000;

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
