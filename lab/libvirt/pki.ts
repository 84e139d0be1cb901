import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LabContext } from '../part.ts';
import { ensurePrivateDirectory, writePrivateFile } from '../private-files.ts';

const TIMEOUT_MS = 60_000;
const DAYS = '3650';

export interface Pki {
  readonly caFile: string;
  readonly serverCertFile: string;
  readonly serverKeyFile: string;
  readonly clientCertFile: string;
  readonly clientKeyFile: string;
}

/**
 * An authority of the lab's own, one certificate for all its daemons, and one for their client. Made once
 * per data directory.
 */
export async function ensurePki(context: LabContext, addresses: readonly string[]): Promise<Pki> {
  const dir = join(context.dir, 'pki');
  ensurePrivateDirectory(dir);
  const file = (name: string) => join(dir, name);
  const pki: Pki = {
    caFile: file('ca.pem'),
    serverCertFile: file('server.pem'),
    serverKeyFile: file('server.key'),
    clientCertFile: file('client.pem'),
    clientKeyFile: file('client.key'),
  };
  const openssl = (...args: string[]) => context.exec({ command: 'openssl', args, cwd: dir, timeoutMs: TIMEOUT_MS });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  if (!existsSync(pki.caFile))
    await openssl(
      'req',
      '-x509',
      ...key,
      '-days',
      DAYS,
      '-subj',
      '/CN=drover lab',
      '-keyout',
      'ca.key',
      '-out',
      'ca.pem',
    );

  const issue = async (name: 'server' | 'client', extensions: readonly string[]) => {
    writePrivateFile(file(`${name}.ext`), `${extensions.join('\n')}\n`);
    await openssl('req', ...key, '-subj', `/O=nova/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
    await openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-days',
      DAYS,
      '-extfile',
      `${name}.ext`,
      '-out',
      `${name}.pem`,
    );
  };
  // Each time: the lab may have other hypervisors now.
  await issue('server', [
    'extendedKeyUsage=serverAuth',
    `subjectAltName=${addresses.map((address) => `IP:${address}`).join()}`,
  ]);
  if (!existsSync(pki.clientCertFile)) await issue('client', ['extendedKeyUsage=clientAuth']);
  return pki;
}
