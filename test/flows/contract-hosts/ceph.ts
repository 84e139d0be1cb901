import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openCeph } from '../../../activities/ceph/client.ts';
import { ceph } from '../../../lab/parts/ceph-access.ts';
import { killManager, restartManager, setTokenLifetime, startOsd, stopOsd } from '../../../lab/parts/ceph-faults.ts';
import type { CephHandle } from '../../../lab/parts/ceph-handle.ts';
import { systemClock } from '../../../runtime/clock.ts';
import type { CephSubject } from '../../contracts/hosts/ceph.ts';

/** The lab's Ceph. @param dir for files of the tests */
export function cephOfLab(handle: CephHandle, dir: string): CephSubject {
  const run = async (...args: string[]): Promise<void> => void (await ceph(handle, args));
  return {
    clock: systemClock,
    run: (body) => body(),
    openCeph: (settings, options = {}) => openCeph(settings, { clock: systemClock, ...options }),
    settings: {
      dashboards: [handle.dashboardUrl],
      user: handle.dashboardUser,
      password: readFileSync(handle.dashboardPasswordFile, 'utf8'),
      ca: null,
      pools: [handle.pool],
      toleratedChecks: [],
    },
    async health() {
      const { status, checks } = JSON.parse(await ceph(handle, ['health', '--format', 'json'])) as {
        status: string;
        checks: Record<string, unknown>;
      };
      return { status, checks: Object.keys(checks) };
    },
    async createPool(name, application) {
      await run('osd', 'pool', 'create', name, '8');
      if (application !== null) await run('osd', 'pool', 'application', 'enable', name, application);
    },
    deletePool: (name) => run('osd', 'pool', 'delete', name, name, '--yes-i-really-really-mean-it'),
    stopOsd: () => stopOsd(handle),
    startOsd: async () => void (await startOsd(handle)),
    setRatiosOutOfOrder: (areSo) => run('osd', 'set-nearfull-ratio', areSo ? '0.99' : '0.85'),
    setNoOut: (isSet) => run('osd', isSet ? 'set' : 'unset', 'noout'),
    mute: (check) => run('health', 'mute', check),
    killManager: () => killManager(handle),
    restartManager: async () => void (await restartManager(handle)),
    setTokenLifetime: (seconds) => setTokenLifetime(handle, seconds),
    async addUser(name, password, role) {
      const file = join(dir, `password-of-${name}`);
      writeFileSync(file, password, { mode: 0o600 });
      await run('dashboard', 'ac-user-create', name, '-i', file, role);
    },
  };
}
