import type { Client, WorkflowHandle } from '@temporalio/client';
import { findCondition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import { retryHandledAnnotation } from '../../contracts/eviction/annotations.ts';
import { evictionConditions } from '../../contracts/eviction/conditions.ts';
import { annotations, evictionId, kubernetesQueue, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { asSignal, messages, unseenChange } from '../../contracts/messages.ts';
import { withClock } from '../../lab/clock.ts';
import { createInstances } from '../../lab/openstack/seed.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { quickSettings } from '../flows/world-base.ts';
import { simulatedCommand } from './command.ts';
import { loadWorkflows } from './bundle.ts';
import { host, openEvictionStory } from './eviction-story.ts';
import type { ActivityFate, RunRecord, Simulation } from './simulation.ts';
import { createSimulation } from './simulation.ts';

const mostMs = 600_000;
const never = new AbortController().signal;

test('a run that opens its next Eviction keeps what it is told meanwhile for that one', async () => {
  const told = Promise.withResolvers<string>();
  let openings = 0;
  const { simulation, evict, run } = await openEvictionStory({
    settings: { ...quickSettings, eviction: { ...quickSettings.eviction, lingerMs: 60_000 } },
    onActivity({ activity, args: [, servingUid] }) {
      if (activity !== 'openEviction' || servingUid !== null) return 'works';
      openings += 1;
      const handle = simulation.client.workflow.getHandle(evictionId(host));
      if (openings === 2)
        handle
          .executeUpdate<string, [object]>(messages.pause, { args: [{ by: 'test' }] })
          .then(told.resolve, told.reject);
      return 'works';
    },
  });
  await run(async () => {
    await evict({ name: 'first' });
    await simulation.clock.sleep(15_000);
    await evict({ name: 'second' });
    expect(await told.promise).toMatch(/^Paused\./);
  }, mostMs);
});

test('an Eviction that is made just as the one before is let go is served', async () => {
  let isLetGo = false;
  const { simulation, admin, evict, conditionOf, run } = await openEvictionStory({
    async onActivity({ activity }): Promise<ActivityFate> {
      if (activity !== 'cancelRun' || isLetGo) return 'works';
      isLetGo = true;
      await withClock(simulation.clock, async () => {
        await evict({ name: 'second' });
        await simulation.clock.sleep(2_000);
      });
      return 'works';
    },
  });
  await run(async () => {
    await evict({ name: 'first' });
    await simulation.clock.sleep(1_000);
    await openObjects(admin).delete(resources.Eviction, { name: 'first' }, never);
    await simulation.clock.sleep(60_000);
    expect(isLetGo).toBe(true);
    expect(await conditionOf(evictionConditions.evicting, 'second')).toMatchObject({ reason: 'Succeeded' });
  }, mostMs);
});

test('a retry that comes while the run lingers starts the Eviction again', async () => {
  let openings = 0;
  const { simulation, evict, read, drover, run } = await openEvictionStory({
    settings: { ...quickSettings, eviction: { ...quickSettings.eviction, lingerMs: 60_000 } },
    bridge: false,
    onActivity({ activity, args: [, servingUid] }) {
      if (activity === 'openEviction' && servingUid === null) openings += 1;
      return 'works';
    },
  });
  const { client, clock } = simulation;
  await run(async () => {
    await evict({ name: 'first' });
    await client.workflow.start(workflowTypes.evictHypervisor, {
      workflowId: evictionId(host),
      taskQueue: workflowQueue(''),
      args: [{ hypervisor: host }],
    });
    await clock.sleep(15_000);
    expect(simulation.openRuns()).toContain(evictionId(host));
    expect(openings).toBe(1);
    expect(await drover('retry', host)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Eviction first of node-1 is tried again\.$/mu),
    });
    await clock.sleep(5_000);
    expect(openings).toBe(2);
    const first = await read('first');
    expect(first?.metadata.annotations).toMatchObject({
      [retryHandledAnnotation]: first?.metadata.annotations?.[annotations.retry],
    });
  }, mostMs);
});

