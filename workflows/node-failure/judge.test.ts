import * as fc from 'fast-check';

import type {
  FailureReason,
  FailureVerdict,
  HostSigns,
  NodeFailureSettings,
  NodeSign,
  Witness,
  WitnessKind,
} from '../../contracts/node-failure/node-failure.ts';
import { witnessKinds } from '../../contracts/node-failure/node-failure.ts';
import { judgeNodeFailure } from './judge.ts';

const settings: NodeFailureSettings = { failAfterMs: 100, witnessMaxAgeMs: 30 };
const nowMs = 1_000;
/** Long enough to count, and not. */
const long = nowMs - 100;
const short = nowMs - 99;

const healthy: HostSigns = {
  host: 'node-1',
  node: { ready: 'True', sinceMs: 0, bootId: 'boot-1' },
  compute: { state: 'up', sinceMs: 0 },
  libvirt: { verdict: 'healthy', sinceMs: 0, message: '' },
  witnesses: [],
};
const node = (ready: NodeSign['ready'], sinceMs: number): Partial<HostSigns> => ({
  node: { ready, sinceMs, bootId: ready === 'Gone' ? null : 'boot-1' },
});
const compute = (state: 'up' | 'down', sinceMs: number): Partial<HostSigns> => ({ compute: { state, sinceMs } });
const libvirt = (verdict: 'healthy' | 'failing' | 'silent', sinceMs: number): Partial<HostSigns> => ({
  libvirt: { verdict, sinceMs, message: 'as it says' },
});
const saw = (says: Partial<Record<WitnessKind, Witness['says']>>, atMs = nowMs - 10): Partial<HostSigns> => ({
  witnesses: witnessKinds.flatMap((kind) => {
    const said = says[kind];
    return said === undefined ? [] : [{ kind, says: said, sinceMs: long, atMs, message: 'as it says' }];
  }),
});
const silent = { ...node('Unknown', long), ...compute('down', long), ...libvirt('silent', long) };

type Row = [
  why: string,
  signs: Partial<HostSigns>,
  verdict: FailureVerdict['verdict'],
  reason: FailureReason,
  alive: FailureVerdict['alive'],
  untilMs?: number,
];
const rows: Row[] = [
  ['all is well', {}, 'healthy', 'Healthy', 'yes'],
  ['libvirt is not asked', { libvirt: null }, 'healthy', 'Healthy', 'yes'],
  [
    'without the Node nothing is judged',
    { ...silent, node: null, ...saw({ bmc: 'off' }) },
    'watch',
    'NotObserved',
    'unknown',
  ],
  [
    'without Nova nothing is judged',
    { ...silent, compute: null, ...saw({ bmc: 'off' }) },
    'watch',
    'NotObserved',
    'unknown',
  ],

  ['guests fail for a moment', libvirt('failing', short), 'watch', 'GuestsFailing', 'yes', short + 100],
  ['guests that go on failing must leave, live', libvirt('failing', long), 'failed', 'GuestsFailing', 'yes'],
  ['libvirt does not answer for a moment', libvirt('silent', short), 'watch', 'LibvirtSilent', 'yes', short + 100],
  ['libvirt does not answer', libvirt('silent', long), 'suspect', 'LibvirtSilent', 'yes'],
  ['not ready for a moment', node('False', short), 'watch', 'NodeNotReady', 'yes', short + 100],
  [
    'not ready, while nova-compute reports: it must be emptied live',
    node('False', long),
    'failed',
    'NodeNotReady',
    'yes',
  ],
  ['unknown, while nova-compute reports', node('Unknown', long), 'failed', 'NodeNotReady', 'yes'],
  ['nova-compute restarts', compute('down', short), 'watch', 'ComputeDown', 'yes', short + 100],
  [
    'only nova-compute is down: nothing is fenced for that',
    { ...compute('down', long), ...saw({ bmc: 'off', agent: 'silent' }) },
    'suspect',
    'ComputeDown',
    'yes',
  ],

  ['its Node is gone for a moment', node('Gone', short), 'watch', 'NodeGone', 'yes', short + 100],
  ['its Node is gone, while nova-compute reports', node('Gone', long), 'suspect', 'NodeGone', 'yes'],
  [
    'its Node is gone, and all is silent for a moment',
    { ...silent, ...node('Gone', short) },
    'watch',
    'Silent',
    'unknown',
    short + 100,
  ],
  [
    'its Node is gone, and all is silent: a person decides',
    { ...silent, ...node('Gone', long), ...saw({ bmc: 'powered' }) },
    'suspect',
    'NoWitness',
    'unknown',
  ],
  [
    'its Node is gone, and the BMC says Off',
    { ...silent, ...node('Gone', long), ...saw({ bmc: 'off' }) },
    'failed',
    'Dead',
    'no',
  ],
  [
    'its Node is gone, and libvirt answers',
    { ...silent, ...node('Gone', long), ...libvirt('healthy', 0) },
    'suspect',
    'AgentsDown',
    'yes',
  ],

  ['silent for a moment', { ...silent, ...compute('down', short) }, 'watch', 'Silent', 'unknown', short + 100],
  [
    'silent for a moment, whatever a witness says',
    { ...silent, ...node('Unknown', short), ...saw({ bmc: 'off' }) },
    'watch',
    'Silent',
    'unknown',
    short + 100,
  ],
  ['silent, and the BMC says Off', { ...silent, ...saw({ bmc: 'off' }) }, 'failed', 'Dead', 'no'],
  [
    'its node agent reports, so it lives',
    { ...silent, ...saw({ bmc: 'off', agent: 'alive' }) },
    'suspect',
    'AgentsDown',
    'yes',
  ],
  ['power alone proves nothing', { ...silent, ...saw({ bmc: 'powered' }) }, 'suspect', 'NoWitness', 'unknown'],
  [
    'nor does a silence, whichever witness observes it',
    { ...silent, ...saw({ bmc: 'powered', nova: 'silent', kubelet: 'silent', libvirt: 'silent', agent: 'silent' }) },
    'suspect',
    'NoWitness',
    'unknown',
  ],
  [
    'a witness that does not know proves nothing',
    { ...silent, ...saw({ bmc: 'unknown', agent: 'unknown' }) },
    'suspect',
    'NoWitness',
    'unknown',
  ],
  ['without a witness silence is not death', silent, 'suspect', 'NoWitness', 'unknown'],
  [
    'a witness that observed too long ago does not count',
    { ...silent, ...saw({ bmc: 'off' }, nowMs - 31) },
    'suspect',
    'NoWitness',
    'unknown',
  ],
  [
    'nor one that observed before the silence',
    {
      ...silent,
      ...node('Unknown', long),
      ...compute('down', long),
      ...saw({ bmc: 'off' }, long - 1),
    },
    'suspect',
    'NoWitness',
    'unknown',
  ],
  ['nor one from the future', { ...silent, ...saw({ bmc: 'off' }, nowMs + 1) }, 'suspect', 'NoWitness', 'unknown'],
  [
    'libvirt answers: the agents are down',
    { ...silent, ...libvirt('healthy', 0), ...saw({ bmc: 'off' }) },
    'suspect',
    'AgentsDown',
    'yes',
  ],
  [
    'the kubelet says no itself, so it lives',
    { ...silent, ...node('False', long), ...saw({ bmc: 'off' }) },
    'suspect',
    'AgentsDown',
    'yes',
  ],
  [
    'a clock that is ahead makes nothing fail',
    { ...silent, ...node('Unknown', nowMs + 50), ...saw({ bmc: 'off' }) },
    'watch',
    'Silent',
    'unknown',
    nowMs + 150,
  ],
  [
    'nor does a time that is none',
    { ...silent, ...node('Unknown', Number.NaN), ...saw({ bmc: 'off' }) },
    'watch',
    'Silent',
    'unknown',
    Number.NaN,
  ],
];
test.each(rows)('%s', (_why, signs, verdict, reason, alive, ...[untilMs = null]) => {
  expect(judgeNodeFailure({ ...healthy, ...signs }, settings, nowMs)).toEqual({
    verdict,
    reason,
    alive,
    message: expect.stringMatching(/node-1/) as string,
    untilMs,
  });
});

