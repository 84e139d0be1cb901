import { deadServices, killService, readProcess, readProcesses, respawnService } from '../processes.ts';
import type { CsiDriverHandle, CsiHandle } from './handle.ts';
import { driverServes, portOf, sidecarServes } from './readiness.ts';

const RESTART_TIMEOUT_MS = 60_000;

/** What of the part can be killed. */
export type CsiService =
  | 'snapshot-controller'
  | `csi-${'provisioner' | 'snapshotter' | 'resizer'}-${'directories' | 'rbd'}`
  | 'directories'
  | 'rbd';

/**
 * kill -9. Sidecars go with their driver, as they end by themselves when it is gone; so do its faults and counts, its
 * volumes do not.
 */
export async function killCsi(handle: CsiHandle, service: CsiService): Promise<void> {
  const sidecars = readProcesses(handle.dir).filter(({ name }) => name.endsWith(`-${service}`));
  for (const { name } of [...sidecars, { name: service }]) await killService(handle.dir, name);
}

/** Starts again whatever of the part has ended, drivers first. */
export async function restartCsi(
  handle: CsiHandle,
  signal: AbortSignal = AbortSignal.timeout(RESTART_TIMEOUT_MS),
): Promise<void> {
  const drivers = new Map<string, CsiDriverHandle>(
    [handle.directories, handle.rbd].flatMap((driver) => (driver === null ? [] : [[driver.service, driver]])),
  );
  const restart = (names: readonly string[]) =>
    Promise.all(
      names.map((name) => {
        const driver = drivers.get(name);
        const port = portOf(readProcess(handle.dir, name).args) ?? 0;
        const ready = (attempt: AbortSignal) =>
          driver === undefined ? sidecarServes(port, attempt) : driverServes(handle, driver);
        return respawnService(handle.dir, name, { ready }, signal);
      }),
    );
  await restart(deadServices(handle.dir).filter((name) => drivers.has(name)));
  await restart(deadServices(handle.dir));
}
