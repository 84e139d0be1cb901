import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { systemClock } from '../../runtime/clock.ts';
import { connectKubernetes, type Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { createReadFreeze } from '../../runtime/temporal/read-freeze.ts';
import { connectClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import type { Lab } from '../lab.ts';
import {
  labCloud,
  labVsphere,
  machineFixture,
  makeMachineServer,
  makeMachineVm,
  type Provider,
  putMachine,
  setUpMachineNamespace,
  setUpOpenStackClass,
  setUpVsphereClass,
  vsphereMarks,
} from '../machines.ts';
import { resetOpenStack } from '../openstack/reset.ts';
import { listServers } from '../openstack/seed.ts';
import { openSession, type Session } from '../openstack/session.ts';
import { formatDuration } from '../progress.ts';
import { inventory } from '../vsphere/handle.ts';
import { openGovcWitness, type VcenterWitness } from '../vsphere/witness.ts';
import { endRuns } from './end-runs.ts';
import type { Ending, Story, StoryContext } from './story.ts';
import { openTargetCluster, type TargetCluster } from '../target-cluster.ts';

type SweepLab = Lab<'temporal' | 'kubernetes' | 'openstack' | 'vsphere'>;

const { namespace, folder } = machineFixture;

/** What takes a quarter of an hour in a data centre takes seconds here. */
const apiServers = { periodMs: 1_000, timeoutMs: 1_000 };
const sweep = { periodMs: 4_000, jitterMs: 0, ageMs: 0, sightings: 2, probationMs: 0, longRetryMs: 2_000 };

const names = {
  workers: ['worker-1', 'worker-2', 'worker-3'],
  servers: ['worker-4', 'worker-5'],
  lost: 'lost-1',
  kept: 'lost-2',
  lostServer: 'lost-3',
  lostLater: 'lost-4',
  other: 'other-cluster-1',
} as const;

/** Far more than any of it takes. */
const patienceMs = 120_000;

/** Orphan VMs on vSphere and OpenStack: a dry run, a sweep, and a freeze while the API server of the Nodes is away. */
export const sweepStory: Story<'openstack' | 'vsphere'> = {
  intro: `drover sweeps VMs that belong to no Machine: real Temporal, Kubernetes and Nova, and a vCenter that is govmomi’s simulator. A dry run says
what would go, two sweeps agree before anything does, and while an API server is away nothing does. govc and Nova say what is there.
The first time they are built, which takes a quarter of an hour; then it is seconds.
`,
  parts: ['openstack', 'vsphere'],
  fresh: ['vsphere'],
  async run(lab, stage) {
    const { kubernetes, openstack, vsphere } = lab.handles;
    const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig });
    const client = await connectClient(readTemporalSettings(lab.exports), { clock: systemClock });
    const target = await openTargetCluster(kubernetes, join(lab.dir, 'target.kubeconfig'));
    try {
      const witness = openGovcWitness(vsphere);
      const session = await openSession(openstack);
      const cast = { stage, api, client, witness, session, target };
      await stage.step('five Machines with their VMs and servers, and what belongs to none', () => setUp(lab, cast));
      await stage.step('a drover worker and a drover bridge', () =>
        stage.startDrover({
          modes: { Eviction: 'off', Machine: 'act' },
          machines: { namespaces: [namespace], targetKubeconfig: target.kubeconfig, sweep, apiServers },
        }),
      );
      return await perform(cast, lab);
    } finally {
      await target.close();
      await client.connection.close();
      await api.close();
    }
  },
};

interface Cast {
  stage: StoryContext;
  api: Kubernetes;
  client: Client;
  witness: VcenterWitness;
  session: Session;
  target: TargetCluster;
}

async function setUp({ exports, handles: { openstack, vsphere } }: SweepLab, cast: Cast): Promise<void> {
  const { api, witness, session } = cast;
  await endRuns(exports);
  await resetOpenStack(openstack);
  await setUpMachineNamespace(api);
  await setUpVsphereClass(api, labVsphere(vsphere));
  await setUpOpenStackClass(api, labCloud(openstack));
  const machine = (name: string, provider: Provider, providerId: string): Promise<void> =>
    putMachine(api, { name, provider, providerId });
  for (const name of names.workers) await machine(name, 'vsphere', await makeMachineVm(witness, name));
  for (const name of names.servers) await machine(name, 'openstack', await makeMachineServer(session, name));
  await makeMachineVm(witness, names.lost);
  await makeMachineVm(witness, names.other, vsphereMarks('another-cluster'));
  await makeMachineServer(session, names.lostServer);
}