test('a retry that comes while a run that was stopped closes is refused', async () => {
  const refused = Promise.withResolvers<unknown>();
  const { simulation, admin, evict, run } = await openEvictionStory({
    onActivity({ activity }) {
      const retry = () =>
        simulation.client.workflow.getHandle(evictionId(host)).executeUpdate(messages.retryNow, { args: [{}] });
      if (activity === 'cancelRun') retry().then(refused.resolve, refused.resolve);
      return 'works';
    },
  });
  await run(async () => {
    await evict({ name: 'first' });
    await simulation.clock.sleep(1_000);
    await openObjects(admin).delete(resources.Eviction, { name: 'first' }, never);
    expect(await refused.promise).toMatchObject({
      cause: { type: 'InvalidInput', message: expect.stringContaining('The eviction has ended.') },
    });
  }, mostMs);
});

test('a change that is told while an Eviction is opened is read while it is served', async () => {
  let rereads = 0;
  const { simulation, evict, run } = await openEvictionStory({
    bridge: false,
    onActivity({ activity, args: [, servingUid] }) {
      if (activity !== 'openEviction') return 'works';
      if (servingUid !== null) rereads += 1;
      else void simulation.client.workflow.getHandle(evictionId(host)).signal(messages.objectChanged.name, {});
      return 'works';
    },
  });
  await run(async () => {
    await evict({ name: 'first' });
    await simulation.client.workflow.start(workflowTypes.evictHypervisor, {
      workflowId: evictionId(host),
      taskQueue: workflowQueue(''),
      args: [{ hypervisor: host }],
    });
    await simulation.clock.sleep(20_000);
    expect(rereads).toBe(1);
  }, mostMs);
});

test('a host that no host can be called is refused once, in its Eviction, and once more when a user asks', async () => {
  const { simulation, admin, evict, read, annotate, run } = await openEvictionStory();
  const { clock } = simulation;
  const name = 'first';
  await run(async () => {
    await evict({ name, hypervisor: 'node 1' });
    await clock.sleep(300_000);
    const refused = await read(name);
    expect(findCondition(refused?.status?.conditions, evictionConditions.evicting)).toMatchObject({
      status: 'False',
      reason: 'InvalidObject',
      message: expect.stringContaining('spec.hypervisor: `node 1` is no host name: delete this Eviction'),
    });
    expect(refused?.metadata.finalizers ?? []).toEqual([]);
    expect(simulation.runs()).toMatchObject([{ status: 'FAILED' }]);

    await annotate({ [annotations.retry]: '1' }, name);
    await clock.sleep(300_000);
    expect(simulation.runs()).toMatchObject([{ status: 'FAILED' }, { status: 'FAILED' }]);

    await openObjects(admin).delete(resources.Eviction, { name }, never);
    expect(await read(name)).toBeNull();
  }, 900_000);
});

type Late = Partial<Record<'executeUpdate' | 'cancel', () => Promise<unknown>>>;

/** Before the call of that name is made, once, that has to be over. */
function lateClient({ client }: Pick<Simulation, 'client'>, late: Late): Client {
  const left = { ...late };
  const getHandle = (...target: Parameters<typeof client.workflow.getHandle>): WorkflowHandle => {
    const handle = client.workflow.getHandle(...target);
    const calls = Object.keys(late).map((name) => {
      const call = async (...args: unknown[]): Promise<unknown> => {
        const wait = left[name as keyof Late];
        delete left[name as keyof Late];
        await wait?.();
        return await (handle as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>)[name]?.(...args);
      };
      return [name, call];
    });
    return { ...handle, ...Object.fromEntries(calls) } as WorkflowHandle;
  };
  const workflow = Object.create(client.workflow, { getHandle: { value: getHandle } }) as Client['workflow'];
  return Object.create(client, { workflow: { value: workflow } }) as Client;
}

