import type { ProcessRecord } from '../part.ts';
import { killService, respawnService } from '../processes.ts';
import { type TemporalHandle, temporalServes } from './temporal.ts';

const RESTART_TIMEOUT_MS = 180_000;

/** kill -9 of the Temporal server. */
export function killTemporal(handle: TemporalHandle): Promise<void> {
  return killService(handle.dir, 'temporal');
}

/** Starts the Temporal server again after `killTemporal`, on the same ports and database; resolves when it serves. */
export function restartTemporal(
  handle: TemporalHandle,
  signal = AbortSignal.timeout(RESTART_TIMEOUT_MS),
): Promise<ProcessRecord> {
  return respawnService(handle.dir, 'temporal', { ready: (attempt) => temporalServes(handle, attempt) }, signal);
}