/** Names of what vCenter and Nova have. */
async function listAll({ witness, session }: Cast): Promise<string[]> {
  const path = `${inventory.vmFolder}/${folder}`;
  const vms = (await witness.find('vm', path)).map((vm) => vm.slice(path.length + 1));
  return [...vms, ...(await listServers(session)).map(({ name }) => name)].toSorted();
}

async function perform(cast: Cast, lab: SweepLab): Promise<Ending> {
  const { stage, witness, target } = cast;
  const { say, drover } = stage;
  const kept = await makeMachineVm(witness, names.kept);
  say(`\n1. What vCenter and Nova have\n${(await listAll(cast)).join(', ')}\n`);
  say('2. A dry run says what belongs to no Machine, and deletes nothing\n');
  await drover('sweep', '--namespace', namespace, '--dry-run');
  say(`\n3. A user keeps one of them; sweeps delete the others once two agree\n`);
  await drover('sweep', 'keep', kept, '--namespace', namespace, '--reason', 'its disk is still looked at');
  const startedMs = performance.now();
  const gone = await untilGone(cast, [names.lost, names.lostServer]);
  const sweptMs = performance.now() - startedMs;
  say(`\n4. The API server of the Nodes is cut off: Machines are frozen, and nothing is deleted\n`);
  target.cut();
  const frozen = await untilFreeze(cast, 'frozen');
  await makeMachineVm(witness, names.lostLater);
  await drover('safety');
  await drover('sweep', '--namespace', namespace);
  await delay(2 * sweep.periodMs);
  const stayed = (await listAll(cast)).includes(names.lostLater);
  say(`\n5. It is back\n`);
  target.mend();
  const thawed = await untilFreeze(cast, 'thawed');
  const late = await untilGone(cast, [names.lostLater]);
  await drover('safety');
  say();
  await drover('sweep', 'ls', '--namespace', namespace);
  const left = await listAll(cast);
  const expected = [...names.workers, ...names.servers, names.kept, names.other].toSorted();
  say(`\nvCenter and Nova have: ${left.join(', ')}`);
  say(`
See also:
  Web UI    ${lab.handles.temporal.uiUrl}/namespaces/default/workflows?query=DroverKind%3D%22Machine%22
  drover    npm run --silent drover -- safety; npm run --silent drover -- sweep ls --namespace ${namespace}
  kubectl   kubectl get machines,machineclasses -n ${namespace}; kubectl describe machineclass -n ${namespace}
In another terminal: eval "$(npm run --silent lab -- status)"`);
  const wrong = [
    ...gone,
    ...frozen,
    ...(stayed ? [] : [`${names.lostLater} was deleted while Machines were frozen`]),
    ...thawed,
    ...late,
    ...(left.join() === expected.join() ? [] : [`there is ${left.join(', ')}, and should be ${expected.join(', ')}`]),
  ];
  return {
    wrong,
    summary: `two orphans went in ${formatDuration(sweptMs)}, one that a user keeps stayed, and none went while Machines were frozen`,
  };
}

/** Says when each has gone. Returns what has not. */
async function untilGone(cast: Cast, wanted: readonly string[]): Promise<string[]> {
  const startedMs = performance.now();
  const left = new Set(wanted);
  while (left.size > 0 && performance.now() - startedMs < patienceMs) {
    const there = await listAll(cast);
    for (const name of [...left].filter((one) => !there.includes(one))) {
      left.delete(name);
      cast.stage.say(`${formatDuration(performance.now() - startedMs).padStart(8)}  ${name} is deleted`);
    }
    await delay(500, undefined, { signal: cast.stage.interrupted });
  }
  return [...left].map((name) => `${name} was not deleted within ${formatDuration(patienceMs)}`);
}

async function untilFreeze({ stage, client }: Cast, wanted: 'frozen' | 'thawed'): Promise<string[]> {
  const read = createReadFreeze({ temporal: client, cluster: '', clock: systemClock, settings: apiServers });
  const startedMs = performance.now();
  while (performance.now() - startedMs < patienceMs) {
    const { state } = await read(namespace, stage.interrupted);
    if (state === wanted) {
      stage.say(`${formatDuration(performance.now() - startedMs).padStart(8)}  Machines are ${wanted}`);
      return [];
    }
    await delay(500, undefined, { signal: stage.interrupted });
  }
  return [`Machines were not ${wanted} within ${formatDuration(patienceMs)}`];
}