describe('a run that has two Evictions of its host', () => {
  const evictions = async () => {
    const opened = await openEvictionStory();
    const { deployment, simulation, openstack, evict } = opened;
    return {
      ...opened,
      /** `drover`, over a Temporal of which calls of a handle come late. */
      late: (calls: Late, ...args: string[]) =>
        simulatedCommand({ ...deployment, simulation: { ...simulation, client: lateClient(simulation, calls) } }, args),
      clock: simulation.clock,
      /** One that is served, with a guest that does not move by itself, and one that waits. */
      run: (story: () => Promise<void>): Promise<void> =>
        opened.run(async () => {
          await openstack.fleet.change(host, { migrate: 'slow' });
          await createInstances(openstack.admin, [{ name: 'guest', host }]);
          await evict({ name: 'first' });
          await simulation.clock.sleep(5_000);
          await evict({ name: 'second' });
          await simulation.clock.sleep(5_000);
          await story();
        }, mostMs),
    };
  };

  test('records a consent on the one that it serves', async () => {
    const { run, drover, read } = await evictions();
    await run(async () => {
      expect(await drover('accept', host, '--consent', 'cold-migrate')).toMatchObject({
        code: 0,
        stdout: 'Eviction first records the consent of flow-test: cold-migrate.\n',
      });
      expect((await read('first'))?.metadata.annotations).toMatchObject({ 'drover.dev/consent': 'cold-migrate' });
      expect((await read('second'))?.metadata.annotations ?? {}).not.toHaveProperty(['drover.dev/consent']);
    });
  });

  const evictingOf = async (read: () => Promise<Eviction | null>) =>
    findCondition((await read())?.status?.conditions, evictionConditions.evicting);

  test('stops the one that it serves, however late the cancel of the run comes', async () => {
    const { run, late, read, clock } = await evictions();
    await run(async () => {
      // The guest of the next one is given up after 20 s.
      const cancel = () => clock.sleep(10_000);
      expect(await late({ cancel }, 'cancel', host, '--abort')).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Stopping\. 1 in flight are aborted/u),
      });
      await clock.sleep(5_000);
      expect(await evictingOf(() => read('first'))).toMatchObject({ status: 'False', reason: 'Stopped' });
      expect(await evictingOf(() => read('second'))).toMatchObject({ status: 'True' });
    });
  });

  test('takes up a retry while it runs, so that it does not begin again what a user has stopped', async () => {
    const { run, drover, read, annotate, clock } = await evictions();
    await run(async () => {
      await annotate({ [annotations.retry]: '1' }, 'first');
      await clock.sleep(5_000);
      expect((await read('first'))?.metadata.annotations).toMatchObject({ [retryHandledAnnotation]: '1' });
      expect(await drover('cancel', host, '--abort')).toMatchObject({ code: 0 });
      await clock.sleep(20_000);
      expect(await evictingOf(() => read('first'))).toMatchObject({ status: 'False', reason: 'Stopped' });
      expect(await evictingOf(() => read('second'))).toMatchObject({ status: 'True' });
      await annotate({ [annotations.retry]: '2' }, 'first');
      await clock.sleep(5_000);
      expect(await evictingOf(() => read('first'))).toMatchObject({ status: 'Unknown', reason: 'AlreadyRunning' });
    });
  });

  test('does not stop the next one for a word that comes after the first has stopped', async () => {
    const { run, late, drover, read, clock } = await evictions();
    await run(async () => {
      const executeUpdate = async () => {
        expect(await drover('cancel', host, '--abort')).toMatchObject({ code: 0 });
        await clock.sleep(20_000);
      };
      expect(await late({ executeUpdate }, 'cancel', host)).toMatchObject({
        code: 4,
        stderr: expect.stringContaining('had stopped already. The next one was left as it is.'),
      });
      await clock.sleep(5_000);
      expect(await evictingOf(() => read('first'))).toMatchObject({ status: 'False', reason: 'Stopped' });
      expect(await evictingOf(() => read('second'))).toMatchObject({ status: 'True' });
    });
  });
});

