import * as fc from 'fast-check';

import type { FleetView, GateName } from '../../contracts/node-failure/node-failure.ts';
import { gateDefaults } from '../../contracts/node-failure/node-failure.ts';
import { passGates } from './judge.ts';

const nowMs = 10_000_000;
const minute = 60_000;
const self = { host: 'node-1', failureDomain: 'rack-1', sinceMs: nowMs - 4 * minute };
const calm: FleetView = {
  host: 'node-1',
  failureDomain: 'rack-1',
  apis: [
    { name: 'Nova', reachable: true },
    { name: 'kube-apiserver', reachable: true },
  ],
  schedulerUp: true,
  hosts: 10,
  suspects: [self],
  lastFencingMs: null,
  silentFencings: [],
  aggregates: [{ name: 'compute', mostFenced: null, fenced: 0 }],
};
const other = (host: string, failureDomain: string | null, minutesApart: number) => ({
  host,
  failureDomain,
  sinceMs: self.sinceMs + minutesApart * minute,
});

type Row = [why: string, view: Partial<FleetView>, held: GateName | null, message?: RegExp];
const rows: Row[] = [
  ['one host of ten, and all is well otherwise', {}, null],
  [
    'an API is away',
    {
      apis: [
        { name: 'Nova', reachable: true },
        { name: 'kube-apiserver', reachable: false },
      ],
    },
    'ApisUnreachable',
    /does not reach kube-apiserver, so the fault may be drover’s own/,
  ],
  ['it is not known whether APIs answer', { apis: [] }, 'ApisUnreachable', /not known/],
  ['no scheduler', { schedulerUp: false }, 'SchedulerDown', /nova-scheduler/],
  ['half of all', { hosts: 4, suspects: [self, other('node-9', 'rack-9', 60)] }, 'MassFailure', /2 of 4 hosts/],
  ['just under half', { hosts: 5, suspects: [self, other('node-9', 'rack-9', 60)] }, null],
  ['the only other host of two is half of all', { hosts: 2 }, 'MassFailure', /1 of 2/],
  ['the host counts though it is not in the list', { hosts: 2, suspects: [] }, 'MassFailure', /1 of 2/],
  ['no hosts at all are an observer’s fault', { hosts: 0 }, 'MassFailure'],
  [
    'another of the rack at the same time',
    { suspects: [self, other('node-2', 'rack-1', 0)] },
    'DomainFailure',
    /Also node-2 of the failure domain rack-1/,
  ],
  ['another of the rack 5 min before', { suspects: [self, other('node-2', 'rack-1', -5)] }, 'DomainFailure'],
  ['another of the rack 5 min after', { suspects: [self, other('node-2', 'rack-1', 5)] }, 'DomainFailure'],
  ['another of the rack long before', { suspects: [self, other('node-2', 'rack-1', -5.01)] }, null],
  ['another of another rack', { suspects: [self, other('node-2', 'rack-2', 0)] }, null],
  [
    'two whose rack is not known share one',
    { failureDomain: null, suspects: [{ ...self, failureDomain: null }, other('node-2', null, 0)] },
    'DomainFailure',
    /without a known failure domain/,
  ],
  [
    'one in the rack whose time is not known',
    { suspects: [self, { ...other('node-2', 'rack-1', 0), sinceMs: Number.NaN }] },
    'DomainFailure',
  ],
  [
    'another was fenced in this cycle',
    { lastFencingMs: nowMs - gateDefaults.cycleMs + 1 },
    'OneAtATime',
    /one at a time/,
  ],
  ['another was fenced before this cycle', { lastFencingMs: nowMs - gateDefaults.cycleMs }, null],
  ['a clock that is ahead holds', { lastFencingMs: nowMs + 1 }, 'OneAtATime'],
  [
    'the aggregate has its one',
    { aggregates: [{ name: 'compute', mostFenced: null, fenced: 1 }] },
    'AggregateLimit',
    /1 hosts of the aggregate compute .*at most 1/,
  ],
  ['the aggregate may have two', { aggregates: [{ name: 'compute', mostFenced: 2, fenced: 1 }] }, null],
  [
    'the aggregate may have none',
    { aggregates: [{ name: 'gpu', mostFenced: 0, fenced: 0 }] },
    'AggregateLimit',
    /at most 0/,
  ],
  [
    'one of two aggregates is full',
    {
      aggregates: [
        { name: 'a', mostFenced: 5, fenced: 0 },
        { name: 'b', mostFenced: 1, fenced: 1 },
      ],
    },
    'AggregateLimit',
    /aggregate b/,
  ],
  ['a host in no aggregate', { aggregates: [] }, null],
  [
    'drover’s own fault is said before the fleet’s',
    { apis: [{ name: 'Nova', reachable: false }], hosts: 1 },
    'ApisUnreachable',
  ],
];
test.each(rows)('%s', (_why, view, held, message = /./) => {
  expect(passGates({ ...calm, ...view }, gateDefaults, nowMs)).toEqual(
    held === null ? { gate: 'go' } : { gate: 'hold', name: held, message: expect.stringMatching(message) as string },
  );
});

const anySuspect = fc.record({
  host: fc.constantFrom('node-1', 'node-2', 'node-3'),
  failureDomain: fc.constantFrom('rack-1', 'rack-2', null),
  sinceMs: fc.integer({ min: 0, max: nowMs }),
});
const anyView: fc.Arbitrary<FleetView> = fc.record({
  host: fc.constant('node-1'),
  failureDomain: fc.constantFrom('rack-1', null),
  apis: fc.array(fc.record({ name: fc.constant('Nova'), reachable: fc.boolean() }), { maxLength: 2 }),
  schedulerUp: fc.boolean(),
  hosts: fc.nat(12),
  suspects: fc.array(anySuspect, { maxLength: 4 }),
  lastFencingMs: fc.option(fc.integer({ min: 0, max: nowMs }), { nil: null }),
  silentFencings: fc.constant([]),
  aggregates: fc.array(
    fc.record({ name: fc.constant('a'), mostFenced: fc.option(fc.nat(2), { nil: null }), fenced: fc.nat(2) }),
    { maxLength: 2 },
  ),
});

test('more trouble never opens a gate', () => {
  fc.assert(
    fc.property(anyView, anySuspect, (view, another) => {
      const before = passGates(view, gateDefaults, nowMs);
      fc.pre(before.gate === 'hold');
      const worse = { ...view, suspects: [...view.suspects, { ...another, host: 'node-7' }] };
      expect(passGates(worse, gateDefaults, nowMs).gate).toBe('hold');
      expect(passGates({ ...view, schedulerUp: false }, gateDefaults, nowMs).gate).toBe('hold');
    }),
    { numRuns: 1_000 },
  );
});
