import { readEvictionAnnotations } from '../../contracts/eviction/annotations.ts';
import { CommandError } from '../command/error.ts';
import type { EvictionObject } from './eviction-objects.ts';
import type { EvictionPlan, EvictionRequest } from './eviction-request.ts';
import { evictionInput, evictionManifest, planEviction } from './eviction-request.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { sampleEviction } from '../../test/fixtures/starters/eviction.ts';

const at = '2026-01-31T12:00:00.000Z';
const now = Date.parse(at);
const request = (facts: Partial<EvictionRequest> = {}): EvictionRequest => ({
  host: 'node-1',
  reason: 'broken DIMM',
  by: 'alice@ops',
  ...facts,
});
const object = (facts: Partial<EvictionObject> = {}, asked: Partial<EvictionRequest> = {}): EvictionObject =>
  sampleEviction({
    createdAt: '2026-01-31T11:00:00Z',
    annotations: evictionManifest(request(asked), 'node-1', at).metadata.annotations,
    ...facts,
  });
const hosts = ['node-1', 'node-2', 'node-3.example'];

test.each<
  [
    why: string,
    asked: Partial<EvictionRequest>,
    hypervisors: string[] | null,
    objects: EvictionObject[],
    plan: EvictionPlan,
  ]
>([
  ['a first one', {}, hosts, [], { do: 'create', name: 'node-1' }],
  ['others have theirs', {}, hosts, [object({ host: 'node-2', name: 'node-2' })], { do: 'create', name: 'node-1' }],
  [
    'an earlier one has the name',
    {},
    hosts,
    [object({ reconciled: true })],
    { do: 'create', name: 'node-1-20260131120000' },
  ],
  ['no Hypervisors are registered', { host: 'node-9' }, [], [], { do: 'create', name: 'node-9' }],
  ['they may not be listed', { host: 'Compute_9' }, null, [], { do: 'create', name: 'compute-9' }],
  ['the same again', { by: 'bob' }, hosts, [object()], { do: 'join', eviction: object() }],
  [
    'the same again, with all it can have',
    { consent: ['cold-migrate'], parallelism: 2 },
    hosts,
    [object({}, { consent: ['cold-migrate'], parallelism: 2 })],
    {
      do: 'join',
      eviction: object({}, { consent: ['cold-migrate'], parallelism: 2 }),
    },
  ],
  [
    'the same time from now, later',
    { deadline: '2026-01-31T16:00:00Z', deadlineFromNowMs: 4 * 3_600_000 },
    hosts,
    [object({}, { deadline: '2026-01-31T15:00:01Z' })],
    { do: 'join', eviction: object({}, { deadline: '2026-01-31T15:00:01Z' }) },
  ],
])('%s', (_why, asked, hypervisors, objects, plan) => {
  expect(planEviction(request(asked), hypervisors, objects, now)).toEqual(plan);
});

test.each<[why: string, asked: Partial<EvictionRequest>, objects: EvictionObject[], exitCode: number, words: RegExp]>([
  ['an unknown host', { host: 'nod-1' }, [], exitCodes.notFound, /no Hypervisor nod-1.*Did you mean node-1\?/],
  ['a short name', { host: 'node-3' }, [], exitCodes.notFound, /Did you mean node-3\.example\?/],
  ['a host like no other', { host: 'elsewhere' }, [], exitCodes.notFound, /no Hypervisor elsewhere.*drover hosts/],
  ['a dead host', { cause: 'node-failure' }, [], exitCodes.refused, /said to have failed.*Fence it/],
  [
    'another reason',
    { reason: 'firmware' },
    [object()],
    exitCodes.refused,
    /already asks.*another reason.*drover watch/,
  ],
  [
    'another time from now',
    { deadline: '2026-01-31T17:00:00Z', deadlineFromNowMs: 5 * 3_600_000 },
    [object({}, { deadline: '2026-01-31T15:00:01Z' })],
    exitCodes.refused,
    /another deadline/,
  ],
  [
    'another deadline',
    { deadline: '2026-01-31T16:00:00Z' },
    [object({}, { deadline: '2026-01-31T15:00:01Z' })],
    exitCodes.refused,
    /another deadline/,
  ],
  ['another mode', { observe: true, parallelism: 3 }, [object()], exitCodes.refused, /another parallelism, mode/],
  ['one that is being deleted', {}, [object({ deleting: true })], exitCodes.refused, /being deleted/],
])('%s is refused', (_why, asked, objects, exitCode, words) => {
  const plan = () => planEviction(request(asked), hosts, objects, now);
  expect(plan).toThrow(CommandError);
  try {
    plan();
  } catch (error) {
    const { message, advice, exitCode: code } = error as CommandError;
    expect(code).toBe(exitCode);
    expect(`${message} ${advice ?? ''}`).toMatch(words);
  }
});

test('what is written is what is read', () => {
  const everything = request({
    cause: 'decommission',
    deadline: '2026-02-01T00:00:00Z',
    parallelism: 4,
    reEnable: false,
    accept: ['NoTargets', 'Vgpu/5f0a'],
    consent: ['cold-migrate', 'force-complete'],
    observe: true,
  });
  const manifest = evictionManifest(everything, 'node-1', at);
  expect(manifest.spec).toEqual({ hypervisor: 'node-1', reason: 'broken DIMM' });
  const { asked, problems } = readEvictionAnnotations(manifest.metadata.annotations);
  expect(problems).toEqual([]);
  const { reason: _, hypervisor: __, acceptObstacles, ...input } = evictionInput(everything);
  expect(asked).toEqual({ ...input, acceptedObstacles: acceptObstacles });
});

test('what was not asked is not written', () => {
  expect(Object.keys(evictionManifest(request(), 'node-1', at).metadata.annotations)).toEqual([
    'drover.dev/started-by',
  ]);
  expect(evictionInput(request())).toEqual({ hypervisor: 'node-1', reason: 'broken DIMM', startedBy: 'alice@ops' });
});
