import type { HostProfile } from '../../lab/openstack/host-profile.ts';
import type { World } from './world.ts';

/**
 * Hosts that the tests of a file empty, each for one test at a time, so that tests which do not concern each other run
 * side by side.
 */
export interface HostPool {
  /** Runs `test` with a fresh host of its own; waits while all are taken. */
  with<Result>(profile: Partial<HostProfile>, test: (host: string) => Promise<Result>): Promise<Result>;
}

/** @param world is opened after the pool is made, in beforeAll */
export function openHostPool(world: () => World, hosts: readonly string[]): HostPool {
  const free = [...hosts];
  const waiting: ((host: string) => void)[] = [];
  const take = (): Promise<string> => {
    const host = free.shift();
    return host === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(host);
  };
  const giveBack = (host: string): void => {
    const next = waiting.shift();
    if (next === undefined) free.push(host);
    else next(host);
  };
  return {
    async with(profile, test) {
      const host = await take();
      try {
        return await test(await world().freshHost(host, profile));
      } finally {
        giveBack(host);
      }
    },
  };
}
