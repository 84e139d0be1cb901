import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { ErrorCode } from '../../contracts/errors.ts';
import { errors } from '../../contracts/errors.ts';
import { evictionId } from '../../contracts/ids.ts';
import { labClock } from '../../lab/clock.ts';
import { killKubeApiserver, restartKubeApiserver } from '../../lab/parts/kubernetes-faults.ts';
import { writePrivateFile } from '../../lab/private-files.ts';
import type { FaultProxy } from '../faults/proxy.ts';
import { openFaultProxy } from '../faults/proxy.ts';
import { checkInvariants } from '../invariants.ts';
import { hostOf, reasonsOf } from './eviction-facts.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/** Bad input, bad credentials, bad answers: a clear error in the Eviction, the run and the command; nothing started, nothing lost. */

let world: World;
let nova: FaultProxy;

beforeAll(async () => {
  world = await openWorld();
  nova = await openFaultProxy({ system: 'nova', target: world.lab.handles.openstack.computeUrl });
}, limitMs);
afterAll(async () => {
  await world.close();
  await nova.close();
}, limitMs);

/** Puts a clouds.yaml of the test's own in the place of the lab's. */
async function useCloud(change: (cloud: { auth: Record<string, string> }) => object): Promise<void> {
  const { clouds } = parse(readFileSync(world.lab.handles.openstack.cloudsFile, 'utf8')) as { clouds: Record<string, { auth: Record<string, string> }> };
  const file = join(world.dir, 'clouds.yaml');
  writePrivateFile(file, stringify({ clouds: { lab: change(clouds['lab'] ?? { auth: {} }) } }));
  await world.replaceDrover({ env: { OS_CLIENT_CONFIG_FILE: file } });
}

/** What a person types at tctl, and the words that answer it. */
const inputs: [input: string | null, words: string][] = [
  [null, 'the input: '],
  ['"node-1"', 'the input: '],
  ['{}', 'hypervisor: give the name of the hypervisor'],
  ['{"hypervisor": ""}', 'hypervisor: must not be empty'],
  ['{"hypervisor": 7, "reason": "x"}', 'hypervisor: give the name of the hypervisor'],
  ['{"hypervisor": "node 1", "reason": "x"}', 'hypervisor: is no host name'],
  ['{"hypervisor": "node-1"}', 'reason: must not be empty'],
  ['{"hypervisor": "node-1", "reason": " "}', 'reason: must not be empty: say why the host is to be emptied'],
  ['{"hypervisor": "node-1", "reason": "x", "priority": 1}', 'priority: unknown field; known are hypervisor, reason'],
  ['{"hypervisor": "node-1", "reason": "x", "parallelism": 1000}', 'parallelism: must be from 1 to 64'],
  ['{"hypervisor": "node-1", "reason": "x", "parallelism": 0, "cause": "mood"}', 'cause: Invalid option: expected one of "admin"|"decommission"|"rolling-update"|"termination"|"node-failure"; parallelism: must be from 1 to 64'],
  ['{"hypervisor": "node-1", "reason": "x", "deadline": "tomorrow"}', 'deadline: must be an RFC 3339 time'],
  ['{"hypervisor": "node-1", "reason": "x", "consent": ["cold-migrate"]}', 'startedBy: say who consents'],
];

test(
  'wrong JSON by tctl: the run fails with every problem, and there is no Eviction',
  async () => {
    const fromMs = labClock().now();
    for (const [index, [input, words]] of inputs.entries()) {
      const id = `bad-input-${index}`;
      const start = ['workflow', 'start', '--taskqueue', 'drover', '--workflow_type', 'evictHypervisor', '--workflow_id', id, ...(input === null ? [] : ['--input', input])];
      expect(await world.tool('tctl', ...start)).toMatchObject({ code: 0 });
      const failure = await world.client.workflow.getHandle(id).result().then(() => 'it succeeded', (error: unknown) => (error as { cause?: Error }).cause?.message ?? String(error));
      expect(failure).toContain(words);
      expect(failure).toContain(errors.InvalidInput.advice);
    }
    // Who waits at a terminal reads it there.
    const told = await world.tool('temporal', 'workflow', 'execute', '--task-queue', 'drover', '--type', 'evictHypervisor', '--workflow-id', 'bad-input-told', '--input', '{"hypervisor": "node-1", "reason": ""}');
    expect(told.code).not.toBe(0);
    expect(told.stdout + told.stderr).toContain('reason: must not be empty');
    expect(world.evictions.latest('node-1')).toBeNull();
    expect(await world.mutations(fromMs)).toEqual([]);
  },
  limitMs,
);

