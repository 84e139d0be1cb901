import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import type { HypervisorFacts } from './facts.ts';
import { factsOf, hypervisorFacts, openEvictions } from './facts.ts';

const metadata = {
  name: 'node-1',
  uid: 'uid',
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const hypervisor = (status: Hypervisor['status'], spec?: Hypervisor['spec']): Hypervisor => ({
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Hypervisor',
  metadata,
  ...(spec === undefined ? {} : { spec }),
  ...(status === undefined ? {} : { status }),
});
const none: HypervisorFacts = {
  name: 'node-1',
  hypervisorId: null,
  libVirtVersion: null,
  hypervisorVersion: null,
  osUpdateInProgress: false,
  maintenance: '',
};

test.each<[why: string, given: Hypervisor, facts: HypervisorFacts]>([
  ['no status at all', hypervisor(undefined), none],
  [
    'what the agent writes before it has asked libvirt',
    hypervisor({ numInstances: 0, libVirtVersion: 'unknown', hypervisorVersion: 'unknown' }),
    none,
  ],
  [
    'everything',
    hypervisor(
      {
        numInstances: 3,
        libVirtVersion: '10.0.0',
        hypervisorVersion: '9.2.0',
        hypervisorId: 'h',
        updateStatus: { inProgress: true, retry: 3 },
      },
      { maintenance: 'auto' } as Hypervisor['spec'],
    ),
    {
      name: 'node-1',
      hypervisorId: 'h',
      libVirtVersion: '10.0.0',
      hypervisorVersion: '9.2.0',
      osUpdateInProgress: true,
      maintenance: 'auto',
    },
  ],
])('the facts of a Hypervisor: %s', (_why, given, facts) => {
  expect(hypervisorFacts(given)).toEqual(facts);
});

const named = (name: string, hypervisorId: string | null = null): HypervisorFacts => ({ ...none, name, hypervisorId });
const host = { id: 'h1', serviceHost: 'node-1', hypervisorHostname: 'node-1.a.example' };

test.each<[why: string, all: HypervisorFacts[], found: string | null]>([
  ['by Nova’s id, whatever its name', [named('other', 'h1'), named('node-1')], 'other'],
  ['by its name', [named('node-2'), named('node-1')], 'node-1'],
  ['by its full name', [named('node-1.a.example')], 'node-1.a.example'],
  ['by its short name', [named('node-1.b.example')], 'node-1.b.example'],
  ['not by a guess', [named('node-1.b.example'), named('node-1.c.example')], null],
  ['not by a part', [named('node-10')], null],
  ['not at all', [], null],
])('the Hypervisor of a host is found %s', (_why, all, found) => {
  expect(factsOf(host, all)?.name ?? null).toBe(found);
});

test('an Eviction is open until it has ended or is being deleted', () => {
  const eviction = (name: string, status: 'True' | 'False' | null, deletionTimestamp?: string): Eviction => ({
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Eviction',
    metadata: { ...metadata, name, uid: name, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
    spec: { hypervisor: name, reason: 'test' },
    ...(status === null
      ? {}
      : {
          status: {
            conditions: [
              { type: 'Evicting', status, reason: 'x', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
            ],
          },
        }),
  });
  const all = [
    eviction('new', null),
    eviction('running', 'True'),
    eviction('ended', 'False'),
    eviction('cancelled', 'True', '2026-01-01T01:00:00Z'),
  ];
  expect(openEvictions(all).map(({ hypervisor: name }) => name)).toEqual(['new', 'running']);
});
