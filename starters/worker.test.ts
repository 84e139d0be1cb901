import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { kinds } from '../contracts/kinds/table.ts';
import { kubernetesQueue } from '../contracts/ids.ts';
import { checkoutDirectory, nodeSettings } from '../lab/context.ts';
import { cacheDirectory } from '../runtime/cache.ts';
import { raise } from '../test/raise.ts';
import { type Reply, type ScriptedService, startScriptedService } from '../test/scripted-service.ts';
import {
  emptyMessage,
  type ScriptedTemporal,
  startScriptedTemporal,
  type TemporalReply,
} from '../test/scripted-temporal.ts';
import { exitCodes } from './command/exit-codes.ts';

/** The process of a worker, as it ends: Temporal and kube-apiserver are scripted, and every kind is off. */

const { PollActivityTaskQueueRequest, PollActivityTaskQueueResponse } = proto.temporal.api.workflowservice.v1;
const grpc = { permissionDenied: 7, notFound: 5, resourceExhausted: 8 } as const;

let dir: string;
let kubernetes: ScriptedService;
let frontend: ScriptedTemporal;
let worker: ChildProcess | undefined;
/** What a test has them answer otherwise; undefined: as they usually do. */
let ofKubernetes: (path: string) => Reply | Promise<Reply> | undefined;
let ofTemporal: (call: string, request: Buffer) => TemporalReply | Promise<TemporalReply> | undefined;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'drover-worker-'));
  kubernetes = await startScriptedService(
    ({ path }) => ofKubernetes(path) ?? { json: { metadata: { uid: 'the-cluster' } } },
  );
  frontend = await startScriptedTemporal((call, request) => {
    const own = ofTemporal(call, request);
    if (own !== undefined) return own;
    // No Schedule is there yet.
    if (call === 'DescribeSchedule') return { status: grpc.notFound, message: 'no such Schedule' };
    return call.startsWith('Poll') ? 'silent' : emptyMessage;
  });
  writeFileSync(
    join(dir, 'kubeconfig'),
    JSON.stringify({
      clusters: [{ name: 'a', cluster: { server: kubernetes.url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'u', user: {} }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'u' } }],
      'current-context': 'a',
    }),
  );
});
beforeEach(() => {
  ofKubernetes = () => undefined;
  ofTemporal = () => undefined;
});
afterEach(() => worker?.kill('SIGKILL'));
afterAll(async () => {
  await Promise.all([kubernetes.close(), frontend.close()]);
  rmSync(dir, { recursive: true });
});

function startWorker({ healthAddress = null }: { healthAddress?: string | null } = {}) {
  const settings = { modes: Object.fromEntries(kinds.map((kind) => [kind, 'off'])), worker: { healthAddress } };
  writeFileSync(join(dir, 'drover.yaml'), JSON.stringify(settings));
  const child = spawn(
    process.execPath,
    [...nodeSettings.arguments, join(checkoutDirectory, 'starters/main.ts'), 'worker'],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      // Nothing of the machine's: neither its clouds nor its Temporal.
      env: {
        HOME: dir,
        DROVER_CACHE: cacheDirectory(),
        DROVER_CONFIG: join(dir, 'drover.yaml'),
        KUBECONFIG: join(dir, 'kubeconfig'),
        TEMPORAL_ADDRESS: frontend.address,
      },
    },
  );
  worker = child;
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const ended = once(child, 'close') as Promise<[code: number | null, signal: NodeJS.Signals | null]>;
  const tooEarly = (): never => raise(new Error(`it has ended, and said: ${log}`));
  return {
    child,
    log: () => log,
    ended,
    /** Until it has logged that. */
    says: async (words: string) => {
      while (!log.includes(words)) await Promise.race([once(child.stderr, 'data'), ended.then(tooEarly)]);
    },
  };
}

const policy = { namespace: 'team', name: 'policy', uid: 'u', present: true };

/**
 * Gives the worker one activity, which asks kube-apiserver for a policy.
 *
 * @returns asked: until it does; answer: that there is none; completed: until Temporal has its result
 */
