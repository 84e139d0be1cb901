import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectIsoControl } from '../iso/control.ts';
import type { IsosHandle } from '../iso/handle.ts';
import type { IsoServerSettings } from '../iso/main.ts';
import type { CommandSpec, Part } from '../part.ts';
import { ensureAuthority, ensureCertificate } from '../pki.ts';
import { writePrivateFile, writePrivateJson } from '../private-files.ts';

const content = { text: 'The discovery ISO of a lab of drover, first version\n', sizeBytes: 4 * 1_024 ** 2 };

/**
 * Where discovery ISOs come from: a small disc image by HTTPS, with ranges and ETags as assisted-image-service has
 * them, and faults for tests. Not in the default lab: it is started by name.
 */
export const isos: Part<IsosHandle> = {
  name: 'isos',
  title: 'a server of discovery ISOs',
  usually: { cold: '0.5 s', warm: '0.5 s' },

  build: () => Promise.resolve(),

  async start(context) {
    const { dir, checkoutDir } = context;
    const ports = await context.ports('isos', 'control');
    const file = (name: string) => join(dir, name);
    const run = (command: CommandSpec): Promise<string> => context.exec(command);
    const authority = await ensureAuthority(run, file('pki'));
    const certificate = await ensureCertificate(run, file('pki'), authority, {
      name: 'isos',
      names: ['IP:127.0.0.1', 'DNS:localhost'],
      usage: 'serverAuth',
    });
    const handle: IsosHandle = {
      dir,
      url: `https://127.0.0.1:${ports.isos}`,
      caFile: authority.certificateFile,
      controlUrl: `http://127.0.0.1:${ports.control}`,
      controlTokenFile: file('control.token'),
    };
    if (!existsSync(handle.controlTokenFile))
      writePrivateFile(handle.controlTokenFile, randomBytes(18).toString('base64url'));
    writePrivateJson(file('settings.json'), {
      port: ports.isos,
      controlPort: ports.control,
      controlToken: readFileSync(handle.controlTokenFile, 'utf8'),
      ...certificate,
      content,
    } satisfies IsoServerSettings);
    await context.spawn({
      name: 'isos',
      command: process.execPath,
      args: [
        '--disable-warning=ExperimentalWarning',
        join(checkoutDir, 'lab', 'iso', 'main.ts'),
        file('settings.json'),
      ],
      ready: () => isosServe(handle),
    });
    return handle;
  },

  describe: (handle) => ({ urls: { ISOs: handle.url }, exports: {} }),
};

/** The control port listens last. */
export async function isosServe(handle: Pick<IsosHandle, 'controlUrl' | 'controlTokenFile'>): Promise<boolean> {
  await connectIsoControl(handle).requests();
  return true;
}
