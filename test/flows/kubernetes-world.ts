import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { kubectl, run } from '../../lab/kubectl.ts';
import { startLab } from '../../lab/lab.ts';
import { writeServiceAccountKubeconfig } from '../../lab/parts/kubernetes-access.ts';
import { connectKubernetes } from '../../runtime/kubernetes/kubernetes.ts';

/** Kubernetes alone: the lab that DROVER_LAB names, or one for this file. */
export type KubernetesWorld = Awaited<ReturnType<typeof openKubernetesWorld>>;

/** Where the node agents' Migration objects are, by default. */
export const migrationNamespace = 'monsoon3';

export async function openKubernetesWorld() {
  const dir = mkdtempSync(join(tmpdir(), 'drover-flow-'));
  const shared = process.env['DROVER_LAB'];
  const lab = await startLab({ dir: shared ?? join(dir, 'lab'), parts: ['kubernetes'] });
  const handle = lab.handles.kubernetes;
  const asWorker = await writeServiceAccountKubeconfig(handle, {
    namespace: 'drover-system',
    name: 'drover-worker',
    path: join(dir, 'worker.kubeconfig'),
  });
  await kubectl(
    handle,
    ['apply', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: migrationNamespace } }),
  );
  const admin = connectKubernetes({ kubeconfig: handle.kubeconfig });
  /** With exactly the permissions of deploy/rbac. */
  const worker = connectKubernetes({ kubeconfig: asWorker });
  return {
    handle,
    admin,
    worker,
    kubectl: (args: readonly string[], object?: object): Promise<string> =>
      kubectl(handle, args, object === undefined ? undefined : JSON.stringify(object)),
    /** What kubectl says when it fails; empty when it does not. */
    refusal: async (args: readonly string[], object?: object): Promise<string> => {
      const input = object === undefined ? {} : { input: JSON.stringify(object) };
      const { code, stderr } = await run(handle.kubectl, args, { env: { KUBECONFIG: handle.kubeconfig }, ...input });
      return code === 0 ? '' : stderr;
    },
    read: async <Kind>(...args: string[]): Promise<Kind | null> => {
      const text = await kubectl(handle, ['get', ...args, '-o', 'json', '--ignore-not-found', '--show-managed-fields']);
      return text.trim() === '' ? null : (JSON.parse(text) as Kind);
    },
    async close(): Promise<void> {
      await Promise.all([admin.close(), worker.close()]);
      if (shared === undefined) await lab.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
