import { withClock } from '../../lab/clock.ts';
import { applyHypervisors } from '../../lab/hypervisors.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { evictionId, kubernetesQueue, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { droverFailure, failureCode } from '../../runtime/failure.ts';
import { awaitClaim, claim, readClaim, readHeldNames } from '../../runtime/temporal/claim.ts';
import { quickSettings } from '../flows/world-base.ts';
import { simulatedCommand } from './command.ts';
import { deploy } from './deployment.ts';
import { loadWorkflows } from './bundle.ts';
import { createSimulation } from './simulation.ts';

/** Several clusters in one namespace of Temporal. */

const minuteMs = 60_000;
const yearMs = 365 * 24 * 60 * minuteMs;
const never = new AbortController().signal;

test.each(['', 'blue'])(
  'a run asks the workers of its own cluster (%p), whichever client starts it and whatever the input says',
  async (cluster) => {
    const asked: string[] = [];
    const serving = (of: string) => ({
      taskQueue: kubernetesQueue(of),
      activities: {
        openEviction: () => {
          asked.push(of);
          throw droverFailure('InvalidInput', 'enough is seen');
        },
      },
    });
    const simulation = createSimulation({
      bundle: await loadWorkflows(),
      seed: 1,
      serve: () => ['', 'blue', 'green'].map(serving),
    });
    const run = await simulation.client.workflow.start(workflowTypes.evictHypervisor, {
      workflowId: evictionId('node-1', cluster),
      taskQueue: workflowQueue(cluster),
      args: [{ hypervisor: 'node-1' }],
    });
    await simulation.run(
      run.result().catch(() => undefined),
      60 * minuteMs,
    );
    expect(new Set(asked)).toEqual(new Set([cluster]));
    simulation.close();
  },
);

describe('the name of a cluster', () => {
  const open = async () => {
    const simulation = createSimulation({ bundle: await loadWorkflows(), seed: 1, serve: () => [] });
    const { client, clock } = simulation;
    const run = <Result>(work: () => Promise<Result>): Promise<Result> =>
      simulation.run(work(), 2 * yearMs) as Promise<Result>;
    const take = (clusterUid: string, { cluster = '', region = null as string | null } = {}): Promise<string> =>
      claim(client, { cluster, clusterUid, region }, { clock }).then(
        () => 'taken',
        (error: unknown) => failureCode(error) ?? String(error),
      );
    return { simulation, client, clock, run, take };
  };

  test('belongs to the first that takes it, and to no other', async () => {
    const { simulation, run, take } = await open();
    const outcomes = await run(async () => [
      await take('one'),
      await take('one'),
      await take('other'),
      await take('other', { cluster: 'blue' }),
      await take('one', { cluster: 'blue' }),
    ]);
    expect(outcomes).toEqual(['taken', 'taken', 'ClusterClaimed', 'taken', 'ClusterClaimed']);
    simulation.close();
  });

  test('is of one region; a process without any is content', async () => {
    const { simulation, run, take } = await open();
    const outcomes = await run(async () => [
      await take('one'),
      await take('one', { region: 'east' }),
      await take('one', { region: 'west' }),
      await take('one'),
      await take('one', { region: 'west', cluster: 'west' }),
    ]);
    expect(outcomes).toEqual(['taken', 'taken', 'ClusterClaimed', 'taken', 'taken']);
    simulation.close();
  });

  test('is read with the others of its Kubernetes cluster, and their regions', async () => {
    const { simulation, client, clock, run, take } = await open();
    const held = (cluster: string, clusterUid: string) => readHeldNames(client, { cluster, clusterUid }, { clock });
    const found = await run(async () => {
      const fresh = await held('blue', 'one');
      await take('one', { cluster: 'blue', region: 'east' });
      await take('one', { cluster: 'green', region: 'west' });
      await take('one', { cluster: 'plain' });
      await take('other', { region: 'north' });
      return [fresh, await held('blue', 'one'), await held('', 'other'), await held('blue', 'other')];
    });
    expect(found.map(({ clusters, regions }) => [clusters.toSorted(), regions.toSorted()])).toEqual([
      [['blue'], []],
      [
        ['blue', 'green', 'plain'],
        ['east', 'west'],
      ],
      [[''], ['north']],
      [[''], ['north']],
    ]);
    simulation.close();
  });

  test('goes to one of many that start at once', async () => {
    const { simulation, run, take } = await open();
    const outcomes = await run(() => Promise.all(['a', 'b', 'a', 'b', 'c'].map((uid) => take(uid))));
    const winner = outcomes.indexOf('taken');
    expect(outcomes).toEqual(
      ['a', 'b', 'a', 'b', 'c'].map((uid, index, all) => (uid === all[winner] ? 'taken' : 'ClusterClaimed')),
    );
    simulation.close();
  });

  test('stays, starts nothing, and is read whatever users do to its Schedule; deleting it lets it go', async () => {
    const { simulation, client, clock, run, take } = await open();
    const handle = client.schedule.getHandle('claim/cluster');
    const outcomes = await run(async () => {
      await take('one');
      await handle.unpause('by mistake');
      await handle.pause('again');
      await clock.sleep(yearMs);
      const before = [await readClaim(client, 'cluster', '', { clock }), await take('other')];
      await handle.delete();
      return [...before, await take('other')];
    });
    expect(outcomes).toEqual(['one', 'ClusterClaimed', 'taken']);
    expect(simulation.runs()).toEqual([]);
    simulation.close();
  });

  test('the refusal says who has it, where that stands, and what to do', async () => {
    const { simulation, client, clock, run, take } = await open();
    const failure = await run(async () => {
      await take('one');
      return await claim(client, { cluster: '', clusterUid: 'other', region: null }, { clock }).catch(
        (error: unknown) => error,
      );
    });
    expect((failure as Error).message).toMatch(
      /another Kubernetes cluster \(uid one .* that of this one is other\), says the Schedule claim\/cluster\. Each cluster .* `cluster` in drover’s settings/u,
    );
    simulation.close();
  });

  describe('is waited for', () => {
    const wait = async (answers: string[]) => {
      const { simulation, client, clock, run } = await open();
      const said: (string | null)[] = [];
      const kubernetes = {
        server: 'https://kube',
        request: async () => {
          const answer = answers.length > 1 ? answers.shift() : answers[0];
          if (answer === 'away') throw droverFailure('KubernetesUnavailable', 'no answer');
          if (answer === 'forbidden') throw droverFailure('KubernetesForbidden', 'no right');
          return { metadata: { uid: answer } };
        },
      };
      const tools = {
        temporal: client,
        kubernetes,
        clock,
        logger: { warn: () => undefined },
        abort: never,
        onWait: (why: string | null) => void said.push(why),
      };
      const outcome = await run(() =>
        awaitClaim(tools, { cluster: 'blue', region: null }).then(
          () => 'taken',
          (error: unknown) => failureCode(error),
        ),
      );
      const holder = await run(() => readClaim(client, 'cluster', 'blue', { clock }));
      simulation.close();
      return { outcome, said, holder };
    };

    test('while kube-apiserver is away, which it says', async () => {
      const { outcome, said, holder } = await wait(['away', 'away', 'one']);
      expect([outcome, holder]).toEqual(['taken', 'one']);
      expect(said).toEqual([
        expect.stringContaining('which cluster has the name blue is not known yet: no answer'),
        expect.stringContaining('not known yet'),
        null,
      ]);
    });

    test('not where it may not be read', async () => {
      expect(await wait(['forbidden'])).toMatchObject({ outcome: 'KubernetesForbidden', holder: null });
    });
  });
});

