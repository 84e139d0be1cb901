import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LabError } from '../lab-error.ts';
import { defaultFleet } from '../openstack/host-profile.ts';
import type { LabContext, Part } from '../part.ts';
import { writePrivateFile, writePrivateJson } from '../private-files.ts';
import { ensureVenv } from '../python.ts';
import type { RedfishHandle } from '../redfish/handle.ts';
import { connectMachines } from '../redfish/machines.ts';

const USERNAME = 'drover';

interface Built {
  readonly venv: string;
}

/**
 * The BMC of every host of the fleet: the emulator of sushy-tools with machines that have nothing but their power,
 * Basic authentication and TLS. Not in the default lab: it is started by name.
 */
export const redfish: Part<RedfishHandle, Built> = {
  name: 'redfish',
  title: 'BMCs (Redfish emulator sushy-tools)',
  usually: { cold: '15 s', warm: '1 s' },

  build: async (context) => ({
    venv: await ensureVenv(context, {
      name: 'redfish',
      what: 'the Redfish emulator',
      lockFile: join(folderOf(context), 'requirements.lock.txt'),
      usually: '15 s',
    }),
  }),

  async start(context, { venv }) {
    const { dir } = context;
    const ports = await context.ports('redfish', 'control');
    const file = (name: string) => join(dir, name);
    const handle: RedfishHandle = {
      dir,
      url: `https://127.0.0.1:${ports.redfish}`,
      username: USERNAME,
      passwordFile: file('password'),
      caFile: file('certificate.pem'),
      machines: Object.fromEntries(Object.keys(defaultFleet).map((name) => [name, uuidOf(name)])),
      controlUrl: `http://127.0.0.1:${ports.control}`,
      controlTokenFile: file('control.token'),
    };
    for (const secret of [handle.passwordFile, handle.controlTokenFile])
      if (!existsSync(secret)) writePrivateFile(secret, randomBytes(18).toString('base64url'));
    await ensureCertificate(context, handle.caFile, file('certificate.key'));
    writePrivateJson(file('settings.json'), {
      directory: dir,
      port: ports.redfish,
      control_port: ports.control,
      username: USERNAME,
      password: readFileSync(handle.passwordFile, 'utf8'),
      control_token: readFileSync(handle.controlTokenFile, 'utf8'),
      certificate: handle.caFile,
      key: file('certificate.key'),
      machines: handle.machines,
    });
    await context.spawn({
      name: 'redfish',
      command: join(venv, 'bin', 'python'),
      args: ['-P', '-m', 'bmc.run', file('settings.json')],
      env: { PYTHONPATH: folderOf(context), PYTHONDONTWRITEBYTECODE: '1' },
      ready: () => redfishServes(handle),
    });
    return handle;
  },

  describe: (handle) => ({ urls: { Redfish: handle.url }, exports: {} }),
};

const folderOf = (context: Pick<LabContext, 'checkoutDir'>) => join(context.checkoutDir, 'lab', 'redfish');

/** The control port listens first, and answers only when the machines are there. */
export async function redfishServes(handle: Pick<RedfishHandle, 'controlUrl' | 'controlTokenFile'>): Promise<boolean> {
  return Object.keys(await connectMachines(handle).all()).length > 0;
}

/** The same for each lab, so that it can be written into a Hypervisor beforehand. */
function uuidOf(host: string): string {
  const hex = createHash('sha256').update(`redfish.lab.drover.dev/${host}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

async function ensureCertificate(context: LabContext, certificate: string, key: string): Promise<void> {
  if (existsSync(certificate) && existsSync(key)) return;
  const args = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '3650',
    '-subj',
    '/CN=BMC of the lab',
    '-addext',
    'subjectAltName=IP:127.0.0.1',
  ];
  writePrivateFile(key, '');
  await context
    .exec({ command: 'openssl', args: [...args, '-keyout', key, '-out', certificate], timeoutMs: 30_000 })
    .catch((error: unknown) => {
      context.signal.throwIfAborted();
      throw new LabError(
        `openssl cannot make a certificate (Debian: apt-get install openssl): ${error instanceof Error ? error.message : String(error)}`,
      );
    });
}
