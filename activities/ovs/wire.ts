import { z } from 'zod';

/**
 * What an OVSDB server may send: requests and notifications of its own, and answers. The real one leaves out `result`
 * where it refuses, which RFC 7047, section 4 has as null.
 */
export const message = z.union([
  z.object({ method: z.string(), params: z.unknown().optional(), id: z.unknown().optional() }),
  z
    .object({ id: z.unknown(), result: z.unknown().optional(), error: z.unknown().optional() })
    .refine((answer) => 'result' in answer || 'error' in answer, 'neither result nor error'),
]);

/** `<error>`; JSON-RPC itself also allows a bare text. */
export const refusal = z.union([
  z.object({ error: z.string(), details: z.string().optional() }),
  z.string().transform((error) => ({ error, details: undefined })),
]);

export const databaseNames = z.array(z.string());

const uuid = z.tuple([z.literal('uuid'), z.string()]).transform(([, id]) => id);

/** `<set>`: one value alone, or `["set", [...]]`. */
const setOf = <Wire extends z.ZodType>(atom: Wire) =>
  z.union([
    z.tuple([z.literal('set'), z.array(atom)]).transform(([, items]) => items),
    atom.transform((item) => [item]),
  ]) as z.ZodType<z.output<Wire>[]>;

/** A column that may be empty is a set of at most one. */
const optional = <Wire extends z.ZodType>(atom: Wire) =>
  setOf(atom).transform((items): z.output<Wire> | null => items[0] ?? null);

const rows = <Row extends z.ZodType>(row: Row) => z.object({ rows: z.array(row) });

const columns = {
  Open_vSwitch: { ovs_version: optional(z.string()) },
  Bridge: { name: z.string(), datapath_type: z.string(), ports: setOf(uuid) },
  Port: { _uuid: uuid, name: z.string(), interfaces: setOf(uuid) },
  Interface: {
    _uuid: uuid,
    name: z.string(),
    type: z.string(),
    error: optional(z.string()),
    ofport: optional(z.number()),
  },
} as const;

/** The operations of a transaction that reads what a view needs. */
export const selects: readonly object[] = Object.entries(columns).map(([table, shape]) => ({
  op: 'select',
  table,
  where: [],
  columns: Object.keys(shape),
}));

/** Their answers, in the same order. */
export const selected = z.tuple([
  rows(z.object(columns.Open_vSwitch)),
  rows(z.object(columns.Bridge)),
  rows(z.object(columns.Port)),
  rows(z.object(columns.Interface)),
]);

/** An operation of a transaction that failed, in the place of its answer. */
export const failedOperation = z.object({ error: z.string(), details: z.string().optional() });
