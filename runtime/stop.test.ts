import { droverFailure } from './failure.ts';
import type { Kubernetes } from './kubernetes/kubernetes.ts';
import { createStopGate, describeStop, findStop, readStops, stopKey } from './stop.ts';
import type { Stop, StopScope } from './stop.ts';

const place = { kind: 'Eviction', cluster: 'blue', region: 'north' } as const;
const note = { by: 'jane', reason: 'storage is down', at: '2026-01-01T00:00:00Z' };
const stop = (of: StopScope['of'], name: string): Stop => ({ of, name, ...note });

const rows: [stops: Stop[], found: Stop['of'] | undefined][] = [
  [[], undefined],
  [[stop('all', '')], 'all'],
  [[stop('kind', 'Eviction')], 'kind'],
  [[stop('cluster', 'blue')], 'cluster'],
  [[stop('cluster', 'green')], undefined],
  [[stop('region', 'north')], 'region'],
  [[stop('region', 'south')], undefined],
  [[stop('kind', 'Eviction'), stop('region', 'north'), stop('cluster', 'blue')], 'cluster'],
];

test.each(rows)('%j', (stops, found) => {
  expect(findStop(stops, place)?.of).toBe(found);
});

test('a stop of a cluster does not hold where the cluster has no name', () => {
  expect(findStop([stop('cluster', 'blue')], { ...place, cluster: '' })).toBeUndefined();
});

const keys: [scope: StopScope, key: string][] = [
  [{ of: 'all', name: '' }, 'all'],
  [{ of: 'kind', name: 'Eviction' }, 'kind.Eviction'],
  [{ of: 'region', name: 'eu.north-1' }, 'region.eu.north-1'],
];

test.each(keys)('%j is kept as %s', (scope, key) => {
  expect(stopKey(scope)).toBe(key);
});

test.each<StopScope>([
  { of: 'kind', name: 'Evictions' },
  { of: 'cluster', name: '' },
  { of: 'region', name: 'a/b' },
])('%j is no scope', (scope) => {
  expect(() => stopKey(scope)).toThrow(expect.objectContaining({ type: 'InvalidInput' }));
});

/** A kube-apiserver that answers with this data, or fails. */
function kubernetesWith(answers: (Record<string, string> | Error)[]): { kubernetes: Kubernetes; asked: () => number } {
  let asked = 0;
  const request = async (): Promise<unknown> => {
    const answer = answers[Math.min(asked, answers.length - 1)];
    asked += 1;
    if (answer instanceof Error) throw answer;
    return { data: answer };
  };
  return { kubernetes: { request } as unknown as Kubernetes, asked: () => asked };
}
const { signal } = new AbortController();
const away = droverFailure('KubernetesUnavailable', 'away');
const all = { all: JSON.stringify(note) };

test('what cannot be read stops all the same, what is not drover’s does not', async () => {
  const { kubernetes } = kubernetesWith([
    { all: 'because', 'kind.Eviction': JSON.stringify(note), 'region.': '{}', owner: 'jane' },
  ]);
  expect(await readStops(kubernetes, 'drover-system', signal)).toEqual([
    { of: 'all', name: '', by: 'unknown', reason: 'because', at: 'an unknown time' },
    stop('kind', 'Eviction'),
  ]);
});

test('nothing is stopped where there is no ConfigMap', async () => {
  expect(
    await readStops(kubernetesWith([droverFailure('ObjectNotFound', 'gone')]).kubernetes, 'drover-system', signal),
  ).toEqual([]);
});

test.each([null, [], { data: ['all'] }, { data: { all: 7 } }])(
  'an answer that is no ConfigMap is a failure, and never taken for leave: %j',
  async (answer) => {
    const kubernetes = { request: () => Promise.resolve(answer) } as unknown as Kubernetes;
    await expect(readStops(kubernetes, 'drover-system', signal)).rejects.toMatchObject({ type: 'AnswerMalformed' });
  },
);

test('the gate says who stopped and why', async () => {
  const gate = createStopGate(kubernetesWith([all]).kubernetes, 'drover-system', place, { monotonicMs: () => 0 });
  await expect(gate(signal)).rejects.toMatchObject({
    type: 'Stopped',
    message: expect.stringContaining(describeStop(stop('all', ''))),
  });
});

test('one answer serves a second, and not longer', async () => {
  let nowMs = 0;
  const { kubernetes, asked } = kubernetesWith([{}, all]);
  const gate = createStopGate(kubernetes, 'drover-system', place, { monotonicMs: () => nowMs });
  await Promise.all([gate(signal), gate(signal)]);
  nowMs = 999;
  await gate(signal);
  expect(asked()).toBe(1);
  nowMs = 1_000;
  await expect(gate(signal)).rejects.toMatchObject({ type: 'Stopped' });
});

test('when it is not known, nothing is changed, and the next caller asks again', async () => {
  const gate = createStopGate(kubernetesWith([away, {}]).kubernetes, 'drover-system', place, { monotonicMs: () => 0 });
  await expect(gate(signal)).rejects.toBe(away);
  await expect(gate(signal)).resolves.toBeUndefined();
});
