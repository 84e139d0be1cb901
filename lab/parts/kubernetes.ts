import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Part } from '../part.ts';
import { ensurePrivateDirectory, readFileIfThere, replaceLink, writePrivateFile } from '../private-files.ts';
import { findPrograms, type FoundPrograms, type ProgramSet } from '../programs.ts';
import { etcdArguments, kubeApiserverArguments, kubeControllerManagerArguments } from './kubernetes-arguments.ts';
import { etcdServes, kubeApiserverServes, kubeGet, writeKubeconfig } from './kubernetes-access.ts';
import type { KubernetesHandle } from './kubernetes-handle.ts';
import { applyCrds, applyRbac } from './kubernetes-manifests.ts';

const VERSION = 'v1.36.3';

type KubeProgram = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kubectl';

const version = 'k8s.io/component-base/version';

const programs: ProgramSet<KubeProgram> = {
  variable: 'DROVER_KUBE',
  programs: {
    etcd: { args: ['--version'], pattern: /etcd Version: (\S+)/, minor: '3.6' },
    'kube-apiserver': { args: ['--version'], pattern: /Kubernetes v(\S+)/, minor: '1.36' },
    'kube-controller-manager': { args: ['--version'], pattern: /Kubernetes v(\S+)/, minor: '1.36' },
    kubectl: { args: ['version', '--client'], pattern: /Client Version: v(\S+)/, minor: '1.36' },
  },
  build: {
    name: 'kube',
    folder: 'kubernetes',
    package: './cmd/kube',
    // Without these the server calls itself v0.0.0-master+$Format:%H$, which clients do not parse.
    ldflags: `-s -w -X ${version}.gitVersion=${VERSION} -X ${version}.gitMajor=1 -X ${version}.gitMinor=36 -X ${version}.gitTreeState=clean -X ${version}.gitCommit=gomod`,
    usually: '6 min on two idle cores',
  },
};

/** etcd, kube-apiserver and kube-controller-manager with RBAC and service accounts; no nodes, no scheduler. */
export const kubernetes: Part<KubernetesHandle, FoundPrograms<KubeProgram>> = {
  name: 'kubernetes',
  title: 'Kubernetes API (etcd, kube-apiserver, kube-controller-manager)',
  usually: { cold: '6 min', warm: '5 s' },
  build: (context) => findPrograms(context, programs),

  async start(context, { paths }) {
    const { dir } = context;
    const { apiserver: port } = await context.ports('apiserver');
    const program = linkPrograms(dir, paths);
    const pki = join(dir, 'pki');
    const handle: KubernetesHandle = {
      dir,
      server: `https://127.0.0.1:${port}`,
      // kube-apiserver makes its own authority and certificate the first time and keeps them here.
      caFile: join(pki, 'apiserver.crt'),
      kubeconfig: join(dir, 'admin.kubeconfig'),
      tokenFile: join(dir, 'admin.token'),
      kubectl: program('kubectl'),
    };
    ensurePrivateDirectory(pki);
    const tokens = writeCredentials(dir);

    await context.spawn({
      name: 'etcd',
      command: program('etcd'),
      args: etcdArguments(),
      ready: (signal) => etcdServes(dir, signal),
    });
    await context.spawn({
      name: 'kube-apiserver',
      command: program('kube-apiserver'),
      args: kubeApiserverArguments(dir, port),
      ready: (signal) => kubeApiserverServes(handle, signal),
      readyTimeoutMs: 120_000,
      // It would wait for every open watch; a kill loses nothing, etcd has it all.
      stopTimeoutMs: 5000,
    });
    writeKubeconfig(handle.kubeconfig, handle, 'admin', tokens.admin);
    const controllerKubeconfig = join(dir, 'kube-controller-manager.kubeconfig');
    writeKubeconfig(controllerKubeconfig, handle, 'kube-controller-manager', tokens.controllerManager);
    await context.publish('kubectl', { target: handle.kubectl });

    // Before the controller manager: its garbage collector sees kinds that come later only after up to 40 s.
    await applyCrds(context, handle);
    await context.spawn({
      name: 'kube-controller-manager',
      command: program('kube-controller-manager'),
      args: kubeControllerManagerArguments(dir, controllerKubeconfig),
      ready: async (signal) => (await kubeGet(handle, '/api/v1/namespaces/default/serviceaccounts/default', signal)).ok,
    });
    await applyRbac(context, handle);
    return handle;
  },

  async refresh(context, handle) {
    await applyCrds(context, handle);
    await applyRbac(context, handle);
  },

  describe: (handle) => ({ urls: { 'Kubernetes API': handle.server }, exports: { KUBECONFIG: handle.kubeconfig } }),
};

/** One program may be all four; it is what the link is called. */
function linkPrograms(dir: string, paths: FoundPrograms<KubeProgram>['paths']): (name: KubeProgram) => string {
  const folder = join(dir, 'programs');
  ensurePrivateDirectory(folder);
  for (const [name, target] of Object.entries(paths)) replaceLink(join(folder, name), target);
  return (name) => join(folder, name);
}

/** The service-account signing key and the static tokens, made once per data directory. */
function writeCredentials(dir: string): { admin: string; controllerManager: string } {
  const pki = join(dir, 'pki');
  if (!existsSync(join(pki, 'service-account.pub'))) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writePrivateFile(join(pki, 'service-account.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    writePrivateFile(join(pki, 'service-account.pub'), publicKey.export({ type: 'spki', format: 'pem' }).toString());
  }
  const token = (name: string) => {
    const file = join(dir, `${name}.token`);
    const existing = readFileIfThere(file);
    if (existing !== undefined) return existing;
    const made = randomBytes(24).toString('base64url');
    writePrivateFile(file, made);
    return made;
  };
  const tokens = { admin: token('admin'), controllerManager: token('kube-controller-manager') };
  writePrivateFile(
    join(pki, 'tokens.csv'),
    `${tokens.admin},admin,admin,"system:masters"\n${tokens.controllerManager},system:kube-controller-manager,kube-controller-manager\n`,
  );
  return tokens;
}
