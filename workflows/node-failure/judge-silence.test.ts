import * as fc from 'fast-check';

import {
  silenceBudgetMs,
  silenceDefaults,
  witnessKinds,
  witnessPaths,
  type HostSigns,
  type SilenceRefusal,
  type Witness,
  type WitnessKind,
} from '../../contracts/node-failure/node-failure.ts';
import { judgeSilence, type SilenceView } from './judge-silence.ts';

const nowMs = 100_000_000;
const { afterMs } = silenceDefaults;
const longMs = nowMs - afterMs;
const view: SilenceView = { settings: silenceDefaults, witnessMaxAgeMs: 60_000, incident: 'node-1/1', fencings: [] };

const witness = (
  kind: WitnessKind,
  says: Witness['says'],
  { sinceMs = longMs, atMs = nowMs - 1_000 }: Partial<Witness> = {},
): Witness => ({ kind, says, sinceMs, atMs, message: `the word of ${kind}` });
const powered = witness('bmc', 'powered');
const silentOf = (...kinds: WitnessKind[]): Witness[] => [powered, ...kinds.map((kind) => witness(kind, 'silent'))];

/** A panic: its BMC says On, and three that share no path have heard nothing for long. */
const hung: HostSigns = {
  host: 'node-1',
  node: { ready: 'Unknown', sinceMs: longMs, bootId: 'boot-1' },
  compute: { state: 'down', sinceMs: longMs },
  libvirt: { verdict: 'silent', sinceMs: longMs, message: 'no answer' },
  witnesses: silentOf('kubelet', 'nova', 'libvirt'),
};
const fenced = (incident: string, agoMs: number) => ({ host: `host of ${incident}`, incident, atMs: nowMs - agoMs });

