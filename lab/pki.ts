import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandSpec } from './part.ts';
import { ensurePrivateDirectory } from './private-files.ts';

/** PEM files. */
export interface Certificate {
  readonly certificateFile: string;
  readonly keyFile: string;
}

export interface CertificateRequest {
  /** Its common name, and the name of its files. */
  readonly name: string;
  /** `DNS:node-1`, `IP:127.0.0.1`. */
  readonly names?: readonly string[];
  readonly usage: 'serverAuth' | 'clientAuth';
}

type Run = (command: CommandSpec) => Promise<string>;

const TIMEOUT_MS = 30_000;
/** A lab may live for a while. */
const DAYS = '365';
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', DAYS];

/** A certificate authority of a lab's own in `dir`, made once. */
export async function ensureAuthority(run: Run, dir: string, name = 'ca'): Promise<Certificate> {
  ensurePrivateDirectory(dir);
  const authority = filesOf(dir, name);
  if (existsSync(authority.certificateFile)) return authority;
  await openssl(run, [
    'req',
    '-x509',
    ...NEW_KEY,
    '-subj',
    `/CN=${name} of a lab of drover`,
    '-addext',
    'basicConstraints=critical,CA:TRUE',
    '-addext',
    'keyUsage=critical,keyCertSign,cRLSign',
    '-keyout',
    authority.keyFile,
    '-out',
    authority.certificateFile,
  ]);
  return authority;
}

/** A certificate of that authority, made once. */
export async function ensureCertificate(
  run: Run,
  dir: string,
  authority: Certificate,
  { name, names = [], usage }: CertificateRequest,
): Promise<Certificate> {
  const certificate = filesOf(dir, name);
  if (existsSync(certificate.certificateFile)) return certificate;
  const extensions = [
    'basicConstraints=critical,CA:FALSE',
    `extendedKeyUsage=${usage}`,
    ...(names.length === 0 ? [] : [`subjectAltName=${names.join(',')}`]),
  ];
  await openssl(run, [
    'req',
    '-x509',
    '-CA',
    authority.certificateFile,
    '-CAkey',
    authority.keyFile,
    ...NEW_KEY,
    '-subj',
    `/CN=${name}`,
    ...extensions.flatMap((extension) => ['-addext', extension]),
    '-keyout',
    certificate.keyFile,
    '-out',
    certificate.certificateFile,
  ]);
  return certificate;
}

const filesOf = (dir: string, name: string): Certificate => ({
  certificateFile: join(dir, `${name}.crt`),
  keyFile: join(dir, `${name}.key`),
});

/** Keys are written with mode 0600 by openssl itself. */
const openssl = (run: Run, args: readonly string[]): Promise<string> =>
  run({ command: 'openssl', args, timeoutMs: TIMEOUT_MS });
