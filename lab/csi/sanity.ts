import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { runCommand } from '../run-command.ts';
import type { CsiDriverHandle, CsiHandle } from './handle.ts';

const TIMEOUT_MS = 10 * 60_000;

export interface SanityOptions {
  readonly driver: CsiDriverHandle;
  /** Which volumes it asks for; default file systems. */
  readonly block?: boolean;
  /** As ginkgo's `skip` has it: a regular expression over the names of tests. */
  readonly skip?: string;
}

/**
 * Runs csi-sanity on a driver of the lab; resolves to `53 Passed | 0 Failed | …`.
 * @throws with the end of its output when a test fails
 */
export async function runSanity(handle: CsiHandle, { driver, block = false, skip }: SanityOptions): Promise<string> {
  const targets = mkdtempSync(join(tmpdir(), 'drover-sanity-'));
  try {
    const output = await runCommand({
      command: handle.sanity,
      args: [
        // Of its working directory, as a socket's path may be too long.
        `--csi.endpoint=/proc/self/cwd/${basename(driver.socket)}`,
        `--csi.mountdir=${join(targets, 'mount')}`,
        `--csi.stagingdir=${join(targets, 'staging')}`,
        `--csi.testvolumeaccesstype=${block ? 'block' : 'mount'}`,
        `--csi.testvolumesize=${64 * 1_024 ** 2}`,
        '--ginkgo.no-color',
        ...(skip === undefined ? [] : [`--ginkgo.skip=${skip}`]),
      ],
      cwd: handle.dir,
      timeoutMs: TIMEOUT_MS,
    });
    return /\d+ Passed \|.*/u.exec(output)?.[0] ?? output;
  } finally {
    rmSync(targets, { recursive: true, force: true });
  }
}
