import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { LabContext } from '../part.ts';
import type { KubernetesHandle } from './kubernetes-handle.ts';

const KUBECTL_TIMEOUT_MS = 60_000;

/** Applies drover's own kinds and waits until they can be used. */
export async function applyCrds(context: LabContext, handle: KubernetesHandle): Promise<void> {
  if (!(await applyFolder(context, handle, 'crds'))) return;
  await kubectl(context, handle, ['wait', '--for=condition=Established', '--timeout=30s', 'crd', '--all']);
}

/** Applies drover's service accounts, roles and bindings, and the rules about who may write what. */
export async function applyRbac(context: LabContext, handle: KubernetesHandle): Promise<void> {
  await applyFolder(context, handle, 'rbac');
  await applyFolder(context, handle, 'admission');
}

/** Applies every `deploy/<folder>/*.yaml`; false where there is none. */
async function applyFolder(
  context: LabContext,
  handle: KubernetesHandle,
  folder: 'crds' | 'rbac' | 'admission',
): Promise<boolean> {
  const path = join(context.checkoutDir, 'deploy', folder);
  if (!existsSync(path) || !readdirSync(path).some((file) => file.endsWith('.yaml'))) return false;
  await kubectl(context, handle, ['apply', '--server-side', '--force-conflicts', '-f', path]);
  return true;
}

function kubectl(context: LabContext, handle: KubernetesHandle, args: readonly string[]): Promise<string> {
  return context.exec({
    command: handle.kubectl,
    args: ['--kubeconfig', handle.kubeconfig, ...args],
    timeoutMs: KUBECTL_TIMEOUT_MS,
    logFile: join(context.dir, 'log', 'kubectl.log'),
  });
}
