import { LabError } from '../lab-error.ts';
import { runCommand } from '../run-command.ts';
import type { OvsHost } from './ovs-handle.ts';

const TIMEOUT_SECONDS = 10;

/** A bridge as ovs-vsctl would make it, and what ovs-vswitchd would say of it. */
export interface BridgeRow {
  readonly name: string;
  /** Of the bridge's own interface. */
  readonly error?: string;
  /** Names of more ports; each has one interface. */
  readonly ports?: readonly (string | { readonly name: string; readonly error: string })[];
}

/** The bridges that a host of the lab has at first. */
export const defaultBridges: readonly BridgeRow[] = [
  { name: 'br-int', ports: ['patch-br-ex'] },
  { name: 'br-ex', ports: ['eth0', 'patch-br-int'] },
];

type Operation = Readonly<Record<string, unknown>>;

/** Makes these bridges, and only these, the host's. No ovs-vswitchd runs: for its clients a bridge is a row. */
export async function setBridges(host: OvsHost, bridges: readonly BridgeRow[]): Promise<void> {
  const removed = ['Open_vSwitch', 'Bridge', 'Port', 'Interface'].map((table): Operation => ({
    op: 'delete',
    table,
    where: [],
  }));
  const inserted = bridges.flatMap(({ name, error, ports = [] }, index): Operation[] => {
    const all = [
      { name, type: 'internal', ...(error === undefined ? {} : { error }) },
      ...ports.map((port) => (typeof port === 'string' ? { name: port } : port)),
    ];
    const rows = all.flatMap((one, number): Operation[] => [
      insert('Interface', `i${index}_${number}`, { ofport: 'error' in one ? -1 : number + 1, ...one }),
      insert('Port', `p${index}_${number}`, { name: one.name, interfaces: named(`i${index}_${number}`) }),
    ]);
    return [
      ...rows,
      insert('Bridge', `b${index}`, {
        name,
        fail_mode: 'secure',
        ports: ['set', all.map((_, number) => named(`p${index}_${number}`))],
      }),
    ];
  });
  const root = insert('Open_vSwitch', 'root', {
    bridges: ['set', bridges.map((_, index) => named(`b${index}`))],
    ovs_version: '3.1.0',
  });
  const answer = await ovsdbClient([
    'transact',
    host.tcp,
    JSON.stringify(['Open_vSwitch', ...removed, ...inserted, root]),
  ]);
  const failed = (JSON.parse(answer) as ({ error?: string; details?: string } | null)[]).find(
    (one) => one?.error !== undefined,
  );
  if (failed !== undefined && failed !== null)
    throw new LabError(`${host.tcp} refuses these bridges: ${failed.error}: ${failed.details}`);
}

/** The names of the server's databases, one on each line. */
export const listDatabases = (host: OvsHost, signal?: AbortSignal): Promise<string> =>
  ovsdbClient(['list-dbs', host.tcp], signal);

/** Open vSwitch's own client. */
const ovsdbClient = (args: readonly string[], signal?: AbortSignal): Promise<string> =>
  runCommand(
    { command: 'ovsdb-client', args: [`--timeout=${TIMEOUT_SECONDS}`, ...args], timeoutMs: 2_000 * TIMEOUT_SECONDS },
    signal,
  );

const insert = (table: string, id: string, row: object): Operation => ({ op: 'insert', table, 'uuid-name': id, row });
const named = (id: string): readonly string[] => ['named-uuid', id];
