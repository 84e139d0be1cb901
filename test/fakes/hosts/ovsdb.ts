import {
  type OvsdbConnection,
  type OvsdbOptions,
  type OvsdbRefusal,
  nameOf,
  refusalFailure,
  socketFailure,
} from '../../../activities/ovs/ovsdb.ts';
import { type OvsdbRemote, database } from '../../../activities/ovs/types.ts';
import type { BridgeRow } from '../../../lab/parts/ovs-bridges.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { observedAs } from '../../../runtime/telemetry/outside-calls.ts';
import type { VirtualClock } from '../../simulator/clock.ts';
import type { Network } from '../../simulator/network.ts';
import { type Service, createService } from '../service.ts';
import { within } from '../within.ts';

/** The OVSDB server of a host, with the database that ovs-vswitchd keeps there. */
export interface Ovsdb {
  service: Service;
  /** Makes these bridges, and only these, the host's. */
  setBridges(bridges: readonly BridgeRow[]): void;
  /** Plain data. */
  readonly bridges: readonly BridgeRow[];
  /** null: ovs-vswitchd has never run. */
  version: string | null;
  /** Names of its databases: other servers have others. */
  databases: readonly string[];
}

export function createOvsdb(bridges: readonly BridgeRow[]): Ovsdb {
  let current = bridges;
  return {
    service: createService(),
    setBridges: (next) => void (current = next),
    get bridges() {
      return current;
    },
    version: '3.1.0',
    databases: [database, '_Server'],
  };
}

export interface OvsdbConnectionOptions {
  clock: VirtualClock;
  network: Network;
  /**
   * The server that listens there; null: nothing comes back.
   *
   * @throws what connecting throws: no such name, a certificate that is not trusted
   */
  serverAt: (remote: OvsdbRemote, credential: OvsdbOptions['credential']) => Ovsdb | null;
}

/** As the real client has it. */
const defaultTimeouts = { connectMs: 4_000, answerMs: 8_000 };

/** A connection of which the real client's questions are asked: what goes wrong with it ends it. */
export async function connectFakeOvsdb(
  { clock, network, serverAt }: OvsdbConnectionOptions,
  remote: OvsdbRemote,
  options: OvsdbOptions,
  signal: AbortSignal,
): Promise<OvsdbConnection> {
  const { connectMs, answerMs } = { ...defaultTimeouts, ...options.timeouts };
  const server = `the OVSDB server ${nameOf(remote)}`;
  const fault = (code: string): Error => socketFailure(Object.assign(new Error(code), { code }), server);
  const cut = (): Error => fault('ECONNRESET');
  const late = (missing: string, limitMs: number) => (): Error =>
    droverFailure('OvsUnavailable', `${server}: ${missing} within ${limitMs / 1_000} s`);
  const endOf = (answer: { refused?: OvsdbRefusal }) =>
    ({ outcome: answer.refused === undefined ? 'ok' : 'refused', status: null, requestId: '' }) as const;

  const dial = async (): Promise<Ovsdb> => {
    const found = serverAt(remote, options.credential);
    if (found === null) return new Promise<never>(() => undefined);
    if (found.service.state === 'down') throw fault('ECONNREFUSED');
    // Where it is frozen the kernel takes the connection, but TLS needs the server.
    if (remote.protocol === 'ssl') await found.service.serving(cut);
    return found;
  };
  const connecting = (): Promise<Ovsdb> =>
    within(clock, connectMs, late('no connection', connectMs), signal, (bounded) =>
      network.call({ system: 'ovs', verb: 'connect' }, dial, bounded, cut),
    );
  const ovsdb = await observedAs(options.observe, { system: 'ovs', verb: 'connect' }, signal, connecting, () =>
    endOf({}),
  );

  const ended = new AbortController();
  const stopWatching = ovsdb.service.onChange((state) => {
    if (state === 'down') ended.abort(cut());
  });
  ended.signal.addEventListener('abort', stopWatching, { once: true });
  const ask = async (method: string, params: readonly unknown[], wanted: AbortSignal): Promise<Answer> => {
    wanted.throwIfAborted();
    ended.signal.throwIfAborted();
    const answer = async (): Promise<Answer> => {
      await ovsdb.service.serving(cut);
      return answerOf(ovsdb, method, params);
    };
    try {
      return await within(
        clock,
        answerMs,
        late(`no answer to ${method}`, answerMs),
        AbortSignal.any([wanted, ended.signal]),
        (bounded) => network.call({ system: 'ovs', verb: method }, answer, bounded, cut),
      );
    } catch (error) {
      ended.abort(error);
      throw error;
    }
  };
  return {
    server,
    async request(method, params, wanted) {
      const answer = await observedAs(
        options.observe,
        { system: 'ovs', verb: method },
        wanted,
        () => ask(method, params, wanted),
        endOf,
      );
      if (answer.refused !== undefined) throw refusalFailure(answer.refused, method, server);
      return answer.result;
    },
    close: () => ended.abort(new Error('the connection was closed')),
  };
}

type Answer = { result?: unknown; refused?: OvsdbRefusal };

function answerOf(ovsdb: Ovsdb, method: string, params: readonly unknown[]): Answer {
  if (method === 'list_dbs') return { result: ovsdb.databases };
  const [name, ...operations] = params;
  if (method !== 'transact' || name !== database) return { refused: { error: 'unknown database' } };
  const tables = tablesOf(ovsdb);
  const rows = ({ table, columns }: Select): Row[] =>
    (tables[table] ?? []).map((row) => Object.fromEntries(columns.map((column) => [column, row[column]])));
  return { result: (operations as Select[]).map((operation) => ({ rows: rows(operation) })) };
}

/** drover only reads. */
interface Select {
  table: string;
  columns: readonly string[];
}

type Row = Record<string, unknown>;

/** The rows as ovs-vsctl and ovs-vswitchd write them: each port with one interface, the bridge's own first. */
function tablesOf({ bridges, version }: Ovsdb): Record<string, Row[]> {
  const [bridgeRows, portRows, interfaceRows]: Row[][] = [[], [], []];
  for (const [index, { name, error, ports = [] }] of bridges.entries()) {
    const own = { name, type: 'internal', error };
    const all = [
      own,
      ...ports.map((port) => ({ type: '', error: undefined, ...(typeof port === 'string' ? { name: port } : port) })),
    ];
    const portIds = all.map((one, number) => {
      const [portId, interfaceId] = [
        ['uuid', `port-${index}-${number}`],
        ['uuid', `interface-${index}-${number}`],
      ];
      interfaceRows?.push({
        _uuid: interfaceId,
        ...one,
        error: setOf(one.error === undefined ? [] : [one.error]),
        ofport: one.error === undefined ? number + 1 : -1,
      });
      portRows?.push({ _uuid: portId, name: one.name, interfaces: interfaceId });
      return portId;
    });
    bridgeRows?.push({ name, datapath_type: '', ports: setOf(portIds) });
  }
  return {
    Open_vSwitch: [{ ovs_version: setOf(version === null ? [] : [version]) }],
    Bridge: bridgeRows ?? [],
    Port: portRows ?? [],
    Interface: interfaceRows ?? [],
  };
}

/** `<set>`: one value stands alone. */
const setOf = (items: readonly unknown[]): unknown => (items.length === 1 ? items[0] : ['set', items]);
