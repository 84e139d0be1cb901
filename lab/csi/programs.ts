import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { contentKey } from '../../runtime/cache.ts';
import { buildProgram, ensureGo, type GoProgram } from '../go.ts';
import type { LabContext } from '../part.ts';

const MINUTE_MS = 60_000;
const modules = 'github.com/kubernetes-csi';

/** What comes from upstream. */
const upstreamPackages = {
  'snapshot-controller': `${modules}/external-snapshotter/v8/cmd/snapshot-controller`,
  'csi-snapshotter': `${modules}/external-snapshotter/v8/cmd/csi-snapshotter`,
  'csi-provisioner': `${modules}/external-provisioner/v6/cmd/csi-provisioner`,
  'csi-resizer': `${modules}/external-resizer/v2/cmd/csi-resizer`,
  'csi-sanity': `${modules}/csi-test/v5/cmd/csi-sanity`,
} as const;

export type CsiProgram = keyof typeof upstreamPackages | 'csi-driver';

export const csiPrograms: readonly GoProgram[] = [
  ...Object.entries(upstreamPackages).map(([name, packageName]) => ({
    name,
    folder: 'csi/sidecars',
    package: packageName,
    ldflags: '-s -w',
    // The first of them compiles what they share, unless Kubernetes was built here before.
    usually: name === 'snapshot-controller' ? '10 s, or 2 min on two idle cores' : '10 s on two idle cores',
  })),
  {
    name: 'csi-driver',
    folder: 'csi/drivers',
    package: './cmd/csi-driver',
    ldflags: '-s -w',
    usually: '10 s on two idle cores',
  },
];

export interface CsiBuild {
  readonly paths: Readonly<Record<CsiProgram, string>>;
  /** Folder with upstream's CRDs and RBAC of the very versions of the programs. */
  readonly manifests: string;
}

/** Builds what is not in the cache yet. */
export async function buildCsi(context: LabContext): Promise<CsiBuild> {
  const paths: Partial<Record<CsiProgram, string>> = {};
  for (const program of csiPrograms) paths[program.name as CsiProgram] = await buildProgram(context, program);
  return { paths: paths as CsiBuild['paths'], manifests: await keepManifests(context) };
}

/** By module: the CRDs, and what each program may do. */
const upstreamManifests: Readonly<Record<string, readonly string[]>> = {
  [`${modules}/external-snapshotter/client/v8`]: ['classes', 'contents', 's'].map(
    (plural) => `config/crd/snapshot.storage.k8s.io_volumesnapshot${plural}.yaml`,
  ),
  [`${modules}/external-snapshotter/v8`]: [
    'deploy/kubernetes/snapshot-controller/rbac-snapshot-controller.yaml',
    'deploy/kubernetes/csi-snapshotter/rbac-csi-snapshotter.yaml',
  ],
  [`${modules}/external-provisioner/v6`]: ['deploy/kubernetes/rbac.yaml'],
  [`${modules}/external-resizer/v2`]: ['deploy/kubernetes/rbac.yaml'],
};

/** Copies upstream's manifests out of the modules, as those may be cleaned away while the programs stay. */
async function keepManifests(context: LabContext): Promise<string> {
  const folder = join(context.checkoutDir, 'lab', 'tools', 'csi', 'sidecars');
  const kept = join(context.cacheDir, `csi-manifests-${contentKey(folder, Object.values(upstreamManifests).flat())}`);
  if (existsSync(kept)) return kept;
  return context.withLock('go-build', async () => {
    if (existsSync(kept)) return kept;
    const output = await context.exec({
      command: await ensureGo(context),
      args: ['mod', 'download', '-json', ...Object.keys(upstreamManifests)],
      cwd: folder,
      env: { GOTOOLCHAIN: 'local', GOWORK: 'off' },
      timeoutMs: 10 * MINUTE_MS,
    });
    const unfinished = mkdtempSync(`${kept}-`);
    try {
      for (const { Path: path, Dir: dir } of parseModules(output))
        for (const file of upstreamManifests[path] ?? [])
          cpSync(join(dir, file), join(unfinished, `${path.split('/').slice(2).join('-')}-${basename(file)}`));
      renameSync(unfinished, kept);
    } finally {
      rmSync(unfinished, { recursive: true, force: true });
    }
    return kept;
  });
}

interface DownloadedModule {
  readonly Path: string;
  readonly Dir: string;
}

/** `go mod download -json` writes one object after the other. */
const parseModules = (output: string): DownloadedModule[] =>
  output
    .trim()
    .split(/\n(?=\{)/u)
    .map((text) => JSON.parse(text) as DownloadedModule);
