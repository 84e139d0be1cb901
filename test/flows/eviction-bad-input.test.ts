import { errors } from '../../contracts/errors.ts';
import { evictionId, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { labClock } from '../../lab/clock.ts';
import { checkInvariants } from '../invariants.ts';
import { hostOf, reasonsOf } from './eviction-observations.ts';
import { expectCured, expectProblem } from './eviction-problems.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * Bad input and bad credentials: a clear error in the Eviction, the run and the command; nothing started, nothing lost.
 * The same by tctl and temporal is in `eviction-tools.test.ts`, bad answers are in `eviction-answers.test.ts`, and what
 * the CRD's own rules refuse is in `crds.test.ts`.
 */

let world: World;

beforeAll(async () => {
  world = await openWorld();
}, limitMs);
afterAll(() => world.close(), limitMs);

/** What a user may type, and the message that answers it. */
const inputs: [input: string | null, message: string][] = [
  [null, 'hypervisor is missing. Start the run with, for example, {"hypervisor":"my-hypervisor"}'],
  ['"node-1"', 'hypervisor is missing'],
  ['{}', 'hypervisor is missing'],
  ['{"hypervisor": ""}', 'hypervisor is missing'],
  ['{"hypervisor": 7, "reason": "x"}', 'hypervisor is missing'],
  ['{"hypervisor": "node 1", "reason": "x"}', 'hypervisor: is no host name'],
  ['{"hypervisor": "node-1"}', 'reason: must not be empty'],
  ['{"hypervisor": "node-1", "reason": " "}', 'reason: must not be empty: say why the host is to be emptied'],
  ['{"hypervisor": "node-1", "reason": "x", "priority": 1}', 'priority: unknown field; known are hypervisor, reason'],
  ['{"hypervisor": "node-1", "reason": "x", "parallelism": 1000}', 'parallelism: must be from 1 to 64'],
  [
    '{"hypervisor": "node-1", "reason": "x", "parallelism": 0, "cause": "mood"}',
    'cause: Invalid option: expected one of "admin"|"decommission"|"rolling-update"|"termination"|"node-failure"; parallelism: must be from 1 to 64',
  ],
  ['{"hypervisor": "node-1", "reason": "x", "deadline": "tomorrow"}', 'deadline: must be an RFC 3339 time'],
  ['{"hypervisor": "node-1", "reason": "x", "consent": ["cold-migrate"]}', 'startedBy: say who consents'],
];

/** How the run of that id has failed. */
const failureOf = (id: string): Promise<string> =>
  world.client.workflow
    .getHandle(id)
    .result()
    .then(
      () => 'it succeeded',
      (error: unknown) => (error as { cause?: Error }).cause?.message ?? String(error),
    );

test(
  'wrong JSON: the run fails with every problem, and there is no Eviction',
  async () => {
    const fromMs = labClock().now();
    for (const [index, [input, message]] of inputs.entries()) {
      const workflowId = `bad-input-${index}`;
      const args = input === null ? [] : [JSON.parse(input) as unknown];
      await world.client.workflow.start(workflowTypes.evictHypervisor, {
        workflowId,
        taskQueue: workflowQueue(''),
        args,
      });
      const failure = await failureOf(workflowId);
      expect(failure).toContain(message);
      // Where the input names nothing, the sentence itself says what to type.
      if (!message.includes('is missing')) expect(failure).toContain(errors.InvalidInput.advice);
    }
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
      [['node-1', '--reason', ' '], 'Say why, for the users who will ask.'],
      [['node-1', '--reason', 'x', '--parallelism', '1000'], 'A whole number from 1 to 64.'],
      [['node-1', '--reason', 'x', '--deadline', '2020-01-01T00:00:00Z'], 'a deadline lies ahead'],
      [['node-1', '--reason', 'x', '--cause', 'mood'], 'One of: admin, decommission'],
      [['no host', '--reason', 'x'], 'A host name has letters'],
      [['node-1', '--reason', 'x', '--priority', '1'], "unknown option '--priority'"],
    ];
    const ends = await Promise.all(bad.map(([args]) => world.command('evict', ...args)));
    for (const [index, [, message]] of bad.entries())
      expect(ends[index]).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
    expect(await world.command('evict', 'node-11', '--reason', 'x')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('There is no Hypervisor node-11. Nothing was started.'),
    });
    expect(world.evictions.latest('node-1')).toBeNull();
  },
  limitMs,
);