test(
  'bad options of drover evict: exit code 2 and a sentence, before anything is started',
  async () => {
    const bad: [string[], string][] = [
      [['node-1'], "required option '--reason <text>' not specified"],
      [['node-1', '--reason', ' '], 'Say why, for the people who will ask.'],
      [['node-1', '--reason', 'x', '--parallelism', '1000'], 'A whole number from 1 to 64.'],
      [['node-1', '--reason', 'x', '--deadline', '2020-01-01T00:00:00Z'], 'a deadline lies ahead'],
      [['node-1', '--reason', 'x', '--cause', 'mood'], 'One of: admin, decommission'],
      [['no host', '--reason', 'x'], 'A host name has letters'],
      [['node-1', '--reason', 'x', '--priority', '1'], "unknown option '--priority'"],
    ];
    const ends = await Promise.all(bad.map(([args]) => world.command('evict', ...args)));
    for (const [index, [, words]] of bad.entries()) expect(ends[index]).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(words) });
    expect(await world.command('evict', 'node-11', '--reason', 'x')).toMatchObject({ code: 4, stderr: expect.stringContaining('There is no Hypervisor node-11. Nothing was started.') });
    expect(world.evictions.latest('node-1')).toBeNull();
  },
  limitMs,
);

test(
  'what is no Eviction is refused by kube-apiserver, and what drover cannot read says so',
  async () => {
    const create = (spec: object, annotations: object = {}): Promise<string> =>
      world.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction', metadata: { name: 'node-1', annotations }, spec })).then(
        () => 'it was taken',
        (error: unknown) => (error as Error).message,
      );
    expect(await create({ hypervisor: 'node-1', reason: '' })).toContain('spec.reason');
    expect(await create({ hypervisor: 'node-1' })).toContain('spec.reason');
    expect(await create({ hypervisor: 'node-1', reason: 'x', priority: 1 })).toContain('unknown field "spec.priority"');

    const host = await world.freshHost('node-1');
    const servers = await world.seedMany(host, 1);
    const fromMs = labClock().now();
    await world.createEviction(host, { annotations: { 'drover.dev/parallelism': 'many', 'drover.dev/deadline': 'soon', 'drover.dev/eviction-cause': 'mood' } });
    const refused = await world.untilReason(host, 'InvalidObject');
    const { message } = refused.status?.conditions?.[0] ?? { message: '' };
    for (const words of ['drover.dev/parallelism: `many` is no whole number from 1 to 64', 'drover.dev/deadline: `soon` is no RFC 3339 time', 'drover.dev/eviction-cause: `mood` is unknown; known are admin']) expect(message).toContain(words);
    expect(message).toContain(errors.InvalidObject.advice);
    expect(await world.untilClosed(host)).toMatchObject({ status: 'FAILED' });
    expect(await world.mutations(fromMs, { servers, hosts: [host] })).toEqual([]);
    await expect(world.kubectl(['patch', 'eviction', host, '--type=merge', '-p', '{"spec":{"hypervisor":"node-2"}}'])).rejects.toThrow(/immutable/iu);

    await world.annotate(host, { 'drover.dev/parallelism': '2', 'drover.dev/deadline': null, 'drover.dev/eviction-cause': null });
    await world.untilReason(host, 'Succeeded');
    await world.untilClosed(host);
    await checkInvariants(world, [host]);
  },
  limitMs,
);

test(
  'a host that Nova does not know, with and without a Hypervisor',
  async () => {
    const fromMs = labClock().now();
    await world.createEviction('node-99');
    await world.setFacts({ 'node-88': {} });
    const told = await world.command('evict', 'node-88', '--reason', 'no nova-compute', '--wait');
    expect(told).toMatchObject({ code: 1, stdout: expect.stringContaining('node-88') });
    for (const host of ['node-99', 'node-88']) {
      const refused = await world.untilReason(host, 'HostNotFound');
      expect(refused.status?.conditions?.[0]).toMatchObject({ status: 'False', message: expect.stringContaining(errors.HostNotFound.advice) });
      expect(await world.untilClosed(host)).toMatchObject({ status: 'FAILED' });
      expect(await world.getEviction(host)).not.toHaveProperty('metadata.finalizers');
    }
    expect(await world.mutations(fromMs)).toEqual([]);
    await world.kubectl(['delete', 'hypervisor', 'node-88']);
    await checkInvariants(world, ['node-99', 'node-88']);
  },
  limitMs,
);

