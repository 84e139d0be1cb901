import { createOvsClient } from '../../../activities/ovs/client.ts';
import { judgeBridges, judgeServer } from '../../../activities/ovs/check-ovs.ts';
import { addressOf, remoteOf, splitObjects } from '../../../activities/ovs/ovsdb.ts';
import type { OvsClient } from '../../../activities/ovs/types.ts';
import { type Edge, edge } from '../edge.ts';
import { near, nearJson, nearText } from '../hostile.ts';

const never = new AbortController().signal;

/** A server that answers everything with the same. */
const answering = (result: unknown): OvsClient =>
  createOvsClient({ server: 'tcp:node-1:6640', request: () => Promise.resolve(result), close: () => undefined });

const answer = { id: 1, result: ['Open_vSwitch'], error: null };
const echo = { id: 'echo', method: 'echo', params: [] };

const empty = ['set', []];
const view = [
  { rows: [{ ovs_version: '3.1.0' }] },
  {
    rows: [
      {
        name: 'br-int',
        datapath_type: '',
        ports: [
          'set',
          [
            ['uuid', 'p1'],
            ['uuid', 'p2'],
          ],
        ],
      },
      { name: 'br-ex', datapath_type: 'netdev', ports: ['uuid', 'p3'] },
    ],
  },
  {
    rows: [
      { _uuid: ['uuid', 'p1'], name: 'br-int', interfaces: ['uuid', 'i1'] },
      { _uuid: ['uuid', 'p2'], name: 'bond0', interfaces: ['set', [['uuid', 'i1']]] },
      { _uuid: ['uuid', 'p3'], name: 'br-ex', interfaces: empty },
    ],
  },
  {
    rows: [
      { _uuid: ['uuid', 'i1'], name: 'br-int', type: 'internal', error: empty, ofport: 65534 },
      { _uuid: ['uuid', 'i2'], name: 'tap0', type: '', error: 'no such device', ofport: -1 },
    ],
  },
];
const refused = [view[0], { error: 'syntax error', details: 'No table named Bridge.' }, null, null];

export const ovsEdges: readonly Edge[] = [
  edge({
    name: 'OVSDB: bytes',
    inputs: nearJson(answer, echo),
    failures: ['AnswerMalformed'],
    read: (text) => splitObjects(200_000)(Buffer.from(text)),
    // They are read further, and may be nested deeper than JSON is written.
    holds: (objects) => Array.isArray(objects),
  }),
  edge({
    name: 'OVSDB: names of databases',
    inputs: near(['Open_vSwitch', '_Server'], ['OVN_Northbound']),
    failures: ['AnswerMalformed'],
    read: async (result) => judgeServer('tcp:node-1:6640', await answering(result).databases(never), null),
  }),
  edge({
    name: 'OVSDB: bridges, ports and interfaces',
    inputs: near(view, refused),
    failures: ['AnswerMalformed', 'RequestRefused'],
    read: async (result) =>
      judgeBridges({ required: ['br-int', 'br-ex'], optional: ['br-provider'] }, await answering(result).view(never)),
    holds: (findings) => (findings as { observed: string }[]).every(({ observed }) => observed.length <= 900),
  }),
  edge({
    name: 'OVSDB: the address of a host',
    inputs: nearText('tcp:{host}:6640', 'ssl:{host}.example:6640', 'tcp:[::1]:6640'),
    failures: ['InvalidConfiguration'],
    read: (template) => remoteOf(addressOf(template, 'node-1')),
  }),
];