test(
  'what is no Eviction is refused by kube-apiserver, and what drover cannot read says so',
  async () => {
    const create = (spec: object, annotations: object = {}): Promise<string> =>
      world
        .kubectl(
          ['create', '-f', '-'],
          JSON.stringify({
            apiVersion: 'kvm.cloud.sap/v1',
            kind: 'Eviction',
            metadata: { name: 'node-1', annotations },
            spec,
          }),
        )
        .then(
          () => 'it was taken',
          (error: unknown) => (error as Error).message,
        );
    expect(await create({ hypervisor: 'node-1', reason: '' })).toContain('spec.reason');
    expect(await create({ hypervisor: 'node-1' })).toContain('spec.reason');

    const host = await world.freshHost('node-1');
    const servers = await world.seedMany(host, 1);
    const fromMs = labClock().now();
    await world.createEviction(host, {
      annotations: {
        'drover.dev/parallelism': 'many',
        'drover.dev/deadline': 'soon',
        'drover.dev/eviction-cause': 'mood',
      },
    });
    const refused = await world.untilReason(host, 'InvalidObject');
    const { message } = refused.status?.conditions?.[0] ?? { message: '' };
    for (const message of [
      'drover.dev/parallelism: `many` is no whole number from 1 to 64',
      'drover.dev/deadline: `soon` is no RFC 3339 time',
      'drover.dev/eviction-cause: `mood` is unknown; known are admin',
    ])
      expect(message).toContain(message);
    expect(message).toContain(errors.InvalidObject.advice);
    expect(await world.untilClosed(host)).toMatchObject({ status: 'FAILED' });
    expect(await world.mutations(fromMs, { servers, hosts: [host] })).toEqual([]);

    await world.annotate(host, {
      'drover.dev/parallelism': '2',
      'drover.dev/deadline': null,
      'drover.dev/eviction-cause': null,
    });
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
    await world.reportAgents({ 'node-88': {} });
    const result = await world.command('evict', 'node-88', '--reason', 'no nova-compute', '--wait');
    expect(result).toMatchObject({ code: 1, stdout: expect.stringContaining('node-88') });
    for (const host of ['node-99', 'node-88']) {
      const refused = await world.untilReason(host, 'HostNotFound');
      expect(refused.status?.conditions?.[0]).toMatchObject({
        status: 'False',
        message: expect.stringContaining(errors.HostNotFound.advice),
      });
      expect(await world.untilClosed(host)).toMatchObject({ status: 'FAILED' });
      expect(await world.getEviction(host)).not.toHaveProperty('metadata.finalizers');
    }
    expect(await world.mutations(fromMs)).toEqual([]);
    await world.kubectl(['delete', 'hypervisor', 'node-88']);
    await checkInvariants(world, ['node-99', 'node-88']);
  },
  limitMs,
);

test(
  'a credential that is refused, and corrected',
  async () => {
    const host = await world.freshHost('node-2');
    await world.seedMany(host, 1);
    const fromMs = labClock().now();
    await world.replaceDrover({ secret: 'not-the-secret' });
    await world.createEviction(host);
    await expectProblem(world, host, 'CredentialRefused', fromMs);
    const described = await world.command('describe', host);
    expect(described).toMatchObject({ code: 0, stdout: expect.stringContaining('Keystone refused the credential') });
    expect(described.stdout).not.toContain('not-the-secret');
    await world.replaceDrover({});
    await expectCured(world, host);
  },
  limitMs,
);

test(
  'H1: a user without the role never makes a host appear empty; and another one',
  async () => {
    const host = await world.freshHost('node-3');
    const servers = await world.seedMany(host, 2);
    const fromMs = labClock().now();
    await world.replaceDrover({ cloud: 'lab-member' });
    await world.createEviction(host);
    await expectProblem(world, host, 'NotPermitted', fromMs);
    expect(reasonsOf(world.evictions.of(host))).not.toContain('Succeeded');
    for (const server of servers) expect(await hostOf(world, server)).toBe(host);
    expect((await world.service(host)).status).toBe('enabled');
    await world.replaceDrover({});
    await expectCured(world, host);
  },
  limitMs,
);

/** By a user, a script or another program: none of it may fail the run's task, which would be retried for ever. */
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

/** Runs that users must not start, and their errors. */
const astray: [type: string, id: string, inputs: string[], message: string][] = [
  ['migrateInstance', 'migration/by-hand', [], 'start that one'],
  ['migrateInstance', 'migration/by-hand', ['{"instance": "vm-1"}'], 'start that one'],
  ['evictHypervisor', 'eviction/by-hand', [], 'hypervisor is missing'],
  ['evictHypervisor', 'eviction/by-hand', ['{"hypervisor": 7}'], 'hypervisor is missing'],
  ['allocateAllowance', 'limits/by-hand', [], 'needs a region'],
  ['allocateAllowance', 'limits/by-hand', ['"RegionOne"'], 'needs a region'],
  [
    'evictHypervisor',
    'eviction/node-6',
    ['{"hypervisor": "node-6", "reason": "x"}', '{"desired": 7}'],
    'was given a state of another run',
  ],
];

test(
  'an invalid signal leaves a run as it was, and a run that users must not start says so',
  async () => {
    const host = await world.freshHost('node-4', { seconds: 5 });
    await world.seedMany(host, 1);
    await world.createEviction(host);
    await world.untilMoving(host);
    for (const [name, input] of nonsense) {
      await world.client.workflow.getHandle(evictionId(host)).signal(name, JSON.parse(input));
    }
    await world.untilReason(host, 'Succeeded');
    const { status, runId } = await world.untilClosed(host);
    expect(status).toBe('COMPLETED');
    const { events } = await world.client.workflow.getHandle(evictionId(host), runId).fetchHistory();
    expect(
      (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: task }) => task?.failure?.message ?? []),
    ).toEqual([]);

    for (const [type, workflowId, inputs, message] of astray) {
      const args = inputs.map((input) => JSON.parse(input) as unknown);
      await world.client.workflow.start(type, { workflowId, taskQueue: workflowQueue(''), args });
      expect(await failureOf(workflowId)).toContain(message);
    }
  },
  limitMs,
);
