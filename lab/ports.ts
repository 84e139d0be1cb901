import { randomInt } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { LabError } from './lab-error.ts';
import { withLock } from './lock.ts';
import type { ProcessIdentity } from './part.ts';
import { readJsonIfThere, writePrivateJson } from './private-files.ts';
import { identify, isAlive } from './process-identity.ts';

/**
 * Below the range of outgoing connections (32768 and up on Linux, 49152 elsewhere): a port from there, as binding
 * port 0 gives it, can be taken by any connection while its service is being restarted.
 */
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 29_999;
const ATTEMPTS = 200;

/** `<cache>/ports/<port>.json`: which part of which lab has it. */
interface Reservation {
  /** The part's directory. */
  readonly dir: string;
  readonly by: ProcessIdentity | undefined;
}

export interface PortOwner {
  readonly dir: string;
  readonly cacheDir: string;
  readonly signal: AbortSignal;
}

/**
 * Free ports by name for a part, the ones it had the last time unless another process has taken them. Reserved among
 * the labs of this user while the reserving process lives or the part is up.
 */
export async function reservePorts<Name extends string>(
  owner: PortOwner,
  names: readonly Name[],
): Promise<Record<Name, number>> {
  const file = join(owner.dir, 'ports.json');
  return withLock(
    join(owner.cacheDir, 'locks'),
    'ports',
    async () => {
      const earlier = (readJsonIfThere(file) ?? {}) as Record<string, number>;
      const chosen: Record<string, number> = {};
      const usable = async (port: number) =>
        !Object.values(chosen).includes(port) && !isReserved(owner, port) && (await isFree(port));
      for (const name of names) {
        const before = earlier[name];
        chosen[name] = before !== undefined && (await usable(before)) ? before : await findPort(usable);
        writePrivateJson(reservationFile(owner, chosen[name]), {
          dir: owner.dir,
          by: identify(process.pid),
        } satisfies Reservation);
      }
      writePrivateJson(file, { ...earlier, ...chosen });
      return chosen;
    },
    { signal: owner.signal },
  );
}

/**
 * Gives up what the part, or all below the directory, has reserved; a part keeps the numbers and asks for them again.
 */
export function releasePorts(owner: Omit<PortOwner, 'signal'>): void {
  const folder = join(owner.cacheDir, 'ports');
  if (!existsSync(folder)) return;
  for (const file of readdirSync(folder)) {
    const reservation = readJsonIfThere(join(folder, file)) as Reservation | undefined;
    if (`${reservation?.dir}/`.startsWith(`${owner.dir}/`)) rmSync(join(folder, file), { force: true });
  }
}

const reservationFile = (owner: Omit<PortOwner, 'signal'>, port: number) =>
  join(owner.cacheDir, 'ports', `${port}.json`);

function isReserved(owner: PortOwner, port: number): boolean {
  const reservation = readJsonIfThere(reservationFile(owner, port)) as Reservation | undefined;
  if (reservation === undefined || reservation.dir === owner.dir) return false;
  return existsSync(join(reservation.dir, 'handle.json')) || (reservation.by !== undefined && isAlive(reservation.by));
}

async function findPort(usable: (port: number) => Promise<boolean>): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT + 1);
    if (await usable(port)) return port;
  }
  throw new LabError(`no free port on 127.0.0.1 between ${LOWEST_PORT} and ${HIGHEST_PORT} in ${ATTEMPTS} attempts`);
}

function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer();
  server.once('error', () => resolve(false));
  server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  return promise;
}