describe('a run of evictions alone, with an activity that opens Evictions as the test says', () => {
  const minuteMs = 60_000;
  type Opening = () => Promise<object>;
  const alone = async (openEviction: Opening) => {
    const simulation = createSimulation({
      bundle: await loadWorkflows(),
      seed: 1,
      serve: () => [{ taskQueue: kubernetesQueue(''), activities: { openEviction } }],
    });
    const begin = (args: unknown[] = [{ hypervisor: host }]) =>
      simulation.client.workflow.start(workflowTypes.evictHypervisor, {
        workflowId: evictionId(host),
        taskQueue: workflowQueue(''),
        args,
      });
    return { simulation, begin };
  };

  const messagesThatCut: [what: string, send: (run: WorkflowHandle) => Promise<unknown>][] = [
    ['a cancel', (run) => run.cancel()],
    ['retryNow, which is answered', (run) => run.executeUpdate(messages.retryNow, { args: [{}] })],
    ['retryNow by signal', (run) => run.signal(asSignal(messages.retryNow), {})],
    ['a change', (run) => run.signal(messages.objectChanged, unseenChange('spec'))],
    ['a command, which waits for the Eviction', (run) => run.signal(asSignal(messages.pause), {})],
  ];
  test.each(messagesThatCut)('%s cuts the wait after a reading that failed', async (what, send) => {
    let lastMs = 0;
    const { simulation, begin } = await alone(() => {
      lastMs = simulation.clock.now();
      return Promise.reject(new Error('kube-apiserver is away'));
    });
    const { clock } = simulation;
    const run = await begin();
    const talk = async (): Promise<void> => {
      // By then the run waits ten minutes after each reading; Temporal's own retries come within 15 s.
      await clock.sleep(120 * minuteMs);
      while (clock.now() - lastMs < minuteMs) await clock.sleep(1_000);
      const sentMs = clock.now();
      await send(run);
      await clock.sleep(2_000);
      const [{ status }] = simulation.runs() as [RunRecord];
      if (what === 'a cancel') expect(status).toBe('CANCELED');
      else expect(lastMs).toBeGreaterThanOrEqual(sentMs);
    };
    await simulation.run(talk(), 24 * 60 * minuteMs);
    simulation.close();
  });

  test('an update that comes while nothing is open is answered before the run ends', async () => {
    const opening = Promise.withResolvers<object>();
    const { simulation, begin } = await alone(() => opening.promise);
    const run = await begin();
    const talk = async (): Promise<void> => {
      const answer = run.executeUpdate(messages.pause, { args: [{}] }).catch((error: unknown) => error);
      await simulation.clock.sleep(1_000);
      opening.resolve({ kind: 'nothing' });
      expect(await answer).toMatchObject({
        cause: { type: 'InvalidInput', message: expect.stringContaining('no open') },
      });
      expect(await run.result()).toMatchObject({ outcome: 'nothing', hypervisor: host });
    };
    await simulation.run(talk(), 10 * minuteMs);
    simulation.close();
  });

  test.each([[[]], [[null]], [['node-1']], [[{ hypervisor: 7 }]]])(
    'by hand with the input %j it fails in its first task, with a sentence',
    async (args: unknown[]) => {
      const { simulation, begin } = await alone(() => Promise.resolve({ kind: 'nothing' }));
      const run = await begin(args);
      const failure = await simulation.run(
        run.result().catch((error: unknown) => error),
        minuteMs,
      );
      expect(failure).toMatchObject({
        cause: { type: 'InvalidInput', message: expect.stringContaining('hypervisor is missing') },
      });
      expect(simulation.runs()).toMatchObject([{ status: 'FAILED', activities: [], taskFailures: [] }]);
      simulation.close();
    },
  );
});
