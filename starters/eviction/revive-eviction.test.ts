import { readEvictionAnnotations } from '../../contracts/eviction/annotations.ts';
import type { Condition } from '../../contracts/conditions.ts';
import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import {
  acceptByOther,
  evictionStore,
  replaceEviction,
  sampleEviction,
  type StoredEviction,
} from '../../test/fixtures/starters/eviction.ts';
import { temporalAccessTo } from '../../test/fixtures/starters/temporal-access.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { consentAnnotations, refuseAcceptance, reviveEviction, tellRevival } from './revive-eviction.ts';

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

const said = (type: string, status: Condition['status'], reason: string, message = '', observedGeneration = 1) => ({
  type,
  status,
  reason,
  message,
  observedGeneration,
  lastTransitionTime: at,
});
const ended = (reason: string): Condition => said('Evicting', 'False', reason);
const obstacles = (message: string, generation?: number): Condition =>
  said('PreflightChecksSucceeded', 'False', 'Failed', message, generation);
const two = obstacles('2 obstacles: no target is up [NoTargets]; db-1 has a disk [LocalDisk/5f0a].');
const passed = said('PreflightChecksSucceeded', 'True', 'Succeeded', 'Preflight checks passed. Accepted: NoTargets.');

test.each<
  [
    why: string,
    conditions: Condition[],
    reconciled: boolean,
    accept: string[],
    consent: string[],
    refusal: RegExp | null,
  ]
>([
  ['it was refused for it', [ended('PreflightFailed'), two], true, ['NoTargets'], [], null],
  ['and for another one', [ended('PreflightFailed'), two], true, ['NoTargets', 'LocalDisk/5f0a'], [], null],
  [
    'it was refused for something else',
    [ended('PreflightFailed'), two],
    true,
    ['NoTargets', 'Vgpu/1'],
    [],
    /^There is no obstacle Vgpu\/1\. There are: NoTargets, LocalDisk\/5f0a\./,
  ],
  [
    'there are more than are named',
    [ended('PreflightFailed'), obstacles('4 obstacles: a [NoTargets]; b [Vgpu/1]; c [Vgpu/2]; and 1 more: …')],
    true,
    ['Vgpu/3'],
    [],
    null,
  ],
  [
    'they were met by an earlier spec',
    [ended('PreflightFailed'), obstacles('1 obstacle: a [NoTargets].', 0)],
    false,
    ['Vgpu/3'],
    [],
    null,
  ],
  ['it failed for something else', [ended('Failed'), passed], true, ['NoTargets'], [], /There are: none\./],
  ['it failed, and may do more', [ended('Failed'), passed], true, [], ['cold-migrate'], null],
  ['it has not looked yet', [], false, ['NoTargets'], ['cold-migrate'], null],
  ['the host is empty', [ended('Succeeded'), two], true, ['NoTargets'], [], /has succeeded\. Nothing was accepted/],
  ['the same, and it may do more', [ended('Succeeded'), passed], true, [], ['cold-migrate'], /has succeeded\./],
  ['a user stopped it', [ended('Stopped'), two], true, ['NoTargets'], [], /was stopped by a user\. Nothing was/],
  [
    'a user stopped what only observed',
    [said('Observed', 'False', 'Stopped')],
    true,
    ['NoTargets'],
    [],
    /was stopped by a user/,
  ],
  ['it has ended, and asks for something else since', [ended('Succeeded'), two], false, ['NoTargets'], [], null],
  ['nothing is accepted', [ended('Stopped'), two], true, [], [], null],
])('what may be accepted where no run is open: %s', (_why, conditions, reconciled, accept, consent, refusal) => {
  const judge = (): void => refuseAcceptance(sampleEviction({ conditions, reconciled }), { accept, consent });
  if (refusal === null) expect(judge).not.toThrow();
  else expect(judge).toThrow(refusal);
});

test('what may not be accepted of an Eviction leaves it as it is', async () => {
  const eviction = sampleEviction({ conditions: [ended('Succeeded')], reconciled: true });
  const kubernetes = { evictions: async () => [eviction] };
  await expect(
    reviveEviction(temporalAccessTo({}), kubernetes as never, eviction.host, {
      accept: ['NoTargets'],
      consent: [],
      by,
    }),
  ).rejects.toMatchObject({ exitCode: exitCodes.refused });
});

/** drover accepts an obstacle and consents, of an Eviction that has no run. */
async function accept(meanwhile: (stored: StoredEviction) => void) {
  const { stored, kubernetes } = evictionStore(meanwhile);
  const signalled: string[] = [];
  const client = {
    schedule: { getHandle: () => ({ describe: async () => ({ action: { workflowId: 'held-by/own' } }) }) },
    workflow: {
      signalWithStart: async (_type: string, { signalArgs: [{ uid }] }: { signalArgs: [{ uid: string }] }) => {
        signalled.push(uid);
        return { signaledRunId: 'r' };
      },
    },
  };
  const failure: unknown = await reviveEviction(temporalAccessTo(client), kubernetes, 'node-1', {
    accept: ['CapacityShort'],
    consent: ['cold-migrate'],
    by,
  }).then(
    () => null,
    (error: unknown) => error,
  );
  return { failure, signalled, annotations: stored.annotations };
}

test('what another user accepts at the same time stays', async () => {
  const { failure, signalled, annotations } = await accept(acceptByOther);
  expect([failure, signalled]).toEqual([null, ['u-1']]);
  expect(annotations).toMatchObject({
    'drover.dev/accept-obstacles': 'NoTargets,CapacityShort',
    'drover.dev/consent': 'force-complete,cold-migrate',
    'drover.dev/consent-by': expect.stringContaining(by),
    'drover.dev/retry': expect.any(String),
  });
});

test('nothing is accepted of an Eviction that has taken the place of the one that was read', async () => {
  const { failure, signalled, annotations } = await accept(replaceEviction);
  expect(failure).toMatchObject({
    exitCode: exitCodes.refused,
    message: expect.stringMatching(/^Eviction node-1 of node-1 was deleted meanwhile\. /u),
  });
  expect([signalled, annotations]).toEqual([[], {}]);
});