test('messages say what and how long', () => {
  const messageOf = (signs: Partial<HostSigns>, atMs = nowMs): string =>
    judgeNodeFailure({ ...healthy, ...signs }, settings, atMs).message;
  expect(
    messageOf({
      ...silent,
      ...node('Unknown', nowMs - 300_000),
      ...compute('down', nowMs - 240_000),
      ...saw({ bmc: 'off' }),
    }),
  ).toBe(
    'The kubelet and nova-compute of node-1 have not reported for 4 min, and according to its BMC, off their network, it has no power: nothing runs there',
  );
  expect(messageOf({ node: null, compute: null })).toBe(
    'node-1 cannot be judged: its Node and its compute service could not be read',
  );
});

const anyMs = fc.integer({ min: 700, max: 1_050 });
const anySigns: fc.Arbitrary<HostSigns> = fc.record({
  host: fc.constant('node-1'),
  node: fc.option(
    fc.record({
      ready: fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const, 'Gone' as const),
      sinceMs: anyMs,
      bootId: fc.constant('b'),
    }),
    { nil: null },
  ),
  compute: fc.option(fc.record({ state: fc.constantFrom('up' as const, 'down' as const), sinceMs: anyMs }), {
    nil: null,
  }),
  libvirt: fc.option(
    fc.record({
      verdict: fc.constantFrom('healthy' as const, 'failing' as const, 'silent' as const),
      sinceMs: anyMs,
      message: fc.constant(''),
    }),
    { nil: null },
  ),
  witnesses: fc.array(
    fc.record({
      kind: fc.constantFrom(...witnessKinds),
      says: fc.constantFrom(
        'alive' as const,
        'silent' as const,
        'off' as const,
        'powered' as const,
        'unknown' as const,
      ),
      sinceMs: anyMs,
      atMs: anyMs,
      message: fc.constant(''),
    }),
    { maxLength: 3 },
  ),
});

test('no host is called dead unless its BMC has just said that it is off, and against no witness that saw life', () => {
  fc.assert(
    fc.property(anySigns, (signs) => {
      if (judgeNodeFailure(signs, settings, nowMs).alive !== 'no') return;
      const fresh = signs.witnesses.filter(({ atMs }) => atMs <= nowMs && atMs >= nowMs - 30);
      expect(fresh.map(({ kind, says }) => `${kind} ${says}`)).toContain('bmc off');
      expect(['Unknown', 'Gone']).toContain(signs.node?.ready);
      expect(signs).toMatchObject({ compute: { state: 'down' } });
      expect(Math.max(signs.node!.sinceMs, signs.compute!.sinceMs)).toBeLessThanOrEqual(nowMs - 100);
    }),
    { numRuns: 2_000 },
  );
});

test('taking witnesses away never makes a verdict worse', () => {
  const rank = { healthy: 0, watch: 1, suspect: 2, failed: 3 };
  fc.assert(
    fc.property(anySigns, (signs) => {
      const without = judgeNodeFailure(
        { ...signs, witnesses: signs.witnesses.filter(({ says }) => says !== 'off') },
        settings,
        nowMs,
      );
      expect(rank[without.verdict]).toBeLessThanOrEqual(rank[judgeNodeFailure(signs, settings, nowMs).verdict]);
    }),
    { numRuns: 1_000 },
  );
});
