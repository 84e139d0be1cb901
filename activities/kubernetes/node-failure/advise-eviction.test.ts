import type { Eviction } from '../../../contracts/crds/eviction.ts';
import { adviceName } from '../../../contracts/ids.ts';
import { sampleEviction } from '../../../test/fixtures/activities/eviction.ts';
import { sampleHypervisor } from '../../../test/fixtures/activities/hypervisor.ts';
import { planOpening } from '../eviction/plan-opening.ts';
import { adviseEviction, withdrawAdvice } from './advise-eviction.ts';

const advice = { name: 'node-1', uid: 'hv-1', incident: 'node-1/2', reason: '2 guests failed' };
const there = (annotations: Record<string, string>, hypervisor = 'node-1'): Eviction =>
  sampleEviction({ name: 'node-1-node-failure', hypervisor, annotations });
const ofIncident = (incident: string): Record<string, string> => ({
  'drover.dev/incident': incident,
  'drover.dev/mode': 'observe',
});

function stage(eviction: Eviction | null, hypervisorUid: string | null = 'hv-1') {
  const deeds: string[] = [];
  const written: unknown[] = [];
  const tools = {
    client: {
      get: async ({ kind }: { kind: string }) => {
        if (kind === 'Eviction') return eviction;
        const object = sampleHypervisor();
        return hypervisorUid === null ? null : { ...object, metadata: { ...object.metadata, uid: hypervisorUid } };
      },
      create: async (_: unknown, { metadata, spec }: { metadata: { name: string }; spec: unknown }) => {
        written.push({ ...metadata, spec });
        deeds.push(`create ${metadata.name}`);
        return true;
      },
      delete: async (_: unknown, { uid }: { uid: string }) => void deeds.push(`delete ${uid}`),
    },
    stopGate: () => Promise.resolve(),
    audit: { record: async ({ action }: { action: string }) => void deeds.push(`audit ${action}`) },
    scope: { signal: new AbortController().signal, run: null },
  } as unknown as Parameters<typeof adviseEviction>[0];
  return { tools, deeds, written };
}

const uid = 'uid-of-node-1-node-failure';
const created = ['create node-1-node-failure', 'audit createEviction'];
const deleted = [`delete ${uid}`, 'audit deleteEviction'];
const rows: [what: string, eviction: Eviction | null, deeds: string[]][] = [
  ['there is none', null, created],
  ['it is there', there(ofIncident('node-1/2')), []],
  ['it is of an earlier failure', there(ofIncident('node-1/1')), [...deleted, ...created]],
  ['another Eviction has that name', there({}), []],
  ['a user has made it act', there({ 'drover.dev/incident': 'node-1/1' }), []],
];
test.each(rows)('advice where %s', async (_what, eviction, expected) => {
  const { tools, deeds } = stage(eviction);
  await adviseEviction(tools, advice);
  expect(deeds).toEqual(expected);
});

test('it only plans, says why, and goes with its Hypervisor, which does not control it', async () => {
  const { tools, written } = stage(null);
  await adviseEviction(tools, advice);
  expect(written).toEqual([
    expect.objectContaining({
      annotations: {
        'drover.dev/eviction-cause': 'termination',
        'drover.dev/mode': 'observe',
        'drover.dev/incident': 'node-1/2',
      },
      ownerReferences: [
        { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', name: 'node-1', uid: 'hv-1', controller: false },
      ],
      spec: { hypervisor: 'node-1', reason: '2 guests failed' },
    }),
  ]);
});

test.each(['act', 'observe'] as const)('the run of its host observes it where drover may %s', async (mode) => {
  const { tools, written } = stage(null);
  await adviseEviction(tools, advice);
  const [{ name, annotations, spec }] = written as [{ name: string; annotations: Record<string, string> } & Eviction];
  const opening = planOpening({
    input: { hypervisor: spec.hypervisor },
    serving: null,
    mode,
    isRightRun: true,
    runId: 'run-1',
    evictions: [sampleEviction({ name, annotations, ...spec })],
  });
  expect(opening).toMatchObject({ kind: 'serve', desired: { name, mode: 'observe', reason: advice.reason } });
});

test.each([null, 'hv-2'])('a Hypervisor that is gone (%s) gets none', async (hypervisorUid) => {
  const { tools, deeds } = stage(null, hypervisorUid);
  await adviseEviction(tools, advice);
  expect(deeds).toEqual([]);
});

const backs: [what: string, eviction: Eviction | null, deeds: string[]][] = [
  ['there is none', null, []],
  ['it is there', there(ofIncident('node-1/2')), deleted],
  ['it is another host’s', there(ofIncident('node-1/2'), 'node-2'), []],
  ['a user has made it act', there({ 'drover.dev/incident': 'node-1/2', 'drover.dev/mode': 'act' }), []],
  ['it is another’s', there({ 'drover.dev/mode': 'observe' }), []],
];
test.each(backs)('taken back where %s', async (_what, eviction, expected) => {
  const { tools, deeds } = stage(eviction);
  await withdrawAdvice(tools, advice);
  expect(deeds).toEqual(expected);
});

test('the name of a host with a long name has an end', () => expect(adviceName('n'.repeat(253))).toHaveLength(243));