/** The error shows in the Eviction and in `drover describe`; Nova is not changed. */
async function expectProblem(host: string, code: ErrorCode, fromMs: number): Promise<void> {
  const shown = await world.untilReason(host, errors[code].reason);
  expect(shown.status?.conditions?.[0]).toMatchObject({ type: 'Evicting', status: 'True', message: expect.stringContaining(errors[code].advice) });
  expect(await world.mutations(fromMs, { hosts: [host] })).toEqual([]);
  expect(await world.progress(host)).toMatchObject({ waitingFor: expect.stringContaining(errors[code].advice), nextWakeUp: expect.any(String) });
}

/** When it is cured, it goes on: at once, because somebody says so, unless it has come to its end before. */
async function expectCured(...hosts: string[]): Promise<void> {
  for (const host of hosts) expect(await world.command('retry', host)).toMatchObject({ code: 0, stdout: expect.stringMatching(/Trying again: |not waiting to try again|is tried again/u) });
  for (const host of hosts) {
    await world.untilReason(host, 'Succeeded');
    await world.untilClosed(host);
    expect(await world.serversOn(host)).toEqual([]);
  }
  await checkInvariants(world, hosts);
}

test(
  'a credential that is refused, and corrected',
  async () => {
    const host = await world.freshHost('node-2');
    await world.seedMany(host, 1);
    const fromMs = labClock().now();
    await useCloud((cloud) => ({ ...cloud, auth: { ...cloud.auth, application_credential_secret: 'not-the-secret' } }));
    await world.createEviction(host);
    await expectProblem(host, 'CredentialRefused', fromMs);
    const described = await world.command('describe', host);
    expect(described).toMatchObject({ code: 0, stdout: expect.stringContaining('Keystone refused the credential') });
    expect(described.stdout).not.toContain('not-the-secret');
    await world.replaceDrover({});
    await expectCured(host);
  },
  limitMs,
);

test(
  'H1: a user without the role never makes a host look empty; and another one',
  async () => {
    const host = await world.freshHost('node-3');
    const servers = await world.seedMany(host, 2);
    const fromMs = labClock().now();
    await world.replaceDrover({ cloud: 'lab-member' });
    await world.createEviction(host);
    await expectProblem(host, 'NotPermitted', fromMs);
    expect(reasonsOf(world.evictions.of(host))).not.toContain('Succeeded');
    for (const server of servers) expect(await hostOf(world, server)).toBe(host);
    expect((await world.service(host)).status).toBe('enabled');
    await world.replaceDrover({});
    await expectCured(host);
  },
  limitMs,
);

test(
  'answers of Nova that are errors or nonsense, until they are cured',
  async () => {
    const broken: [host: string, code: ErrorCode, status: number, body: string][] = [
      ['node-1', 'NovaUnavailable', 503, '{"message": "down for a while"}'],
      ['node-2', 'AnswerMalformed', 200, '<html>Welcome to the load balancer</html>'],
      ['node-3', 'AnswerMalformed', 200, '{"servers": [{"id": 7}]}'],
      ['node-4', 'RequestRefused', 418, '{"teapot": {"message": "short and stout"}}'],
    ];
    for (const [host] of broken) {
      await world.freshHost(host);
      await world.seedMany(host, 1);
    }
    const fromMs = labClock().now();
    await useCloud((cloud) => ({ ...cloud, compute_endpoint_override: nova.url }));
    nova.inject(({ method, path }) => {
      const found = method === 'GET' && path.includes('/servers/detail') ? broken.find(([host]) => new URL(path, nova.url).searchParams.get('host') === host) : undefined;
      return found === undefined ? null : { do: 'answer', status: found[2], body: found[3] };
    });
    for (const [host] of broken) await world.createEviction(host);
    await Promise.all(broken.map(([host, code]) => expectProblem(host, code, fromMs)));
    nova.cure();
    await expectCured(...broken.map(([host]) => host));
    await world.replaceDrover({});
  },
  limitMs,
);

