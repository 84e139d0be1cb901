import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../run-command.ts';
import type { VsphereHandle } from './handle.ts';

const TIMEOUT_MS = 30_000;

/**
 * An independent client of the same vCenter: the witness of what drover did, and the other user who changes things.
 * Returns its output.
 */
export const govc = (handle: VsphereHandle, ...args: string[]): Promise<string> =>
  runCommand({
    command: handle.program,
    args: ['govc', ...args],
    env: { ...govcEnvironment(handle), GOVC_PASSWORD: readFileSync(handle.passwordFile, 'utf8') },
    timeoutMs: TIMEOUT_MS,
  });

/** The same, of a command that prints JSON. */
export const govcJson = async <Answer>(handle: VsphereHandle, command: string, ...args: string[]): Promise<Answer> =>
  JSON.parse(await govc(handle, command, '-json', ...args)) as Answer;

/** The settings of govc, without the password. */
export const govcEnvironment = ({ dir, url, username, caFile }: VsphereHandle): Record<string, string> => ({
  GOVC_URL: url,
  GOVC_USERNAME: username,
  GOVC_TLS_CA_CERTS: caFile,
  // Where it keeps its sessions.
  GOVMOMI_HOME: join(dir, 'govmomi'),
});
