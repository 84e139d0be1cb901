import { type ErrorCode, errors } from '../../contracts/errors.ts';
import { systemClock } from '../../runtime/clock.ts';
import { forgetSecret, registerSecret } from '../../runtime/redaction.ts';
import type { CallEnd, ObserveCall, OutsideCall } from '../../runtime/telemetry/outside-calls.ts';
import {
  type ArrivedMessage,
  type OvsdbReply,
  type ScriptedOvsdb,
  startScriptedOvsdb,
} from '../../test/scripted-ovsdb.ts';
import { openHostPorts } from '../hypervisor/host-ports.ts';
import { type OvsCheckTools, checkOvs, judgeBridges, judgeServer } from './check-ovs.ts';
import type { OvsBridge, OvsInterface, OvsSettings } from './types.ts';

const never = new AbortController().signal;
const open: ScriptedOvsdb[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function serve(script: (arrived: ArrivedMessage) => OvsdbReply): Promise<ScriptedOvsdb> {
  const server = await startScriptedOvsdb(script);
  open.push(server);
  return server;
}

const observed = (observe: ObserveCall): OvsCheckTools => ({
  ...openHostPorts({ clock: systemClock, observe }),
  clock: systemClock,
});
const tools = observed(() => undefined);
const settingsFor = (port: number, rest: Partial<OvsSettings> = {}): OvsSettings => ({
  remote: `tcp:127.0.0.1:${port}`,
  credential: null,
  bridges: { required: ['br-int'], optional: [] },
  ...rest,
});

const view = [
  { rows: [{ ovs_version: '3.1.0' }] },
  { rows: [{ name: 'br-int', datapath_type: '', ports: ['uuid', 'p'] }] },
  { rows: [{ _uuid: ['uuid', 'p'], name: 'br-int', interfaces: ['uuid', 'i'] }] },
  { rows: [{ _uuid: ['uuid', 'i'], name: 'br-int', type: 'internal', error: ['set', []], ofport: 65534 }] },
];
/** A server that works, but for one method. */
const but =
  (method: string, reply: OvsdbReply) =>
  (arrived: ArrivedMessage): OvsdbReply =>
    arrived.method === method
      ? reply
      : arrived.method === 'list_dbs'
        ? { result: ['Open_vSwitch', '_Server'] }
        : { result: view };

const faults: [what: string, method: string, reply: OvsdbReply, code: string, observed: RegExp][] = [
  ['is cut', 'list_dbs', 'cut', 'OvsUnavailable', /the connection was cut before the answer was complete/u],
  [
    'is cut in the middle',
    'transact',
    'truncated',
    'OvsUnavailable',
    /the connection was cut before the answer was complete/u,
  ],
  ['is of another protocol', 'list_dbs', { raw: 'SMTP ready\r\n' }, 'AnswerMalformed', /no JSON object/u],
  [
    'is to another request',
    'list_dbs',
    { raw: '{"id":17,"result":[],"error":null}' },
    'AnswerMalformed',
    /answered a request that was not sent/u,
  ],
  [
    'has an id of another type',
    'list_dbs',
    { raw: '{"id":"1","result":["Open_vSwitch"],"error":null}' },
    'AnswerMalformed',
    /answered a request that was not sent/u,
  ],
  ['is no message', 'list_dbs', { raw: '{"hello":1}' }, 'AnswerMalformed', /neither a request nor an answer/u],
  [
    'is too large',
    'transact',
    { raw: `{"id":2,"result":"${'x'.repeat(17 * 1024 * 1024)}"}` },
    'AnswerMalformed',
    /more than 16777216 bytes/u,
  ],
  [
    'is of another shape',
    'list_dbs',
    { result: { databases: [] } },
    'AnswerMalformed',
    /to list_dbs has an unexpected result/u,
  ],
  [
    'lacks a column',
    'transact',
    { result: [view[0], { rows: [{ name: 'br-int' }] }, view[2], view[3]] },
    'AnswerMalformed',
    /to transact has an unexpected 1\.rows\.0/u,
  ],
  [
    'is a refusal',
    'transact',
    { error: { error: 'unknown database', details: 'no such database' } },
    'RequestRefused',
    /refused transact: unknown database: no such database/u,
  ],
  ['is a refusal in one word', 'list_dbs', { error: 'canceled' }, 'RequestRefused', /refused list_dbs: canceled/u],
  ['is a refusal of another shape', 'list_dbs', { error: [1] }, 'AnswerMalformed', /an error of another shape/u],
  [
    'refuses one operation',
    'transact',
    { result: [view[0], { error: 'syntax error', details: 'No table named Bridge.' }, null, null] },
    'RequestRefused',
    /refused to read its bridges: syntax error: No table named Bridge\./u,
  ],
];
test.each(faults)('an answer that %s: the check fails and says why', async (_, method, reply, code, observed) => {
  const { port } = await serve(but(method, reply));
  const [check, ...others] = await checkOvs(tools, 'node-1', settingsFor(port), never);
  expect(check).toMatchObject({ name: 'OvsReachable', code, observed: expect.stringMatching(observed) });
  expect(others).toEqual([
    {
      name: 'OvsBridge.br-int',
      outcome: 'skipped',
      expectation: 'bridge br-int exists and works',
      observed: 'Open vSwitch was not reached',
      code: null,
      durationMs: 0,
    },
  ]);
});

test('another server on that port', async () => {
  const { port } = await serve(() => ({ result: ['OVN_Southbound', '_Server'] }));
  expect(await checkOvs(tools, 'node-1', settingsFor(port), never)).toMatchObject([
    {
      name: 'OvsReachable',
      code: 'OvsDatabaseMissing',
      observed: expect.stringMatching(/^no database Open_vSwitch; there are OVN_Southbound, _Server\./u),
    },
    { outcome: 'skipped' },
  ]);
});

test('the server’s own questions are answered, its notifications are not', async () => {
  const { port, received } = await serve((arrived) => {
    if (arrived.method === 'list_dbs')
      return {
        raw: '{"id":null,"method":"update","params":["x",{}]} {"id":"probe","method":"echo","params":["are you there"]}',
      };
    return arrived.id === 'probe' ? { raw: '{"id":1,"result":["OVN"],"error":null}' } : 'cut';
  });
  await expect(checkOvs(tools, 'node-1', settingsFor(port), never)).resolves.toMatchObject([
    { code: 'OvsDatabaseMissing' },
    { outcome: 'skipped' },
  ]);
  expect(received.slice(1)).toEqual([{ id: 'probe', result: ['are you there'], error: null }]);
});

test('settings that are none are a finding', async () => {
  expect(await checkOvs(tools, 'node-1', { ...settingsFor(1), remote: 'unix:/run/{host}.sock' }, never)).toMatchObject([
    { expectation: 'Open vSwitch answers at unix:/run/node-1.sock', code: 'InvalidConfiguration' },
    { outcome: 'skipped' },
  ]);
  expect(await checkOvs(tools, 'node-1', { ...settingsFor(1), remote: 'ssl:127.0.0.1:1' }, never)).toMatchObject([
    { code: 'InvalidConfiguration', observed: expect.stringMatching(/needs a CA/u) },
    { outcome: 'skipped' },
  ]);
  const credential = { ca: 'none', certificate: 'none', key: 'the-key' };
  expect(
    await checkOvs(tools, 'node-1', { ...settingsFor(1), remote: 'ssl:127.0.0.1:1', credential }, never),
  ).toMatchObject([
    { code: 'InvalidConfiguration', observed: expect.not.stringContaining('the-key') },
    { outcome: 'skipped' },
  ]);
});

test('every call is told, and nothing secret is in what was observed', async () => {
  registerSecret('hunter2hunter2');
  try {
    const { port } = await serve(but('transact', { error: { error: 'no', details: 'hunter2hunter2' } }));
    const told: [OutsideCall, CallEnd][] = [];
    const [check] = await checkOvs(
      observed((call, end) => told.push([call, end])),
      'node-1',
      settingsFor(port),
      never,
    );
    expect(check?.observed).toContain('[redacted]');
    expect(told.map(([{ system, verb }, { outcome, status }]) => [system, verb, outcome, status])).toEqual([
      ['ovs', 'connect', 'ok', null],
      ['ovs', 'list_dbs', 'ok', null],
      ['ovs', 'transact', 'refused', null],
    ]);
  } finally {
    forgetSecret('hunter2hunter2');
  }
});

describe('judge', () => {
  const works = (name: string): OvsInterface => ({ name, type: 'internal', error: null, ofport: 65534 });
  const portOf = (...interfaces: OvsInterface[]): OvsBridge['ports'][number] => ({
    name: interfaces[0]?.name ?? '',
    interfaces,
  });
  const bridge = (name: string, own: Partial<OvsInterface> = {}, ...others: OvsInterface[]): OvsBridge => ({
    name,
    datapathType: '',
    ports: [{ ...works(name), ...own }, ...others].map((one) => portOf(one)),
  });

  const gone = { error: 'could not open network device tap0 (No such device)', ofport: -1 };

  /** What was observed, with what to do about a failure. */
  const found = (observed: string, code: ErrorCode | null) =>
    code === null
      ? { outcome: 'passed', observed, code }
      : { outcome: 'failed', observed: `${observed}. ${errors[code].advice}`, code };

  type Row = [what: string, bridges: OvsBridge[], code: ErrorCode | null, observed: string];

  const required: Row[] = [
    ['there', [bridge('br-int')], null, 'it has 1 port'],
    [
      'there with others',
      [bridge('br-ex'), bridge('br-int', {}, works('patch-1'), works('vxlan-1'))],
      null,
      'it has 3 ports',
    ],
    ['not configured yet by ovs-vswitchd', [bridge('br-int', { ofport: null })], null, 'it has 1 port'],
    [
      'missing beside others',
      [bridge('br-tun'), bridge('br-ex')],
      'OvsBridgeMissing',
      'no such bridge; there are br-ex, br-tun',
    ],
    ['missing beside one', [bridge('br-ex')], 'OvsBridgeMissing', 'no such bridge; there is br-ex'],
    ['missing altogether', [], 'OvsBridgeMissing', 'no such bridge; there is none at all'],
    ['of another case', [bridge('BR-INT')], 'OvsBridgeMissing', 'no such bridge; there is BR-INT'],
    [
      'with an error of its own',
      [bridge('br-int', { error: 'could not add network device br-int (File exists)', ofport: null })],
      'OvsBridgeFaulty',
      'its own interface: could not add network device br-int (File exists)',
    ],
    [
      'without an OpenFlow port',
      [bridge('br-int', { ofport: -1 })],
      'OvsBridgeFaulty',
      'its own interface: ovs-vswitchd could not make it',
    ],
    ['with an empty error', [bridge('br-int', { error: '' })], null, 'it has 1 port'],
    [
      'without an interface of its own',
      [{ ...bridge('br-int'), ports: [portOf(works('eth0'))] }],
      'OvsBridgeFaulty',
      'it has no interface of its own; it has 1 port',
    ],
    [
      'with what a guest left behind',
      [bridge('br-int', {}, { ...works('tap0'), ...gone })],
      null,
      'it has 2 ports; 1 of its interfaces in error: tap0: could not open network device tap0 (No such device)',
    ],
    [
      'with a bond of which one is missing',
      [
        {
          ...bridge('br-int'),
          ports: [portOf(works('br-int')), portOf(works('eth0'), { ...works('eth1'), error: 'no such device' })],
        },
      ],
      null,
      'it has 2 ports; 1 of its interfaces in error: eth1: no such device',
    ],
  ];
  test.each(required)('a required bridge %s', (_, bridges, code, observed) => {
    expect(judgeBridges({ required: ['br-int'], optional: [] }, { version: '3.1.0', bridges })).toEqual([
      { name: 'OvsBridge.br-int', expectation: 'bridge br-int exists and works', ...found(observed, code) },
    ]);
  });

  const optional: Row[] = [
    ['missing', [bridge('br-int')], null, 'there is none'],
    ['there', [bridge('br-provider')], null, 'it has 1 port'],
    [
      'with an error',
      [bridge('br-provider', { ofport: -1 })],
      'OvsBridgeFaulty',
      'its own interface: ovs-vswitchd could not make it',
    ],
  ];
  test.each(optional)('an optional bridge %s', (_, bridges, code, observed) => {
    expect(judgeBridges({ required: [], optional: ['br-provider'] }, { version: null, bridges })).toEqual([
      {
        name: 'OvsBridge.br-provider',
        expectation: 'bridge br-provider, where it exists, works',
        ...found(observed, code),
      },
    ]);
  });

  test('what is observed stays short', () => {
    const many = Array.from({ length: 500 }, (_, index) => ({ ...works(`tap${index}`), ...gone }));
    const [finding] = judgeBridges(
      { required: ['br-int'], optional: [] },
      { version: null, bridges: [bridge('br-int', {}, ...many)] },
    );
    expect(finding?.observed).toContain('it has 501 ports; 500 of its interfaces in error: tap0: ');
    expect(finding?.observed).toContain('and 495 more');
    const [long] = judgeBridges(
      { required: ['br-int'], optional: [] },
      { version: null, bridges: [bridge('br-int', { error: 'x'.repeat(5_000) })] },
    );
    expect(long?.observed.length).toBeLessThanOrEqual(900);
  });

  const servers: [
    what: string,
    databases: string[],
    version: string | null | undefined,
    code: ErrorCode | null,
    observed: string,
  ][] = [
    ['Open vSwitch', ['Open_vSwitch', '_Server'], '3.1.0', null, 'version 3.1.0, 1 bridge'],
    [
      'Open vSwitch that has never run',
      ['Open_vSwitch'],
      null,
      null,
      'a version that ovs-vswitchd has not reported yet, 1 bridge',
    ],
    [
      'OVN',
      ['OVN_Northbound', '_Server'],
      undefined,
      'OvsDatabaseMissing',
      'no database Open_vSwitch; there are OVN_Northbound, _Server',
    ],
  ];
  test.each(servers)('the server of %s', (_, databases, version, code, observed) => {
    const view = version === undefined ? null : { version, bridges: [bridge('br-int')] };
    expect(judgeServer('ssl:node-1:6640', databases, view)).toEqual({
      name: 'OvsReachable',
      expectation: 'Open vSwitch answers at ssl:node-1:6640',
      ...found(observed, code),
    });
  });
});
