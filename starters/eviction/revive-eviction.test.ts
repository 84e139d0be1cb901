import { readEvictionAnnotations } from '../../contracts/eviction/annotations.ts';
import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import { sampleEviction } from '../../test/fixtures/starters/eviction.ts';
import { temporalAccessTo } from '../../test/fixtures/starters/temporal-access.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { consentAnnotations, tellRevival } from './revive-eviction.ts';

const at = '2026-01-31T12:00:00Z';
const by = 'alice@ops';
const before = {
  'drover.dev/accept-obstacles': 'NoTargets',
  'drover.dev/consent': 'cold-migrate',
  'drover.dev/consent-by': 'bob 2026-01-30T12:00:00Z',
};

test.each<
  [
    why: string,
    annotations: Record<string, string>,
    accept: string[],
    consent: string[],
    written: Record<string, string>,
  ]
>([
  ['nothing accepted, nothing written', before, [], [], {}],
  [
    'a first obstacle',
    {},
    ['Vgpu/5f0a'],
    [],
    { 'drover.dev/accept-obstacles': 'Vgpu/5f0a', 'drover.dev/consent-by': `${by} ${at}` },
  ],
  [
    'a further one',
    before,
    ['NoTargets', 'Vgpu/5f0a'],
    [],
    { 'drover.dev/accept-obstacles': 'NoTargets,Vgpu/5f0a', 'drover.dev/consent-by': `${by} ${at}` },
  ],
  [
    'a further consent',
    before,
    [],
    ['force-complete'],
    { 'drover.dev/consent': 'cold-migrate,force-complete', 'drover.dev/consent-by': `${by} ${at}` },
  ],
  [
    'what has no signature is not taken over',
    { 'drover.dev/accept-obstacles': 'NoTargets' },
    ['Vgpu'],
    [],
    { 'drover.dev/accept-obstacles': 'Vgpu', 'drover.dev/consent-by': `${by} ${at}` },
  ],
])('%s', (_why, annotations, accept, consent, written) => {
  expect(consentAnnotations({ annotations }, { accept, consent, by }, at)).toEqual(written);
  expect(readEvictionAnnotations({ ...annotations, ...written }).problems).toEqual(
    annotations === before || accept.length > 0 ? [] : expect.any(Array),
  );
});

test.each<[why: string, annotations: Record<string, string>, exitCode: number]>([
  ['asks for a plan', { 'drover.dev/mode': 'observe' }, exitCodes.ok],
  ['asks for the host to be emptied', {}, exitCodes.failed],
  ['says so', { 'drover.dev/mode': 'act' }, exitCodes.failed],
])('one that %s is revived, and only observed', async (_why, annotations, exitCode) => {
  const context = sampleContext(paper());
  const handle = {
    describe: async () => ({
      runId: 'r',
      status: { name: 'COMPLETED' },
      startTime: new Date(0),
      closeTime: new Date(1),
    }),
    result: async () => ({ outcome: 'observed', message: 'Nothing was moved', eviction: null }),
    query: () => Promise.reject(new Error('no worker')),
  };
  const temporal = { ...temporalAccessTo({ workflow: { getHandle: () => handle } }), context };
  await tellRevival(temporal, { evictions: async () => [] } as never, sampleEviction({ annotations }));
  expect(context.exitCode).toBe(exitCode);
});
