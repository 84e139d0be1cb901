import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type DebianPrograms, ensureDebianPrograms } from '../debian.ts';
import { LabError } from '../lab-error.ts';
import { defaultFleet } from '../openstack/host-profile.ts';
import type { CommandSpec, LabContext, Part } from '../part.ts';
import { ensureAuthority, ensureCertificate } from '../pki.ts';
import { missingPrograms, systemProgram } from '../system-programs.ts';
import { defaultBridges, listDatabases, setBridges } from './ovs-bridges.ts';
import type { OvsHandle, OvsHost } from './ovs-handle.ts';

const MINUTE_MS = 60_000;

export const ovsPrograms: DebianPrograms = {
  what: 'Open vSwitch',
  packages: ['openvswitch-common', 'openssl'],
  missing: () => missingPrograms('ovsdb-server', 'ovsdb-tool', 'ovsdb-client', 'openssl'),
  usually: '10 s',
};

/** Where the package openvswitch-switch, which would also start a switch, has the schema of its database. */
const INSTALLED_SCHEMA = '/usr/share/openvswitch/vswitch.ovsschema';

export interface OvsOptions {
  /** One server for each; default: the hosts of a new OpenStack. */
  readonly hosts?: readonly string[];
  /** Loopback addresses by host, for hosts that have one of their own; default 127.0.0.1. */
  readonly addresses?: Readonly<Record<string, string>>;
}

interface Built {
  /** Path of the schema of the database Open_vSwitch. */
  readonly schema: string;
}

/**
 * Per host, the ovsdb-server of Open vSwitch with the database and the bridges that a hypervisor has. There is no
 * switch below.
 */
export function ovsPart(options: OvsOptions = {}): Part<OvsHandle, Built> {
  return {
    name: 'ovs',
    title: 'Open vSwitch databases',
    usually: { cold: '20 s', warm: '1 s' },
    async build(context) {
      await ensureDebianPrograms(context, ovsPrograms);
      return { schema: await ensureSchema(context) };
    },
    start: (context, { schema }) => start(context, schema, options),
    describe: ({ hosts }) => ({
      urls: Object.fromEntries(Object.entries(hosts).map(([name, { ssl }]) => [name, ssl])),
      exports: {},
    }),
  };
}

/** The schema alone, out of its package; that needs no root. */
async function ensureSchema(context: LabContext): Promise<string> {
  if (existsSync(INSTALLED_SCHEMA)) return INSTALLED_SCHEMA;
  const folder = join(context.cacheDir, 'ovs-schema');
  const schema = join(folder, 'vswitch.ovsschema');
  if (existsSync(schema)) return schema;
  return context.withLock('ovs-schema', async () => {
    if (existsSync(schema)) return schema;
    rmSync(folder, { recursive: true, force: true });
    const work = mkdtempSync(join(context.cacheDir, 'ovs-schema-'));
    try {
      await context.step(
        'fetching the schema of Open vSwitch (package openvswitch-switch, not installed)',
        '2 s',
        async () => {
          await context.exec({
            command: 'apt-get',
            args: ['-q', 'download', 'openvswitch-switch'],
            cwd: work,
            timeoutMs: 5 * MINUTE_MS,
          });
          await context.exec({
            command: 'sh',
            args: ['-c', 'dpkg-deb --extract openvswitch-switch_*.deb package'],
            cwd: work,
            timeoutMs: MINUTE_MS,
          });
        },
      );
      const unpacked = join(work, 'package', INSTALLED_SCHEMA);
      if (!existsSync(unpacked))
        throw new LabError(
          'the package openvswitch-switch has no vswitch.ovsschema; install it: sudo apt-get install --no-install-recommends openvswitch-switch',
        );
      renameSync(join(unpacked, '..'), folder);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
    return schema;
  });
}

async function start(
  context: LabContext,
  schema: string,
  { hosts: names = Object.keys(defaultFleet), addresses = {} }: OvsOptions,
): Promise<OvsHandle> {
  const { dir } = context;
  const run = (command: CommandSpec): Promise<string> => context.exec(command);
  const pki = join(dir, 'pki');
  const ca = await ensureAuthority(run, pki);
  const client = await ensureCertificate(run, pki, ca, { name: 'drover', usage: 'clientAuth' });
  const ports = await context.ports(...names.flatMap((name) => [`${name}-tcp`, `${name}-ssl`]));
  const hosts: Record<string, OvsHost> = {};
  await Promise.all(
    names.map(async (name) => {
      const [tcp, ssl] = [ports[`${name}-tcp`], ports[`${name}-ssl`]];
      const address = addresses[name] ?? '127.0.0.1';
      const host = (hosts[name] = { tcp: `tcp:${address}:${tcp}`, ssl: `ssl:${address}:${ssl}` });
      const { certificateFile, keyFile } = await ensureCertificate(run, pki, ca, {
        name,
        names: [`DNS:${name}`, `IP:${address}`],
        usage: 'serverAuth',
      });
      const database = join(dir, `${name}.db`);
      const isNew = !existsSync(database);
      if (isNew)
        await context.exec({ command: 'ovsdb-tool', args: ['create', database, schema], timeoutMs: MINUTE_MS });
      await context.spawn({
        name: serviceOf(name),
        command: systemProgram('ovsdb-server'),
        args: [
          database,
          `--remote=ptcp:${tcp}:${address}`,
          `--remote=pssl:${ssl}:${address}`,
          `--private-key=${keyFile}`,
          `--certificate=${certificateFile}`,
          `--ca-cert=${ca.certificateFile}`,
          // Its control socket would be a path that may be too long; the lab does not use it.
          '--unixctl=none',
          '-vconsole:info',
          '-vsyslog:off',
        ],
        ready: (signal) => ovsdbServes(host, signal),
      });
      if (isNew) await setBridges(host, defaultBridges);
    }),
  );
  return { dir, hosts, caFile: ca.certificateFile, client };
}

export const serviceOf = (host: string): string => `ovsdb-${host}`;

export const ovsdbServes = async (host: OvsHost, signal: AbortSignal): Promise<boolean> =>
  (await listDatabases(host, signal)).split('\n').includes('Open_vSwitch');
