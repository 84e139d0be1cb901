import type { ProcessRecord } from '../part.ts';
import { killService, respawnService } from '../processes.ts';
import type { OpenStackHandle } from './handle.ts';
import { edgeServes, novaServes } from './readiness.ts';

const RESTART_TIMEOUT_MS = 180_000;

/** `nova`: API, conductor, scheduler and every nova-compute at once. `edge`: Keystone and Placement. */
export type OpenStackProcess = 'nova' | 'edge';

/** kill -9. Guests live on in the database; what was being built or migrated is as after a crash of the machine. */
export function killOpenStack(handle: OpenStackHandle, process: OpenStackProcess): Promise<void> {
  return killService(handle.dir, process);
}

/** Starts it again on the same ports and data; resolves when it serves. */
export function restartOpenStack(
  handle: OpenStackHandle,
  process: OpenStackProcess,
  signal = AbortSignal.timeout(RESTART_TIMEOUT_MS),
): Promise<ProcessRecord> {
  const serves = process === 'nova' ? novaServes : edgeServes;
  return respawnService(
    handle.dir,
    process,
    { ready: (attempt) => serves(handle, attempt), readyTimeoutMs: RESTART_TIMEOUT_MS },
    signal,
  );
}
