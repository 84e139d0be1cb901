import { createFakeHosts } from '../../fakes/hosts/hosts.ts';
import { cephContract, type CephSubject } from './ceph.ts';
import { openVirtual } from './subject.ts';

function open(): CephSubject {
  const virtual = openVirtual();
  const { ceph, openCeph, cephSettings } = createFakeHosts(virtual);
  const [manager] = ceph.managers.values();
  const report = (isReported: boolean, type: string, severity: string, message: string): Promise<void> =>
    Promise.resolve(isReported ? ceph.report({ type, severity, message }) : ceph.clear(type));
  return {
    ...virtual,
    openCeph,
    settings: cephSettings,
    health: () => Promise.resolve({ status: ceph.status, checks: ceph.checks.map(({ type }) => type) }),
    createPool: (name, application) =>
      Promise.resolve(
        void ceph.pools.set(name, { applications: application === null ? [] : [application], images: [] }),
      ),
    deletePool: (name) => Promise.resolve(void ceph.pools.delete(name)),
    stopOsd: () => Promise.resolve(ceph.stopOsd()),
    startOsd: () => Promise.resolve(ceph.startOsd()),
    setRatiosOutOfOrder: (areSo) => report(areSo, 'OSD_OUT_OF_ORDER_FULL', 'HEALTH_ERR', 'full ratio(s) out of order'),
    setNoOut: (isSet) => report(isSet, 'OSDMAP_FLAGS', 'HEALTH_WARN', 'noout flag(s) set'),
    mute: (check) => Promise.resolve(ceph.mute(check)),
    killManager: () => Promise.resolve(manager?.kill()),
    restartManager: () => Promise.resolve(manager?.start()),
    setTokenLifetime: (seconds) => Promise.resolve(void (ceph.tokenLifetimeMs = seconds * 1_000)),
    addUser: (name, password, role) => Promise.resolve(void ceph.users.set(name, { password, role })),
  };
}

describe('Ceph, the fake', () => {
  let subject: CephSubject;
  beforeEach(() => void (subject = open()));
  cephContract(() => subject, 5_000);
});
