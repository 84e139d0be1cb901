import { randomBytes } from 'node:crypto';
import { rmSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type DebianPrograms, ensureDebianPrograms } from '../debian.ts';
import type { LabContext, Part } from '../part.ts';
import { ensurePrivateDirectory, writePrivateFile } from '../private-files.ts';
import { missingPrograms, systemProgram } from '../system-programs.ts';
import { cephConfig, type CephPorts, keyring, makeKeys, monitorAddress, newIdentity } from './ceph-config.ts';
import type { CephHandle } from './ceph-handle.ts';
import { dashboardServes, osdServes } from './ceph-access.ts';

const MINUTE_MS = 60_000;

/** Where Debian has the manager's modules. */
const MODULES = '/usr/share/ceph/mgr';
/**
 * The dashboard, and those that every manager of Ceph 16 runs. A manager loads whatever it finds before it serves; all
 * that Debian has takes twice as long.
 */
const NEEDED_MODULES = [
  'mgr_module.py',
  'mgr_util.py',
  'dashboard',
  'balancer',
  'crash',
  'devicehealth',
  'orchestrator',
  'pg_autoscaler',
  'progress',
  'rbd_support',
  'status',
  'telemetry',
  'volumes',
];
const USER = 'drover';
const POOL = 'vms';
const CLIENT = 'libvirt';

export const cephPrograms: DebianPrograms = {
  what: 'Ceph',
  packages: ['ceph-mon', 'ceph-osd', 'ceph-mgr', 'ceph-mgr-dashboard', 'ceph-common'],
  missing: () =>
    missingPrograms('ceph', 'ceph-mon', 'ceph-osd', 'ceph-mgr', 'monmaptool', 'rbd', `${MODULES}/dashboard/module.py`),
  usually: '1 min',
};

/**
 * A Ceph cluster of one monitor, one manager with its dashboard and one OSD whose objects are in memory, so each start
 * makes a new one: about 340 MB when idle, and what is written to images.
 */
export const cephPart: Part<CephHandle> = {
  name: 'ceph',
  title: 'Ceph (mon, mgr with dashboard, osd)',
  usually: { cold: '1 min', warm: '7 s' },
  build: (context) => ensureDebianPrograms(context, cephPrograms),
  start,
  describe: (handle) => ({ urls: { Dashboard: handle.dashboardUrl }, exports: { CEPH_CONF: handle.confFile } }),
};

async function start(context: LabContext): Promise<CephHandle> {
  const { dir } = context;
  for (const name of ['mon', 'mgr', 'mgr-modules', 'osd', 'run']) {
    rmSync(join(dir, name), { recursive: true, force: true });
    ensurePrivateDirectory(join(dir, name));
  }
  for (const name of NEEDED_MODULES) symlinkSync(join(MODULES, name), join(dir, 'mgr-modules', name));
  const ports: CephPorts = await context.ports('monitorV1', 'monitorV2', 'dashboard');
  const identity = newIdentity();
  const keys = makeKeys();
  const password = randomBytes(18).toString('base64url');
  const handle: CephHandle = {
    dir,
    confFile: join(dir, 'ceph.conf'),
    dashboardUrl: `http://127.0.0.1:${ports.dashboard}`,
    dashboardUser: USER,
    dashboardPasswordFile: join(dir, 'dashboard.password'),
    monitor: { host: '127.0.0.1', port: ports.monitorV1 },
    pool: POOL,
    client: { name: CLIENT, keyFile: join(dir, 'libvirt.key') },
  };
  writePrivateFile(handle.confFile, cephConfig(dir, identity, ports));
  writePrivateFile(join(dir, 'keyring'), `${keyring(keys)}\n`);
  writePrivateFile(handle.dashboardPasswordFile, password);
  writePrivateFile(handle.client.keyFile, keys['client.libvirt']);

  const env = { CEPH_CONF: handle.confFile };
  const exec = (command: string, args: readonly string[], input?: object) =>
    context.exec({
      command,
      args,
      env,
      timeoutMs: 2 * MINUTE_MS,
      ...(input === undefined ? {} : { input: JSON.stringify(input) }),
    });
  const daemon = (name: string, id: string, ready: (signal: AbortSignal) => Promise<boolean>) =>
    context.spawn({
      name,
      command: systemProgram(`ceph-${name}`),
      args: ['-i', id, '-f'],
      env,
      ready,
      readyTimeoutMs: 5 * MINUTE_MS,
    });
  const plan = {
    conf: handle.confFile,
    osdUuid: identity.osdUuid,
    dashboardPort: ports.dashboard,
    user: USER,
    password,
    pool: POOL,
  };
  // Debian's Python, which has Ceph's modules.
  const seed = (when: string) =>
    exec('/usr/bin/python3', [join(context.checkoutDir, 'lab', 'ceph', 'seed_cluster.py'), when], plan);

  const monmap = join(dir, 'run', 'monmap');
  // Only a map can give a monitor other ports than Ceph's own.
  await exec('monmaptool', [
    '--create',
    '--clobber',
    '--addv',
    'a',
    monitorAddress(ports),
    '--fsid',
    identity.fsid,
    '--set-min-mon-release',
    '16',
    '--enable-all-features',
    monmap,
  ]);
  await exec(systemProgram('ceph-mon'), ['-i', 'a', '--mkfs', '--monmap', monmap, '--keyring', join(dir, 'keyring')]);
  await daemon('mon', 'a', (signal) => accepts(ports.monitorV2, signal));
  await seed('before-daemons');
  await Promise.all([
    daemon('mgr', 'x', (signal) => dashboardServes(handle, signal)),
    exec(systemProgram('ceph-osd'), ['-i', '0', '--mkfs']).then(() =>
      daemon('osd', '0', (signal) => osdServes(handle, signal)),
    ),
  ]);
  await seed('after-daemons');
  return handle;
}

async function accepts(port: number, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ port, host: '127.0.0.1', signal });
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}