type Row = [
  why: string,
  signs: Partial<HostSigns>,
  view: Partial<SilenceView>,
  refused: SilenceRefusal | null,
  message?: RegExp,
  untilMs?: number,
];
const rows: Row[] = [
  [
    'three that share no path have heard nothing for long, and it has power',
    {},
    {},
    null,
    /^node-1 has power and is silent: for 10 min nothing was heard of it by kube-apiserver, from the kubelet, Nova and drover, from libvirt$/u,
  ],
  ['no operator has asked for it', {}, { settings: null }, 'SwitchedOff', /fenceSilent/u],

  // Whatever is alive
  ['its kubelet says no itself', { node: { ...hung.node!, ready: 'False' } }, {}, 'WitnessAlive', /kubelet/u],
  ['nova-compute reports', { compute: { state: 'up', sinceMs: 0 } }, {}, 'WitnessAlive', /nova-compute/u],
  ['libvirt answers', { libvirt: { verdict: 'healthy', sinceMs: 0, message: '' } }, {}, 'WitnessAlive', /libvirt/u],
  [
    'the Lease of its Node is renewed, and three others are silent',
    { witnesses: [...silentOf('kubelet', 'nova', 'libvirt'), witness('agent', 'alive')] },
    {},
    'WitnessAlive',
    /from the Lease of the Node has heard of node-1: the word of agent/u,
  ],
  [
    'one that said so a while ago, too: none has said otherwise',
    { witnesses: [...silentOf('kubelet', 'nova', 'libvirt'), witness('agent', 'alive', { atMs: 0 })] },
    {},
    'WitnessAlive',
  ],

  // What is not known
  ['kube-apiserver cannot be read', { node: null }, {}, 'NotSilent'],
  ['a user has deleted its Node', { node: { ...hung.node!, ready: 'Gone' } }, {}, 'NotSilent'],
  ['Nova cannot be read', { compute: null }, {}, 'NotSilent'],
  ['it has no BMC', { witnesses: silentOf('kubelet', 'nova', 'libvirt').slice(1) }, {}, 'PowerUnknown'],
  [
    'its BMC does not answer',
    { witnesses: [witness('bmc', 'unknown'), ...silentOf('kubelet', 'nova', 'libvirt').slice(1)] },
    {},
    'PowerUnknown',
  ],
  [
    'its BMC says Off: that is another row',
    { witnesses: [witness('bmc', 'off'), ...silentOf('kubelet', 'nova', 'libvirt').slice(1)] },
    {},
    'PowerUnknown',
  ],
  [
    'its BMC was read too long ago',
    { witnesses: [{ ...powered, atMs: nowMs - 60_001 }, ...silentOf('kubelet', 'nova', 'libvirt').slice(1)] },
    {},
    'PowerUnknown',
  ],

  // The quorum
  [
    'only two of three',
    { witnesses: silentOf('kubelet', 'nova') },
    {},
    'NoQuorum',
    /of the 3 witnesses on different paths that it takes, 2 observe .*: kube-apiserver, from the kubelet and Nova$/u,
  ],
  ['none', { witnesses: [powered] }, {}, 'NoQuorum', /none observes that nothing is heard of node-1$/u],
  [
    'two over kube-apiserver are one',
    { witnesses: silentOf('kubelet', 'agent', 'nova') },
    {},
    'NoQuorum',
    /2 observe/u,
  ],
  ['with libvirt they are three', { witnesses: silentOf('kubelet', 'agent', 'nova', 'libvirt') }, {}, null],
  ['the Lease may stand in for the Node', { witnesses: silentOf('agent', 'nova', 'libvirt') }, {}, null],
  [
    'one that cannot be had counts for nothing',
    { witnesses: [...silentOf('kubelet', 'nova'), witness('libvirt', 'unknown')] },
    {},
    'NoQuorum',
  ],
  [
    'and so does one that observed too long ago',
    { witnesses: [...silentOf('kubelet', 'nova'), witness('libvirt', 'silent', { atMs: nowMs - 60_001 })] },
    {},
    'NoQuorum',
  ],
  [
    'or in the future',
    { witnesses: [...silentOf('kubelet', 'nova'), witness('libvirt', 'silent', { atMs: nowMs + 1 })] },
    {},
    'NoQuorum',
  ],
  ['four are asked for', {}, { settings: { ...silenceDefaults, quorum: 4 } }, 'NoQuorum', /of the 4/u],
  [
    'two are enough where that is set',
    { witnesses: silentOf('kubelet', 'nova') },
    { settings: { ...silenceDefaults, quorum: 2 } },
    null,
  ],

  // How long
  [
    'one has fallen silent a moment later',
    { witnesses: [...silentOf('kubelet', 'nova'), witness('libvirt', 'silent', { sinceMs: longMs + 1 })] },
    {},
    'TooShort',
    /have not all heard nothing of node-1 for 10 min yet/u,
    nowMs + 1,
  ],
  [
    'a fourth that has heard of it just now speaks for it, though three are enough',
    { witnesses: [...silentOf('kubelet', 'nova', 'libvirt'), witness('agent', 'silent', { sinceMs: nowMs - 1_000 })] },
    {},
    'TooShort',
    /from the Lease of the Node/u,
    nowMs - 1_000 + afterMs,
  ],
  [
    'it had no power a moment ago: an operator has mended it, and it boots',
    { witnesses: [{ ...powered, sinceMs: longMs + 1 }, ...silentOf('kubelet', 'nova', 'libvirt').slice(1)] },
    {},
    'TooShort',
    /its BMC has said for 10 min only that node-1 has power, so it may be booting/u,
    nowMs + 1,
  ],
  [
    'since no time',
    { witnesses: [...silentOf('kubelet', 'nova'), witness('libvirt', 'silent', { sinceMs: Number.NaN })] },
    {},
    'TooShort',
    /./u,
    Number.NaN,
  ],

  // The budget
  ['it is not known what was fenced', {}, { fencings: null }, 'BudgetUnknown'],
  ['another was fenced within the hour', {}, { fencings: [fenced('node-2/1', 1)] }, null],
  [
    'two others were',
    {},
    { fencings: [fenced('node-2/1', 1), fenced('node-3/1', silenceBudgetMs - 5)] },
    'BudgetSpent',
    /within the last hour host of node-2\/1, host of node-3\/1 were fenced so, and 2 may be/u,
    nowMs + 5,
  ],
  ['one of them longer ago', {}, { fencings: [fenced('node-2/1', 1), fenced('node-3/1', silenceBudgetMs)] }, null],
  ['it is one of them itself', {}, { fencings: [fenced('node-2/1', 1), fenced('node-1/1', 1)] }, null],
  [
    'its own of another incident counts',
    {},
    { fencings: [fenced('node-2/1', 1), fenced('node-1/0', 1)] },
    'BudgetSpent',
    /./u,
    nowMs - 1 + silenceBudgetMs,
  ],
  [
    'one of the future counts',
    {},
    { fencings: [fenced('node-2/1', 1), fenced('node-3/1', -60_000)] },
    'BudgetSpent',
    /./u,
    nowMs - 1 + silenceBudgetMs,
  ],
];
test.each(rows)('%s', (_why, signs, change, refused, message = /./u, ...[untilMs = null]) => {
  expect(judgeSilence({ ...hung, ...signs }, { ...view, ...change }, nowMs)).toEqual(
    refused === null
      ? { fence: true, message: expect.stringMatching(message) as string }
      : { fence: false, reason: refused, message: expect.stringMatching(message) as string, untilMs },
  );
});

