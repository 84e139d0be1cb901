import type { ProcessRecord } from '../part.ts';
import { killService, readProcess, respawnService, stopService } from '../processes.ts';
import { ceph, dashboardServes, osdServes } from './ceph-access.ts';
import type { CephHandle } from './ceph-handle.ts';

const RESTART_TIMEOUT_MS = 300_000;

/** Ends the OSD in order: it says good-bye, so that the monitors know at once, and keeps its objects. */
export async function stopOsd(handle: CephHandle): Promise<void> {
  await stopService(readProcess(handle.dir, 'osd'));
}

/** Starts the OSD again after `stopOsd`; resolves when the monitors count it as up. */
export function startOsd(handle: CephHandle, signal = AbortSignal.timeout(RESTART_TIMEOUT_MS)): Promise<ProcessRecord> {
  return respawnService(
    handle.dir,
    'osd',
    { ready: (attempt) => osdServes(handle, attempt), readyTimeoutMs: RESTART_TIMEOUT_MS },
    signal,
  );
}

/** kill -9 of the manager, and with it of the dashboard. */
export function killManager(handle: CephHandle): Promise<void> {
  return killService(handle.dir, 'mgr');
}

/** Starts the manager again after `killManager`; resolves when the dashboard lets its user in. */
export function restartManager(
  handle: CephHandle,
  signal = AbortSignal.timeout(RESTART_TIMEOUT_MS),
): Promise<ProcessRecord> {
  return respawnService(
    handle.dir,
    'mgr',
    { ready: (attempt) => dashboardServes(handle, attempt), readyTimeoutMs: RESTART_TIMEOUT_MS },
    signal,
  );
}

/** How long the tokens of coming logins are good. */
export async function setTokenLifetime(handle: CephHandle, seconds: number): Promise<void> {
  await ceph(handle, ['dashboard', 'set-jwt-token-ttl', String(seconds)]);
}
