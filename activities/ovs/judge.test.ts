import { errors, type ErrorCode } from '../../contracts/errors.ts';
import { judgeBridges, judgeServer } from './judge.ts';
import type { OvsBridge, OvsInterface } from './types.ts';

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

/** What was seen, with what to do about a failure. */
const found = (seen: string, code: ErrorCode | null) =>
  code === null
    ? { outcome: 'passed', seen, code }
    : { outcome: 'failed', seen: `${seen}. ${errors[code].advice}`, code };

type Row = [what: string, bridges: OvsBridge[], code: ErrorCode | null, seen: string];

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
test.each(required)('a required bridge %s', (_, bridges, code, seen) => {
  expect(judgeBridges({ required: ['br-int'], optional: [] }, { version: '3.1.0', bridges })).toEqual([
    { name: 'OvsBridge.br-int', expectation: 'bridge br-int exists and works', ...found(seen, code) },
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
test.each(optional)('an optional bridge %s', (_, bridges, code, seen) => {
  expect(judgeBridges({ required: [], optional: ['br-provider'] }, { version: null, bridges })).toEqual([
    { name: 'OvsBridge.br-provider', expectation: 'bridge br-provider, where it exists, works', ...found(seen, code) },
  ]);
});

test('what is seen stays short', () => {
  const many = Array.from({ length: 500 }, (_, index) => ({ ...works(`tap${index}`), ...gone }));
  const [finding] = judgeBridges(
    { required: ['br-int'], optional: [] },
    { version: null, bridges: [bridge('br-int', {}, ...many)] },
  );
  expect(finding?.seen).toContain('it has 501 ports; 500 of its interfaces in error: tap0: ');
  expect(finding?.seen).toContain('and 495 more');
  const [long] = judgeBridges(
    { required: ['br-int'], optional: [] },
    { version: null, bridges: [bridge('br-int', { error: 'x'.repeat(5_000) })] },
  );
  expect(long?.seen.length).toBeLessThanOrEqual(900);
});

const servers: [
  what: string,
  databases: string[],
  version: string | null | undefined,
  code: ErrorCode | null,
  seen: string,
][] = [
  ['Open vSwitch', ['Open_vSwitch', '_Server'], '3.1.0', null, 'version 3.1.0, 1 bridge'],
  [
    'Open vSwitch that has never run',
    ['Open_vSwitch'],
    null,
    null,
    'a version that ovs-vswitchd has not told yet, 1 bridge',
  ],
  [
    'OVN',
    ['OVN_Northbound', '_Server'],
    undefined,
    'OvsDatabaseMissing',
    'no database Open_vSwitch; there are OVN_Northbound, _Server',
  ],
];
test.each(servers)('the server of %s', (_, databases, version, code, seen) => {
  const view = version === undefined ? null : { version, bridges: [bridge('br-int')] };
  expect(judgeServer('ssl:node-1:6640', databases, view)).toEqual({
    name: 'OvsReachable',
    expectation: 'Open vSwitch answers at ssl:node-1:6640',
    ...found(seen, code),
  });
});
