import type { EvictionProgress } from '../../contracts/eviction/eviction.ts';
import { systemClock } from '../../runtime/clock.ts';
import { tableError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import type { Ending, EvictionObject } from './eviction-objects.ts';
import { exitCodeOfWatch, follow, followSource, jsonView, liveView, type Observed, plainView } from './follow.ts';
import { ago, sampleInstance, sampleProgress } from '../../test/fixtures/starters/progress.ts';
import { sampleEviction } from '../../test/fixtures/starters/eviction.ts';
import { temporalAccessTo } from '../../test/fixtures/starters/temporal-access.ts';
import type { Paper } from '../../test/fixtures/starters/context.ts';
import { paper } from '../../test/fixtures/starters/context.ts';

const ending: Ending = { outcome: 'Succeeded', message: '1 of 1 moved in 1m', result: null };
const moving = (percent: number): EvictionProgress =>
  sampleProgress({
    instances: [sampleInstance({ name: 'web-1', state: 'moving', attempt: 1, percent, since: ago(10) })],
  });

/** Plays observations one after the other; an Error is one that failed. */
function playing(observations: (Observed | Error)[], percents: Record<string, number> | Error = {}) {
  const remaining = [...observations];
  return {
    observe: async (): Promise<Observed> => {
      const observed = remaining.shift();
      if (observed === undefined) throw new Error('observed too often');
      if (observed instanceof Error) throw observed;
      return observed;
    },
    percents: async () => {
      if (percents instanceof Error) throw percents;
      return new Map(Object.entries(percents));
    },
  };
}

const linesOf = ({ written }: Paper): string[] => written.trimEnd().split('\n');

const options = () => ({ intervalMs: 1, clock: systemClock, abort: new AbortController().signal });

test('it ends with the end, whatever was away in between', async () => {
  const shown: (number | null | undefined)[] = [];
  const remarks: string[] = [];
  const observations: (Observed | Error)[] = [
    { state: 'waiting', message: 'No run yet.' },
    { state: 'waiting', message: 'No run yet.' },
    tableError('TemporalUnavailable', 'Temporal is away.'),
    { state: 'running', progress: null },
    { state: 'running', progress: moving(10) },
    { state: 'ended', ending, endedAt: ago(0), leftDisabled: false, progress: null },
  ];
  const view = {
    show: (progress: EvictionProgress) => shown.push(progress.instances[0]?.percent),
    remark: (text: string) => remarks.push(text),
    end: () => undefined,
  };
  await expect(follow(playing(observations, { 'web-1-id': 40 }), view, options())).resolves.toEqual({
    ending,
    endedBefore: null,
  });
  expect(shown).toEqual([40]);
  expect(remarks).toEqual([
    'No run yet.',
    'Temporal is away. Still trying.',
    expect.stringMatching(/No worker answers/),
  ]);
});

test.each<[why: string, percents: Record<string, number> | Error, percent: number]>([
  ['the Migration object knows more', { 'web-1-id': 40 }, 40],
  ['it knows less', { 'web-1-id': 5 }, 10],
  ['it is of another server', { other: 40 }, 10],
  ['it cannot be read', new Error('forbidden'), 10],
])('percent: %s', async (_why, percents, percent) => {
  const shown: unknown[] = [];
  const view = {
    show: (progress: EvictionProgress) => shown.push(progress.instances[0]?.percent),
    remark: () => undefined,
    end: () => undefined,
  };
  await follow(
    playing(
      [
        { state: 'running', progress: moving(10) },
        { state: 'ended', ending, endedAt: ago(0), leftDisabled: false, progress: null },
      ],
      percents,
    ),
    view,
    options(),
  );
  expect(shown).toEqual([percent]);
});

test('it goes on while the Node is back and the host is being enabled', async () => {
  const progress = sampleProgress({ phase: 'ReEnabling', waitingFor: null });
  const observations: Observed[] = [
    { state: 'running', progress },
    { state: 'ended', ending, endedAt: ago(0), leftDisabled: false, progress: null },
  ];
  const view = { show: () => undefined, remark: () => undefined, end: () => undefined };
  await expect(follow(playing(observations), view, options())).resolves.toMatchObject({ ending });
});

test('it ends when the host is empty, and only the return of its Node is awaited', async () => {
  const waitingFor = 'Node node-1 to come back';
  const progress = sampleProgress({ hypervisor: 'node-1', phase: 'ReEnabling', waitingFor, since: ago(600) });
  const ended: Ending[] = [];
  const view = { show: () => undefined, remark: () => undefined, end: (end: Ending) => ended.push(end) };
  const end = {
    outcome: 'Succeeded',
    message: `node-1 is empty and disabled. Its run goes on, to enable it again: it waits for ${waitingFor}`,
    result: null,
  };
  const observations: Observed[] = [{ state: 'running', progress }];
  await expect(follow(playing(observations), view, options())).resolves.toEqual({ ending: end, endedBefore: null });
  expect(ended).toEqual([end]);
});

test.each<[why: string, before: (Observed | Error)[], endedBefore: string | null]>([
  ['at once', [], ago(60)],
  ['once Temporal answers', [tableError('TemporalUnavailable', 'Temporal is away.')], ago(60)],
  ['after it waited', [{ state: 'waiting', message: 'No run yet.' }], null],
  ['after it ran', [{ state: 'running', progress: null }], null],
])('%s: whether it had ended before', async (_why, before, endedBefore) => {
  const view = { show: () => undefined, remark: () => undefined, end: () => undefined };
  const end: Observed = { state: 'ended', ending, endedAt: ago(60), leftDisabled: false, progress: null };
  await expect(follow(playing([...before, end]), view, options())).resolves.toEqual({ ending, endedBefore });
});

test.each<[why: string, outcome: Ending['outcome'], endedS: number, leftDisabled: boolean, isBefore: boolean]>([
  ['it has emptied the host, which is still disabled', 'Succeeded', 5, true, false],
  ['it has emptied the host, which may be used again', 'Succeeded', 5, false, true],
  ['it has emptied the host a while ago', 'Succeeded', 60, true, true],
  ['it was refused', 'Failed', 5, false, false],
  ['it was refused a while ago', 'Failed', 60, false, true],
])('one that was too short to be seen: %s', async (_why, outcome, endedS, leftDisabled, isBefore) => {
  const view = { show: () => undefined, remark: () => undefined, end: () => undefined };
  const endedAt = ago(endedS);
  const clock = { ...systemClock, now: () => Date.parse(ago(0)) };
  const end: Observed = { state: 'ended', ending: { ...ending, outcome }, endedAt, leftDisabled, progress: null };
  const { endedBefore } = await follow(playing([end]), view, { ...options(), clock });
  expect(endedBefore).toBe(isBefore ? endedAt : null);
});

test.each<[why: string, outcome: Ending['outcome'], endedBefore: string | null, exitCode: number]>([
  ['it was watched to its end', 'Succeeded', null, exitCodes.ok],
  ['the host had been emptied before', 'Succeeded', ago(60), exitCodes.notFound],
  ['it had failed before', 'Failed', ago(60), exitCodes.notFound],
  ['it only observed', 'Observed', null, exitCodes.failed],
])('exit code of watch: %s', (_why, outcome, endedBefore, exitCode) => {
  expect(exitCodeOfWatch(outcome, endedBefore)).toBe(exitCode);
});

/** A host whose last run has ended. */
const sourceOf = (evictions: () => Promise<EvictionObject[]>) =>
  followSource(
    temporalAccessTo({
      workflow: {
        getHandle: () => ({
          describe: () =>
            Promise.resolve({
              runId: 'r',
              status: { name: 'COMPLETED' },
              startTime: new Date(0),
              closeTime: new Date(60_000),
            }),
          result: () => Promise.resolve({ outcome: 'reconciled', message: 'Done', eviction: null }),
          query: () => Promise.reject(new Error('no worker')),
        }),
      },
    }),
    { evictions } as never,
    'node-1',
  );

test('what waits is asked for until kube-apiserver answers', async () => {
  const away = () => Promise.reject(tableError('KubernetesUnavailable', 'kube-apiserver is away.'));
  await expect(sourceOf(away).observe()).rejects.toThrow('is away');
  const forbidden = () => Promise.reject(tableError('KubernetesForbidden', 'No.'));
  await expect(sourceOf(forbidden).observe()).resolves.toMatchObject({
    state: 'ended',
    ending: { outcome: 'Succeeded' },
    endedAt: '1970-01-01T00:01:00.000Z',
    leftDisabled: false,
  });
  const disabled = {
    type: 'HypervisorDisabled',
    status: 'True',
    reason: '',
    message: '',
    lastTransitionTime: ago(60),
  } as const;
  const over = () => Promise.resolve([sampleEviction({ reconciled: true, conditions: [disabled] })]);
  await expect(sourceOf(over).observe()).resolves.toMatchObject({ state: 'ended', leftDisabled: true });
  await expect(sourceOf(() => Promise.resolve([sampleEviction()])).observe()).resolves.toMatchObject({
    state: 'waiting',
  });
});

test('a no ends it', async () => {
  const view = { show: () => undefined, remark: () => undefined, end: () => undefined };
  await expect(follow(playing([tableError('ObjectNotFound', 'No such eviction.')]), view, options())).rejects.toThrow(
    'No such eviction.',
  );
});

test('Ctrl-C ends the watching', async () => {
  const controller = new AbortController();
  const view = {
    show: () => controller.abort(new Error('interrupted')),
    remark: () => undefined,
    end: () => undefined,
  };
  await expect(
    follow(playing([{ state: 'running', progress: moving(10) }]), view, {
      ...options(),
      intervalMs: 60_000,
      abort: controller.signal,
    }),
  ).rejects.toThrow(/interrupted/);
});

test('plain lines show each change once', () => {
  const terminal = paper();
  const view = plainView(terminal, systemClock);
  view.show(moving(10));
  view.show(moving(20));
  view.end(ending, null);
  expect(linesOf(terminal).map((line) => line.replace(/^\S+ /, ''))).toEqual([
    'Moving: 1 of 4 done, 1 moving, 1 pending, 1 blocked',
    'web-1 moving',
    'Succeeded: 1 of 1 moved in 1m',
  ]);
});

test('JSON lines are JSON, and none comes twice', () => {
  const terminal = paper();
  const view = jsonView(terminal, systemClock);
  view.show(moving(10));
  view.show(moving(10));
  view.end(ending, null);
  const lines = linesOf(terminal).map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toEqual([
    { time: expect.any(String), progress: moving(10) },
    { time: expect.any(String), ending },
  ]);
});

test('the live table is drawn over the one before', () => {
  const terminal = paper();
  const view = liveView(terminal, systemClock);
  view.show(moving(10));
  view.show(moving(20));
  expect(terminal.written.startsWith('\r\u001b[J')).toBe(true);
  expect(terminal.written).toContain('\u001b[4A\r\u001b[J');
  view.end(ending, null);
  expect(terminal.written).toContain('Succeeded: 1 of 1 moved in 1m\n');
});

test('a remark that is wider than the terminal stays one line of it', () => {
  const terminal = { ...paper(), widthColumns: () => 30 };
  const view = liveView(terminal, systemClock);
  const drawn: string[] = [];
  terminal.draw = (text) => void drawn.push(text);
  view.remark('Temporal at 127.0.0.1:7233 cannot be reached. Still trying.');
  expect(drawn).toEqual([expect.stringMatching(/Temporal at 127\.0\.0\.1:7233 ca…\n$/u)]);
});
