import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { driverServes, endpointArgument, sidecarServes } from '../csi/readiness.ts';
import type { CsiDriverHandle, CsiHandle } from '../csi/handle.ts';
import { applyCsiManifests } from '../csi/manifests.ts';
import { openCsiPool } from '../csi/pool.ts';
import { buildCsi, type CsiBuild } from '../csi/programs.ts';
import { LabError } from '../lab-error.ts';
import type { LabContext, Part } from '../part.ts';
import { writePrivateFile, writePrivateJson } from '../private-files.ts';
import type { CephHandle } from './ceph-handle.ts';
import { writeServiceAccountKubeconfig } from './kubernetes-access.ts';
import type { KubernetesHandle } from './kubernetes-handle.ts';

/** Longer than a lab is used. */
const TOKEN_SECONDS = 30 * 86_400;

const quick = ['--retry-interval-start=200ms', '--retry-interval-max=5s'];
const common = ['--leader-election=false', '--kube-api-qps=100', '--kube-api-burst=200', ...quick];

/** A snapshot that is deleted while it is cut goes when all are looked at again: usually after 15 min. */
const soon = '--resync-period=5s';

/** What every driver has beside it, with its arguments. */
const sidecars = {
  'csi-provisioner': [
    '--timeout=60s',
    '--extra-create-metadata',
    '--volume-name-prefix=pvc',
    // A snapshot whose clone is deleted while it is made keeps the provisioner's finalizer so long: usually 5 min.
    '--snapshot-orphan-sweep-interval=2s',
  ],
  'csi-snapshotter': ['--timeout=60s', '--extra-create-metadata', soon],
  'csi-resizer': ['--timeout=60s'],
} as const;
const sidecarNames = Object.keys(sidecars) as (keyof typeof sidecars)[];

/**
 * Volumes with snapshots and clones, without a kubelet: upstream's sidecars and snapshot-controller with upstream's own
 * roles, and drivers of the lab, which take faults for tests. The driver of Ceph is there where Ceph is. Not in the
 * default lab: it is started by name.
 */
export const csi: Part<CsiHandle, CsiBuild> = {
  name: 'csi',
  title: 'CSI (sidecars, snapshot-controller and drivers)',
  usually: { cold: '1 min', warm: '3 s' },
  after: ['kubernetes', 'ceph'],
  build: buildCsi,

  async start(context, { paths, manifests }) {
    const { dir } = context;
    const kubernetes = kubernetesOf(context);
    const ceph = context.handleOf('ceph') as CephHandle | undefined;
    const pool = ceph === undefined ? null : await openCsiPool(ceph, dir);
    const names = ['directories', ...(pool === null ? [] : ['rbd'])];
    const ports = await context.ports(
      'snapshot-controller',
      ...names.flatMap((driver) => [driver, ...sidecarNames.map((sidecar) => `${sidecar}-${driver}`)]),
    );
    const port = (name: string) => ports[name] ?? 0;
    const driver = (service: string, name: string): CsiDriverHandle => ({
      name,
      service,
      socket: join(dir, `${service}.sock`),
      controlUrl: `http://127.0.0.1:${port(service)}`,
    });
    const root = join(dir, 'directories');
    const handle: CsiHandle = {
      dir,
      controlTokenFile: join(dir, 'control.token'),
      directories: { ...driver('directories', 'dir.csi.drover.dev'), root },
      rbd: pool && { ...driver('rbd', 'rbd.csi.drover.dev'), ...pool },
      sanity: paths['csi-sanity'],
    };
    if (!existsSync(handle.controlTokenFile))
      writePrivateFile(handle.controlTokenFile, randomBytes(18).toString('base64url'));

    await applyCsiManifests(context, kubernetes, manifests, handle);
    const kubeconfig = async (name: string, namespace = 'default') =>
      `--kubeconfig=${await writeServiceAccountKubeconfig(kubernetes, { namespace, name, path: join(dir, `${name}.kubeconfig`), expirationSeconds: TOKEN_SECONDS })}`;
    const startSidecar = async (name: string, command: string, args: readonly string[]) =>
      context.spawn({
        name,
        command,
        args: [...args, ...common, endpointArgument(port(name))],
        ready: (signal) => sidecarServes(port(name), signal),
      });

    const startDriver = async (driver: CsiDriverHandle, settings: object) => {
      const { service, name, controlUrl } = driver;
      const file = join(dir, `${service}.json`);
      writePrivateJson(file, {
        name,
        socket: `${service}.sock`,
        control: new URL(controlUrl).host,
        controlToken: readFileSync(handle.controlTokenFile, 'utf8'),
        ...settings,
      });
      await context.spawn({
        name: service,
        command: paths['csi-driver'],
        args: [file],
        ready: () => driverServes(handle, driver),
      });
      await Promise.all(
        sidecarNames.map(async (sidecar) =>
          startSidecar(`${sidecar}-${service}`, paths[sidecar], [
            await kubeconfig(sidecar),
            // Of its working directory: a lab may lie deeper than a UNIX socket's path may be long.
            `--csi-address=/proc/self/cwd/${service}.sock`,
            ...sidecars[sidecar],
          ]),
        ),
      );
    };
    await Promise.all([
      kubeconfig('snapshot-controller', 'kube-system').then((file) =>
        startSidecar('snapshot-controller', paths['snapshot-controller'], [file]),
      ),
      startDriver(handle.directories, { directories: { root } }),
      handle.rbd &&
        startDriver(handle.rbd, {
          rbd: {
            conf: handle.rbd.confFile,
            pool: handle.rbd.pool,
            client: handle.rbd.client.name,
            keyring: handle.rbd.client.keyringFile,
            journal: join(dir, 'rbd', handle.rbd.fsid),
          },
        }),
    ]);
    return handle;
  },

  async refresh(context, handle) {
    await applyCsiManifests(context, kubernetesOf(context), (await buildCsi(context)).manifests, handle);
  },

  describe: () => ({ urls: {}, exports: {} }),
};

function kubernetesOf(context: LabContext): KubernetesHandle {
  const handle = context.handleOf('kubernetes');
  if (handle === undefined) throw new LabError('it needs the Kubernetes API: npm run lab -- up kubernetes csi');
  return handle as KubernetesHandle;
}