function giveActivity() {
  const [asked, answered, completed] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<Reply>(),
    Promise.withResolvers<void>(),
  ];
  let isGiven = false;
  ofKubernetes = (path) => {
    if (!path.includes('virtualmachinesetresourcepolicies')) return undefined;
    asked.resolve();
    return answered.promise;
  };
  ofTemporal = (call, request) => {
    if (call === 'RespondActivityTaskCompleted') completed.resolve();
    if (call !== 'PollActivityTaskQueue' || isGiven) return undefined;
    if (PollActivityTaskQueueRequest.decode(request).taskQueue?.name !== kubernetesQueue('')) return undefined;
    isGiven = true;
    const [scheduledTime, limit] = [{ seconds: 1_700_000_000 }, { seconds: 600 }];
    const task = PollActivityTaskQueueResponse.fromObject({
      taskToken: Buffer.from('a task'),
      workflowNamespace: 'default',
      workflowType: { name: 'reconcileResourcePolicy' },
      workflowExecution: { workflowId: 'w', runId: 'r' },
      activityType: { name: 'patchPolicyFinalizer' },
      activityId: '1',
      attempt: 1,
      input: { payloads: [defaultPayloadConverter.toPayload(policy)] },
      scheduledTime,
      currentAttemptScheduledTime: scheduledTime,
      startedTime: scheduledTime,
      scheduleToCloseTimeout: limit,
      startToCloseTimeout: limit,
    });
    return PollActivityTaskQueueResponse.encode(task).finish();
  };
  return {
    asked: asked.promise,
    answer: () => answered.resolve({ status: 404, json: { kind: 'Status', details: { name: policy.name } } }),
    completed: completed.promise,
  };
}

test('one whose pages cannot be served ends, and says why', async () => {
  const { log, ended } = startWorker({ healthAddress: new URL(kubernetes.url).host });
  expect(await ended).toEqual([exitCodes.usage, null]);
  expect(log()).toContain('worker.healthAddress');
});

test('one that can serve only some of its queues ends, and says why', async () => {
  let described = 0;
  ofTemporal = (call) => {
    if (call !== 'DescribeNamespace') return undefined;
    described += 1;
    // The first asks for the command, one for all workers, one for each; those that ask later are made, and never run.
    return described > 1 && described < 5 ? { status: grpc.permissionDenied, message: 'not to this one' } : undefined;
  };
  const { log, ended } = startWorker();
  const [code] = await ended;
  expect(code).toBeGreaterThan(0);
  expect(log()).toContain('not to this one');
});

const tooLarge = { status: grpc.resourceExhausted, message: 'grpc: received message larger than max (9 vs. 4)' };

test('one of whose queues no activity is polled any more ends, and says so', async () => {
  ofTemporal = (call, request) =>
    call === 'PollActivityTaskQueue' &&
    PollActivityTaskQueueRequest.decode(request).taskQueue?.name === kubernetesQueue('')
      ? tooLarge
      : undefined;
  const { log, ended } = startWorker();
  expect(await ended).toEqual([exitCodes.unreachable, null]);
  expect(log()).toContain('Queue kubernetes is polled no more');
});

test('one of which a part breaks ends when its other parts have done what they had begun', async () => {
  const activity = giveActivity();
  const others = ofTemporal;
  const broken = Promise.withResolvers<TemporalReply>();
  ofTemporal = (call, request) => (call === 'PollWorkflowTaskQueue' ? broken.promise : others(call, request));
  const { ended, says } = startWorker();
  await activity.asked;
  // Of all that a poll may be answered, what the SDK takes for final at once.
  broken.resolve(tooLarge);
  await says('"taskQueue":"kubernetes","state":"DRAINING"');
  activity.answer();
  await activity.completed;
  const [code] = await ended;
  expect(code).toBe(exitCodes.unreachable);
});

test('a signal ends one that waits to begin', async () => {
  ofKubernetes = () => 'cut';
  const { child, ended, says } = startWorker();
  await says('nothing is done yet');
  child.kill('SIGTERM');
  expect(await ended).toEqual([exitCodes.ok, null]);
});

test('a second signal ends one that stops', async () => {
  const activity = giveActivity();
  const { child, ended, says } = startWorker();
  await activity.asked;
  child.kill('SIGTERM');
  await says('DRAINING');
  // Those of the first second are the same one, as npm passes it on.
  const again = setInterval(() => child.kill('SIGTERM'), 100);
  try {
    expect(await ended).toEqual([exitCodes.interrupted, null]);
  } finally {
    clearInterval(again);
  }
});
