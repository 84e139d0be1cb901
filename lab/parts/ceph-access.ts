import { readFileSync } from 'node:fs';
import { runCommand } from '../run-command.ts';
import type { CephHandle } from './ceph-handle.ts';

const COMMAND_TIMEOUT_MS = 30_000;

/** Runs `ceph` as the cluster's administrator; resolves to what it printed. */
export const ceph = (handle: CephHandle, args: readonly string[], signal?: AbortSignal): Promise<string> =>
  runCommand(
    {
      command: 'ceph',
      args: ['--connect-timeout', '5', ...args],
      env: { CEPH_CONF: handle.confFile },
      timeoutMs: COMMAND_TIMEOUT_MS,
    },
    signal,
  );

/** Whether the monitors count the OSD as up. */
export async function osdServes(handle: CephHandle, signal: AbortSignal): Promise<boolean> {
  const { num_up_osds: up } = JSON.parse(await ceph(handle, ['osd', 'stat', '--format', 'json'], signal)) as {
    num_up_osds: number;
  };
  return up === 1;
}

/** Whether the dashboard lets its user in. */
export async function dashboardServes(handle: CephHandle, signal: AbortSignal): Promise<boolean> {
  const answer = await fetch(`${handle.dashboardUrl}/api/auth`, {
    method: 'POST',
    headers: { accept: 'application/vnd.ceph.api.v1.0+json', 'content-type': 'application/json' },
    body: JSON.stringify({
      username: handle.dashboardUser,
      password: readFileSync(handle.dashboardPasswordFile, 'utf8'),
    }),
    signal,
  });
  await answer.body?.cancel();
  return answer.status === 201;
}
