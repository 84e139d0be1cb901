import type { z } from 'zod';

import { droverFailure } from '../../runtime/failure.ts';
import { type OvsdbConnection, type OvsdbOptions, connectOvsdb, refusalFailure } from './ovsdb.ts';
import {
  type OvsBridge,
  type OvsClient,
  type OvsInterface,
  type OvsPort,
  type OvsView,
  type OvsdbRemote,
  database,
} from './types.ts';
import { databaseNames, failedOperation, selected, selects } from './wire.ts';

/** Connects to a host's Open vSwitch. The caller closes it. */
export const openOvs = async (remote: OvsdbRemote, options: OvsdbOptions, signal: AbortSignal): Promise<OvsClient> =>
  createOvsClient(await connectOvsdb(remote, options, signal));

export function createOvsClient(connection: OvsdbConnection): OvsClient {
  const { server } = connection;
  return {
    databases: async (signal) =>
      read(databaseNames, await connection.request('list_dbs', [], signal), 'list_dbs', server),
    view: async (signal) => {
      const answer = await connection.request('transact', [database, ...selects], signal);
      // The first operation that failed; those after it were not tried and are null.
      const failed = (Array.isArray(answer) ? answer : [])
        .map((one) => failedOperation.safeParse(one).data)
        .find((one) => one !== undefined);
      if (failed !== undefined) throw refusalFailure(failed, 'to read its bridges', server);
      return viewOf(read(selected, answer, 'transact', server));
    },
    close: () => connection.close(),
  };
}

function read<Schema extends z.ZodType>(
  schema: Schema,
  answer: unknown,
  method: string,
  server: string,
): z.output<Schema> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw droverFailure(
    'AnswerMalformed',
    `The answer of ${server} to ${method} has an unexpected ${issue?.path.join('.') || 'result'}: ${issue?.message ?? ''}`,
  );
}

/** Rows refer to each other by UUID; what they refer to is in the same transaction. */
function viewOf([switches, bridges, ports, interfaces]: z.output<typeof selected>): OvsView {
  const interfaceById = new Map(interfaces.rows.map(({ _uuid, ...rest }): [string, OvsInterface] => [_uuid, rest]));
  const portById = new Map(
    ports.rows.map((port): [string, OvsPort] => [
      port._uuid,
      { name: port.name, interfaces: found(port.interfaces, interfaceById) },
    ]),
  );
  return {
    version: switches.rows[0]?.ovs_version ?? null,
    bridges: bridges.rows.map((bridge): OvsBridge => ({
      name: bridge.name,
      datapathType: bridge.datapath_type,
      ports: found(bridge.ports, portById),
    })),
  };
}

const found = <Row>(ids: readonly string[], byId: ReadonlyMap<string, Row>): Row[] =>
  ids.flatMap((id) => byId.get(id) ?? []);
