import { systemClock } from '../../runtime/clock.ts';
import { parseConfig } from '../../runtime/config/config.ts';
import type { Kubernetes, KubernetesRequest } from '../../runtime/kubernetes/kubernetes.ts';
import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import { temporalAccessTo } from '../../test/fixtures/starters/temporal-access.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { main } from '../main.ts';
import { followSweep } from './read-sweep.ts';
import { exitCodeOfSweep } from './sweep.ts';

test.each<[why: string, outcome: string | null, dryRun: boolean, code: number]>([
  ['nothing is left to delete', 'reconciled', false, 0],
  ['a dry run', 'observed', true, 0],
  ['nothing was deleted, as drover only observes', 'observed', false, 1],
  ['it waits for an approval', null, false, 1],
  ['a class was not swept', 'blocked', false, 1],
])('how a sweep ends: %s', (_why, outcome, dryRun, code) => {
  expect(exitCodeOfSweep(outcome, dryRun)).toBe(code);
});

/** What a run says of itself at each look, by run id; the last one of all is the last one of the id. */
async function follow(runs: Record<string, { status: string; answers?: (object | Error)[] }>) {
  let elapsedMs = 0;
  const clock = {
    ...systemClock,
    monotonicMs: () => elapsedMs,
    sleep: async (ms: number) => {
      elapsedMs += ms;
      if (elapsedMs > 600_000) throw new Error('followed without end');
    },
  };
  const getHandle = (_workflowId: string, runId = Object.keys(runs).at(-1) ?? '') => ({
    describe: async () => ({ runId, status: { name: runs[runId]?.status }, startTime: new Date(0) }),
    async query() {
      const answers = runs[runId]?.answers ?? [];
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      // So long is asked for it.
      if (answer instanceof Error) elapsedMs += 5_000;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    result: async () => ({ outcome: 'reconciled', reason: 'NoOrphans', message: `ended as ${runId}` }),
  });
  const said: string[] = [];
  const access = {
    ...temporalAccessTo({ workflow: { getHandle } }),
    context: { ...sampleContext(paper()), clock },
    namespace: 'default',
  };
  const followed = followSweep(access, 'shoot', { workflowId: 'orphan-sweep/shoot', runId: 'r-1' }, (message) =>
    said.push(message),
  );
  return { said, elapsedMs: () => elapsedMs, view: await followed.catch((error: unknown) => error) };
}

const answer = (message: string, waiting: { reason: string } | null = null) => ({ reason: 'R', message, waiting });
const away = new Error('no worker');

test('a sweep is followed until it waits, also for another attempt after a failure', async () => {
  const waits = answer('Waiting for another attempt: no', { reason: 'KubernetesForbidden' });
  const { said, view } = await follow({
    'r-1': { status: 'RUNNING', answers: [answer('a'), away, answer('b'), waits] },
  });
  expect(said).toEqual(['a', expect.stringMatching(/^No worker answers/u), 'b']);
  expect(view).toMatchObject({ outcome: null, waitingFor: 'KubernetesForbidden' });
});

test('a sweep that no worker answers for is not followed without end', async () => {
  const { said, view, elapsedMs } = await follow({ 'r-1': { status: 'RUNNING', answers: [answer('a'), away] } });
  expect(said).toHaveLength(2);
  expect(view).toMatchObject({ exitCode: exitCodes.unreachable, message: expect.stringMatching(/^No worker has/u) });
  expect(elapsedMs()).toBeLessThan(30_000);
});

test('a sweep that goes on as another run is followed to its end', async () => {
  const { view } = await follow({ 'r-1': { status: 'CONTINUED_AS_NEW' }, 'r-2': { status: 'COMPLETED' } });
  expect(view).toMatchObject({ runId: 'r-2', status: 'Completed', message: 'ended as r-2' });
});

const providerId = 'vsphere://eu-1/4204cc2f-2f5c-bfb6-3d42-0c9e2f6a0b11';

/**
 * `drover sweep keep`, of which the last sweep has found worker-7.
 *
 * @param cluster uid of the cluster that Temporal belongs to; the kubeconfig leads to `own`
 */
async function keep(cluster: string, ...args: string[]) {
  const written: unknown[] = [];
  const request = async ({ method, path, body }: KubernetesRequest) => {
    if (path.endsWith('/namespaces/kube-system')) return { metadata: { uid: 'own' } };
    if (method === 'PATCH') written.push((body as { data: unknown }).data);
    const note = JSON.stringify({ providerId, by: 'jane', reason: '', at: '2026-01-31T10:00:00Z' });
    const data = { 'keep.vsphere.4204cc2f-2f5c-bfb6-3d42-0c9e2f6a0b11': note };
    return { metadata: { name: 'drover-sweep' }, data };
  };
  const kubernetes = { server: 'https://kubernetes', request, close: async () => undefined };
  const handle = {
    describe: async () => ({ runId: 'r', status: { name: 'COMPLETED' }, startTime: new Date(0), closeTime: null }),
    result: async () => ({
      outcome: 'reconciled',
      reason: 'OrphansHeld',
      message: '',
      candidates: [{ machineName: 'worker-7', providerId }],
    }),
  };
  const { client } = temporalAccessTo({
    connection: { close: async () => undefined },
    workflowService: { describeNamespace: async () => ({}) },
    schedule: { getHandle: () => ({ describe: async () => ({ action: { workflowId: `held-by/${cluster}` } }) }) },
    workflow: { getHandle: () => handle },
  });
  const terminal = paper();
  const code = await main(['sweep', 'keep', ...args], {
    ...sampleContext(terminal),
    loadConfig: async () => ({ config: parseConfig({ machines: { namespaces: ['shoot'] } }, {}, {}), file: null }),
    openTemporal: async () => ({ client, address: 'a:1', namespace: 'n' }),
    openKubernetes: async () => kubernetes as unknown as Kubernetes,
  });
  return { code, written, terminal };
}

test.each([
  [
    'is kept',
    ['worker-7', '--reason', 'forensics'],
    /^vsphere:\S+ is kept from sweeps of .* at https:\/\/kubernetes, /,
  ],
  [
    'is kept no longer',
    ['worker-7', '--lift'],
    /^vsphere:\S+ is kept no longer from sweeps of .* at https:\/\/kubernetes;/,
  ],
])('a VM that %s by the name of an orphan is one of that cluster', async (_what, args, sentence) => {
  const own = await keep('own', ...args);
  expect([own.code, own.written.length]).toEqual([exitCodes.ok, 1]);
  expect(own.terminal.stdout).toMatch(sentence);
  const json = await keep('own', ...args, '--json');
  expect(JSON.parse(json.terminal.stdout)).toMatchObject({ providerId });
  expect(json.terminal.stderr).toMatch(sentence);

  const other = await keep('other', ...args);
  expect([other.code, other.written]).toEqual([exitCodes.refused, []]);
  expect(other.terminal.stderr).toMatch(/belongs to another Kubernetes cluster/u);
});

test('a VM that is kept by its whole id needs no Temporal, and it says where it is kept', async () => {
  const { code, written, terminal } = await keep('other', providerId);
  expect([code, written.length]).toEqual([exitCodes.ok, 1]);
  expect(terminal.stdout).toContain('sweeps of the Kubernetes cluster at https://kubernetes');
});