test('no command that changes an object and tells its run takes a kubeconfig that leads to another cluster', async () => {
  const deployment = deploy({
    bundle: await loadWorkflows(),
    seed: 1,
    parts: ['openstack'],
    settings: { ...quickSettings, modes: { Eviction: 'act', Hypervisor: 'act' } },
    bridge: false,
  });
  const { simulation, kubernetes } = deployment;
  const { admin } = kubernetes;
  const { client, clock } = simulation;
  const drover = (...args: string[]) => simulatedCommand(deployment, args);
  const story = async (): Promise<void> => {
    await claim(client, { cluster: '', clusterUid: 'of another', region: null }, { clock });
    await applyHypervisors(admin, { 'node-1': {} });
    await applyObject(admin, {
      apiVersion: 'kvm.cloud.sap/v1',
      kind: 'Eviction',
      metadata: { name: 'node-1' },
      spec: { hypervisor: 'node-1', reason: 'test' },
    });
    const metadata = { namespace: 'default', name: 'one' };
    const volume = { source: { pvc: { namespace: 'default', name: 'image' } }, storage: {} };
    await applyObject(admin, { apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'DataVolume', metadata, spec: volume });
    const machine = { className: 'small', imageName: 'vmi-1', storageClass: 'fast' };
    await applyObject(admin, {
      apiVersion: 'vmoperator.vmware.com/v1alpha6',
      kind: 'VirtualMachine',
      metadata,
      spec: machine,
    });
    await client.workflow.start(workflowTypes.evictHypervisor, {
      workflowId: evictionId('node-1'),
      taskQueue: workflowQueue(''),
      args: [{ hypervisor: 'node-1' }],
    });
    await clock.sleep(1_000);
    for (const args of [
      ['evict', 'node-1', '--reason', 'another'],
      ['accept', 'node-1', '--consent', 'cold-migrate'],
      ['onboard', 'node-1'],
      ['maintain', 'node-1', '--reason', 'disks'],
      ['activate', 'node-1'],
      ['decommission', 'node-1', '--reason', 'lease ends'],
      ['retry', 'vm', 'default/one'],
      ['retry', 'dv', 'default/one'],
    ])
      expect([args, await drover(...args)]).toMatchObject([
        args,
        { code: 5, stderr: expect.stringContaining('belongs to another Kubernetes cluster (uid of another') },
      ]);
  };
  await simulation.run(withClock(clock, story), minuteMs);
  expect(simulation.runs()).toHaveLength(1);
  deployment.close();
});
