import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LabContext } from '../part.ts';
import { ensurePrivateDirectory, readFileIfThere, writePrivateFile } from '../private-files.ts';

const TIMEOUT_MS = 30_000;

export interface Sasl {
  /** The directory for SASL_CONF_PATH. */
  readonly dir: string;
  readonly user: string;
  readonly passwordFile: string;
}

/** One user with a password that is made once per data directory, for daemons that ask for SCRAM-SHA-256. */
export async function ensureSasl(context: LabContext): Promise<Sasl> {
  const dir = join(context.dir, 'sasl');
  const database = join(dir, 'sasldb2');
  const sasl: Sasl = { dir, user: 'drover', passwordFile: join(dir, 'password') };
  ensurePrivateDirectory(dir);
  const password = readFileIfThere(sasl.passwordFile) ?? randomBytes(24).toString('base64url');
  writePrivateFile(
    join(dir, 'libvirt.conf'),
    `mech_list: scram-sha-256\npwcheck_method: auxprop\nauxprop_plugin: sasldb\nsasldb_path: ${database}\n`,
  );
  rmSync(database, { force: true });
  await context.exec({
    command: '/usr/sbin/saslpasswd2',
    args: ['-p', '-c', '-f', database, '-a', 'libvirt', sasl.user],
    input: password,
    timeoutMs: TIMEOUT_MS,
  });
  writePrivateFile(sasl.passwordFile, password);
  return sasl;
}
