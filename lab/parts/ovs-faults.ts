import type { ProcessRecord } from '../part.ts';
import { killService, respawnService, signalService } from '../processes.ts';
import { LabError } from '../lab-error.ts';
import type { OvsHandle } from './ovs-handle.ts';
import { ovsdbServes, serviceOf } from './ovs.ts';

const RESTART_TIMEOUT_MS = 60_000;

/** kill -9 of a host's OVSDB server. */
export function killOvsdb(handle: OvsHandle, host: string): Promise<void> {
  return killService(handle.dir, serviceOf(host));
}

/** Starts it again after `killOvsdb`, on the same ports and database; resolves when it serves. */
export function restartOvsdb(
  handle: OvsHandle,
  host: string,
  signal = AbortSignal.timeout(RESTART_TIMEOUT_MS),
): Promise<ProcessRecord> {
  const at = handle.hosts[host];
  if (at === undefined) throw new LabError(`the lab has no OVSDB server for ${host}`);
  return respawnService(handle.dir, serviceOf(host), { ready: (attempt) => ovsdbServes(at, attempt) }, signal);
}

/** Makes it hang: connections stay open and nothing answers, until `thawOvsdb`. */
export function freezeOvsdb(handle: OvsHandle, host: string): void {
  signalService(handle.dir, serviceOf(host), 'SIGSTOP');
}

export function thawOvsdb(handle: OvsHandle, host: string): void {
  signalService(handle.dir, serviceOf(host), 'SIGCONT');
}
