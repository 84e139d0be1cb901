import { type HostNames, resolveHost } from './find-host.ts';

const host = (serviceHost: string, hypervisorHostname = serviceHost): HostNames => ({
  serviceHost,
  hypervisorHostname,
});

type Row = [why: string, name: string, hosts: HostNames[], found: string | { type: 'HostNotFound' | 'HostAmbiguous' }];
const rows: Row[] = [
  ['the exact service host', 'node-1', [host('node-1'), host('node-2')], 'node-1'],
  [
    'the exact hypervisor_hostname',
    'node-1.example.com',
    [host('node-1', 'node-1.example.com'), host('node-2')],
    'node-1',
  ],
  ['an exact name comes before a short one', 'node-1', [host('node-1'), host('node-1.example.com')], 'node-1'],
  [
    'a short name finds the dotted host',
    'node-1',
    [host('node-1.example.com'), host('node-2.example.com')],
    'node-1.example.com',
  ],
  ['a dotted name finds the short host (H1)', 'node-1.example.com', [host('node-1'), host('node-2')], 'node-1'],
  ['case does not matter in short names', 'Node-1', [host('node-1.example.com')], 'node-1.example.com'],
  [
    'both names of one host are one match',
    'node-1',
    [host('node-1.a.example', 'node-1.b.example')],
    'node-1.a.example',
  ],
  [
    'a short name of two hosts is ambiguous',
    'node-1',
    [host('node-1.a.example'), host('node-1.b.example')],
    { type: 'HostAmbiguous' },
  ],
  [
    'one name that two hosts carry exactly is ambiguous',
    'node-1',
    [host('node-1'), host('x', 'node-1')],
    { type: 'HostAmbiguous' },
  ],
  [
    'one service with several nodes is ambiguous',
    'ironic',
    [host('ironic', 'rack-1'), host('ironic', 'rack-2')],
    { type: 'HostAmbiguous' },
  ],
  ['two domains are two hosts', 'node-1.a.example', [host('node-1.b.example')], { type: 'HostNotFound' }],
  ['a part of a name is no match (H12)', 'node-1', [host('node-10'), host('anode-1')], { type: 'HostNotFound' }],
  ['an address has no short name', '10.0.0.1', [host('10')], { type: 'HostNotFound' }],
  ['nothing at all', 'node-1', [], { type: 'HostNotFound' }],
  ['an empty name is no host', '', [host('node-1')], { type: 'HostNotFound' }],
];

test.each(rows)('%s', (_why, name, hosts, found) => {
  if (typeof found === 'string') expect(resolveHost(name, hosts).serviceHost).toBe(found);
  else expect(() => resolveHost(name, hosts)).toThrow(expect.objectContaining({ ...found, nonRetryable: true }));
});