test(
  'kube-apiserver away: the run waits and says so, the command too, and nothing is lost',
  async () => {
    const host = await world.freshHost('node-1');
    const servers = await world.seedMany(host, 1);
    const fromMs = labClock().now();
    const { kubernetes } = world.lab.handles;
    await killKubeApiserver(kubernetes);
    try {
      expect(await world.command('evict', host, '--reason', 'x')).toMatchObject({ code: 3, stderr: expect.stringContaining('no answer from https://') });
      const start = ['workflow', 'start', '--task-queue', 'drover', '--type', 'evictHypervisor', '--workflow-id', evictionId(host), '--input', JSON.stringify({ hypervisor: host, reason: 'away' })];
      expect(await world.tool('temporal', ...start)).toMatchObject({ code: 0 });
      expect(await until('the run to say what it waits for', 60_000, () => world.progress(host))).toMatchObject({ phase: 'Opening', waitingFor: 'kube-apiserver to answer' });
      const failed = await until('an attempt to have failed', 60_000, async () => {
        const { raw } = await world.describeRun(host);
        const message = raw.pendingActivities?.[0]?.lastFailure?.message;
        return typeof message === 'string' ? { message } : 'none yet';
      });
      expect(failed.message).toContain(errors.KubernetesUnavailable.advice);
      expect(await world.mutations(fromMs, { servers, hosts: [host] })).toEqual([]);
    } finally {
      await restartKubeApiserver(kubernetes);
    }
    await world.untilReason(host, 'Succeeded');
    await world.untilClosed(host);
    expect(await world.serversOn(host)).toEqual([]);
    await checkInvariants(world, [host]);
  },
  limitMs,
);

/** By a person, a script or another program: none of it may fail the run's task, which would be tried for ever. */
const nonsense: [signal: string, input: string][] = [
  ['allowanceGranted', 'null'],
  ['allowanceGranted', '{"sequence": 1e9, "allowance": "all"}'],
  ['objectChanged', 'null'],
  ['pause', '7'],
  ['pause', '{"by": {"name": "jane"}}'],
  ['skipInstance', '{"instance": {}}'],
  ['setParallelism', '{"parallelism": "64"}'],
  ['cancelEviction', '{"abort": "yes"}'],
  ['noSuchSignal', '{}'],
];

/** Runs that are not for people, and what they say. */
const astray: [type: string, id: string, inputs: string[], words: string][] = [
  ['migrateInstance', 'migration/by-hand', [], 'start that one'],
  ['migrateInstance', 'migration/by-hand', ['{"instance": "vm-1"}'], 'start that one'],
  ['shareAllowance', 'limits/by-hand', [], 'needs a region'],
  ['shareAllowance', 'limits/by-hand', ['"RegionOne"'], 'needs a region'],
  ['evictHypervisor', 'eviction/node-6', ['{"hypervisor": "node-6", "reason": "x"}', '{"desired": 7}'], 'was given a state of another run'],
];

test(
  'nonsense by signal leaves a run as it was, and what nobody should start by hand says so',
  async () => {
    const host = await world.freshHost('node-4', { seconds: 5 });
    await world.seedMany(host, 1);
    await world.createEviction(host);
    await world.untilMoving(host);
    for (const [name, input] of nonsense) {
      const sent = await world.tool('temporal', 'workflow', 'signal', '--workflow-id', evictionId(host), '--name', name, '--input', input);
      expect({ name, ...sent }).toMatchObject({ code: 0 });
    }
    await world.untilReason(host, 'Succeeded');
    const { status, runId } = await world.untilClosed(host);
    expect(status).toBe('COMPLETED');
    const { events } = await world.client.workflow.getHandle(evictionId(host), runId).fetchHistory();
    expect((events ?? []).flatMap(({ workflowTaskFailedEventAttributes: task }) => task?.failure?.message ?? [])).toEqual([]);

    for (const [type, id, inputs, words] of astray) {
      const told = await world.tool('temporal', 'workflow', 'execute', '--task-queue', 'drover', '--type', type, '--workflow-id', id, ...inputs.flatMap((input) => ['--input', input]));
      expect({ type, code: told.code, said: told.stdout + told.stderr }).toMatchObject({ code: 1, said: expect.stringContaining(words) });
    }
  },
  limitMs,
);