const anyMs = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: nowMs - 3 * afterMs, max: longMs }) },
  { weight: 2, arbitrary: fc.integer({ min: longMs + 1, max: nowMs + 1_000 }) },
  { weight: 1, arbitrary: fc.constant(Number.NaN) },
);
const freshMs = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: nowMs - 60_000, max: nowMs }) },
  { weight: 1, arbitrary: fc.constantFrom(nowMs - 60_001, nowMs + 1, Number.NaN) },
);
const mostly = <Value>(usual: Value, ...others: Value[]) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(usual, ...others) });
const anyWitness = (kind: WitnessKind): fc.Arbitrary<Witness> =>
  fc.record({
    kind: fc.constant(kind),
    says:
      kind === 'bmc'
        ? mostly<Witness['says']>('powered', 'off', 'unknown')
        : mostly<Witness['says']>('silent', 'alive', 'unknown'),
    sinceMs: anyMs,
    atMs: freshMs,
    message: fc.constant(''),
  });
const anyWitnesses = fc
  .subarray([...witnessKinds], { minLength: 3 })
  .chain((kinds) => fc.tuple(...kinds.map((kind) => anyWitness(kind))));
const anySigns: fc.Arbitrary<HostSigns> = fc.record({
  host: fc.constant('node-1'),
  node: mostly<HostSigns['node']>(hung.node, null, { ...hung.node!, ready: 'False' }, { ...hung.node!, ready: 'Gone' }),
  compute: mostly<HostSigns['compute']>(hung.compute, null, { state: 'up', sinceMs: 0 }),
  libvirt: mostly<HostSigns['libvirt']>(hung.libvirt, null, { verdict: 'healthy', sinceMs: 0, message: '' }),
  witnesses: anyWitnesses,
});
const anyFencing = fc.record({
  host: fc.constant('node-9'),
  incident: fc.constantFrom('node-1/1', 'a', 'b', 'c'),
  atMs: fc.integer({ min: nowMs - 2 * silenceBudgetMs, max: nowMs }),
});
const anyView: fc.Arbitrary<SilenceView> = fc.record({
  settings: fc.record({
    quorum: fc.constantFrom(2, 3, 4),
    afterMs: fc.constant(afterMs),
    mostPerHour: fc.constantFrom(1, 2, 3),
  }),
  witnessMaxAgeMs: fc.constant(60_000),
  incident: fc.constant('node-1/1'),
  fencings: fc.option(fc.array(anyFencing, { maxLength: 3 }), { nil: null, freq: 20 }),
});

test('nothing is fenced while any witness says alive, with fewer than the quorum, too early, or over the budget', () => {
  let fencedOnes = 0;
  fc.assert(
    fc.property(anySigns, anyView, (signs, given) => {
      if (!judgeSilence(signs, given, nowMs).fence) return;
      fencedOnes += 1;
      const { quorum, mostPerHour } = given.settings!;
      expect(signs.witnesses.map(({ says }) => says)).not.toContain('alive');
      expect(signs).toMatchObject({ node: { ready: 'Unknown' }, compute: { state: 'down' } });
      expect([undefined, 'silent']).toContain(signs.libvirt?.verdict);
      const counted = signs.witnesses.filter(
        ({ kind, says, atMs, sinceMs }) =>
          kind !== 'bmc' && says === 'silent' && atMs <= nowMs && nowMs - atMs <= 60_000 && nowMs - sinceMs >= afterMs,
      );
      expect(new Set(counted.map(({ kind }) => witnessPaths[kind])).size).toBeGreaterThanOrEqual(quorum);
      const power = signs.witnesses.find(({ kind }) => kind === 'bmc');
      expect(power).toMatchObject({ says: 'powered' });
      expect(nowMs - power!.sinceMs).toBeGreaterThanOrEqual(afterMs);
      expect(nowMs - power!.atMs).toBeLessThanOrEqual(60_000);
      const spent = given.fencings!.filter(
        ({ incident, atMs }) => incident !== 'node-1/1' && nowMs - atMs < silenceBudgetMs,
      );
      expect(spent.length).toBeLessThan(mostPerHour);
    }),
    { numRuns: 20_000, seed: 20_260_131 },
  );
  // Signs of which none is ever fenced would prove nothing.
  expect(fencedOnes).toBeGreaterThan(200);
});

test('a word of life and a host that was fenced elsewhere never make a fencing of none', () => {
  fc.assert(
    fc.property(anySigns, anyView, fc.nat(), (signs, given, which) => {
      fc.pre(!judgeSilence(signs, given, nowMs).fence);
      const index = which % signs.witnesses.length;
      const changed = (says: Witness['says']): HostSigns => ({
        ...signs,
        witnesses: signs.witnesses.map((one, at) => (at === index ? { ...one, says } : one)),
      });
      expect(judgeSilence(changed('alive'), given, nowMs).fence).toBe(false);
      const more = { ...given, fencings: [...(given.fencings ?? []), fenced('another', 1)] };
      if (given.fencings !== null) expect(judgeSilence(signs, more, nowMs).fence).toBe(false);
    }),
    { numRuns: 5_000, seed: 20_260_131 },
  );
});
