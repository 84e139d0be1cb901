import { randomBytes, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildProgram, type GoProgram } from '../go.ts';
import type { CommandSpec, Part } from '../part.ts';
import { ensureAuthority, ensureCertificate } from '../pki.ts';
import { writePrivateFile, writePrivateJson } from '../private-files.ts';
import { connectVcenterControl } from '../vsphere/control.ts';
import { govcEnvironment } from '../vsphere/govc.ts';
import type { VsphereHandle } from '../vsphere/handle.ts';

const USERNAME = 'drover@vsphere.local';

/** One cluster of hosts, VMs to clone, and a datastore cluster. */
const model = { clusters: 1, clusterHosts: 3, datastores: 2, machines: 2, storagePods: 1, podDatastores: 2 };

const program: GoProgram = {
  name: 'vsphere',
  folder: 'vsphere',
  package: './cmd/vsphere',
  ldflags: '-s -w',
  usually: '3 min on two idle cores',
};

/**
 * A vCenter: govmomi's simulator, made stricter where it would let wrong requests pass, with faults and a record of
 * requests for tests; and govc. Not in the default lab: it is started by name. Its inventory is in memory, and so new
 * with each start.
 */
export const vsphere: Part<VsphereHandle, { program: string }> = {
  name: 'vsphere',
  title: 'vCenter (govmomi’s simulator) and govc',
  usually: { cold: '3 min', warm: '0.5 s' },

  build: async (context) => ({ program: await buildProgram(context, program) }),

  async start(context, built) {
    const { dir } = context;
    const ports = await context.ports('sdk', 'control');
    const file = (name: string) => join(dir, name);
    const run = (command: CommandSpec): Promise<string> => context.exec(command);
    const authority = await ensureAuthority(run, join(dir, 'pki'));
    const certificate = await ensureCertificate(run, join(dir, 'pki'), authority, {
      name: 'vcenter',
      names: ['IP:127.0.0.1', 'DNS:localhost'],
      usage: 'serverAuth',
    });
    const handle: VsphereHandle = {
      dir,
      url: `https://127.0.0.1:${ports.sdk}`,
      username: USERNAME,
      passwordFile: file('password'),
      caFile: authority.certificateFile,
      thumbprint: new X509Certificate(readFileSync(certificate.certificateFile)).fingerprint256
        .replaceAll(':', '')
        .toLowerCase(),
      program: built.program,
      controlUrl: `http://127.0.0.1:${ports.control}`,
      controlTokenFile: file('control.token'),
    };
    for (const secret of [handle.passwordFile, handle.controlTokenFile])
      if (!existsSync(secret)) writePrivateFile(secret, randomBytes(18).toString('base64url'));
    writePrivateJson(file('settings.json'), {
      listen: `127.0.0.1:${ports.sdk}`,
      control: `127.0.0.1:${ports.control}`,
      certificate: certificate.certificateFile,
      key: certificate.keyFile,
      username: USERNAME,
      password: readFileSync(handle.passwordFile, 'utf8'),
      controlToken: readFileSync(handle.controlTokenFile, 'utf8'),
      model,
    });
    await context.spawn({
      name: 'vcsim',
      command: built.program,
      args: ['vcsim', file('settings.json')],
      ready: () => vcenterServes(handle),
    });
    await context.publish('govc', { script: govcScript(handle) });
    return handle;
  },

  describe: (handle) => ({ urls: { vCenter: handle.url }, exports: govcEnvironment(handle) }),
};

/** The control port listens last. */
export async function vcenterServes(handle: Pick<VsphereHandle, 'controlUrl' | 'controlTokenFile'>): Promise<boolean> {
  await connectVcenterControl(handle).requests();
  return true;
}

/** Reads the password when it runs, so that no environment holds it. */
const govcScript = (handle: VsphereHandle): string =>
  `#!/bin/sh
${Object.entries(govcEnvironment(handle))
  .map(([name, value]) => `: "\${${name}:=${value}}"; export ${name}`)
  .join('\n')}
GOVC_PASSWORD=$(cat '${handle.passwordFile}') exec '${handle.program}' govc "$@"
`;
