import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../runtime/clock.ts';
import { connectKubernetes, type Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import type { Neighbours } from '../agent-neighbours.ts';
import { installNeighbourKinds } from '../agent-neighbour-kinds.ts';
import {
  agentFixture,
  applyPool,
  labPoolAccess,
  listBootedVms,
  neighboursOf,
  setIsoUrl,
  setUpAgents,
} from '../agents.ts';
import { kubectl } from '../kubectl.ts';
import type { Lab } from '../lab.ts';
import { formatDuration } from '../progress.ts';
import { connectVcenterControl } from '../vsphere/control.ts';
import { vcenterSettings } from '../vsphere/vm-fixture.ts';
import { openGovcWitness, type VcenterWitness } from '../vsphere/witness.ts';
import { endRuns } from './end-runs.ts';
import { follow, patienceMs } from './follow.ts';
import type { Ending, Story, StoryContext } from './story.ts';

type PoolLab = Lab<'temporal' | 'kubernetes' | 'vsphere' | 'isos'>;

const { namespace, controlPlaneNamespace, pool } = agentFixture;

const replicas = 10;
/** What takes a guest some minutes takes seconds here. */
const played = { discoveryMs: 2_000, installMs: 3_000, drainMs: 5_000 };
const roundEveryMs = 500;

/** A NodePool that is scaled from 0 to 10 and back: VMs for its Machines, from one ISO. */
export const poolStory: Story<'vsphere' | 'isos'> = {
  intro: `drover makes a VM on vSphere for each Machine that a NodePool waits for, and takes it away with its Machine: real Temporal and Kubernetes, a vCenter that
is govmomi’s simulator, and a server of a discovery ISO. HyperShift, the Agent provider and assisted-service are played, as their documents say.
The first time they are built, which takes some minutes; then it is seconds.
`,
  parts: ['vsphere', 'isos'],
  fresh: ['vsphere'],
  async run(lab, stage) {
    const { kubernetes, vsphere, isos } = lab.handles;
    const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig });
    const playing = new AbortController();
    try {
      const witness = openGovcWitness(vsphere);
      await stage.step('a hosted cluster without Nodes, and a pool', () => setUp(lab, api));
      const neighbours = neighboursOf(api, { clock: systemClock, listVms: () => listBootedVms(witness), ...played });
      const playedOut = play(neighbours, AbortSignal.any([playing.signal, stage.interrupted]));
      await stage.step('a drover worker and a drover bridge', () =>
        stage.startDrover({
          modes: { Eviction: 'off', VsphereAgentPool: 'act', VsphereAgent: 'act' },
          vsphere: vcenterSettings(vsphere),
          agentPools: { iso: { hosts: [new URL(isos.url).host], caFile: isos.caFile } },
        }),
      );
      const ending = await perform({ stage, lab, witness, neighbours });
      playing.abort();
      await playedOut;
      return ending;
    } finally {
      playing.abort();
      await api.close();
    }
  },
};

interface Cast {
  stage: StoryContext;
  lab: PoolLab;
  witness: VcenterWitness;
  neighbours: Neighbours;
}

async function setUp({ exports, handles: { kubernetes, vsphere, isos } }: PoolLab, api: Kubernetes): Promise<void> {
  await endRuns(exports);
  await installNeighbourKinds(kubernetes);
  await clear(kubernetes);
  await setUpAgents(api, labPoolAccess(vsphere));
  await setIsoUrl(api, `${isos.url}/images/${agentFixture.infraEnv}?image_token=the-token-of-the-demo`);
  await applyPool(api);
}

/** No worker serves what an earlier demo left, so finalizers are removed by hand. Its VMs went with the vCenter. */
async function clear(kubernetes: PoolLab['handles']['kubernetes']): Promise<void> {
  const kinds = [
    'vsphereagentpools',
    'vsphereagents',
    'agents.agent-install.openshift.io',
    'agentmachines',
    'machines.cluster.x-k8s.io',
  ];
  for (const kind of kinds) {
    const names = await kubectl(kubernetes, [
      'get',
      kind,
      '--all-namespaces',
      '-o',
      'jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name}{"\\n"}{end}',
    ]);
    for (const line of names.split('\n').filter((one) => one !== '')) {
      const [of = '', name = ''] = line.split(' ');
      const patch = ['patch', kind, name, '-n', of, '--type=merge', '-p', '{"metadata":{"finalizers":null}}'];
      await kubectl(kubernetes, patch);
      await kubectl(kubernetes, ['delete', kind, name, '-n', of, '--ignore-not-found']);
    }
  }
}

async function play(neighbours: Neighbours, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await neighbours.round(AbortSignal.timeout(patienceMs));
    await delay(roundEveryMs, undefined, { signal }).catch(() => undefined);
  }
}

async function perform({ stage, lab, witness, neighbours }: Cast): Promise<Ending> {
  const { say, drover } = stage;
  const startedMs = performance.now();
  say(`\n1. The NodePool wants ${replicas} Nodes: ${replicas} Machines wait for Agents\n`);
  await neighbours.scale(replicas, stage.interrupted);
  const grown = await follow(stage, `${replicas} Nodes`, async () => {
    const nodes = neighbours.nodes().length;
    return { isThere: nodes === replicas, words: `${(await listBootedVms(witness)).length} VMs, ${nodes} Nodes` };
  });
  const grownMs = performance.now() - startedMs;
  say();
  await drover('pools');
  say();
  await drover('describe', 'pool', `${namespace}/${pool}`);
  const uploads = await countUploads(lab);
  say(`\nThe ISO was uploaded ${uploads === 1 ? 'once' : `${uploads} times`}.`);

  say('\n2. It wants none: Machines are deleted, and their VMs go after them\n');
  const shrinksMs = performance.now();
  await neighbours.scale(0, stage.interrupted);
  const shrunk = await follow(stage, 'no VM', async () => {
    const vms = (await listBootedVms(witness)).length;
    return { isThere: vms === 0, words: `${vms} VMs, ${neighbours.nodes().length} Nodes` };
  });
  const shrunkMs = performance.now() - shrinksMs;
  say();
  await drover('pools');
  say(`
See also:
  Web UI    ${lab.handles.temporal.uiUrl}/namespaces/default/workflows?query=DroverKind%3D%22VsphereAgentPool%22
  drover    npm run --silent drover -- pools; npm run --silent drover -- describe pool ${namespace}/${pool}
  kubectl   kubectl get vap,va -n ${namespace}; kubectl get agentmachines -n ${controlPlaneNamespace}
  govc      govc ls vm/${agentFixture.folder}; govc datastore.ls -ds ${agentFixture.isoDatastore} agent-forge
In another terminal: eval "$(npm run --silent lab -- status)"`);
  return {
    wrong: [...grown, ...(uploads === 1 ? [] : [`the ISO was uploaded ${uploads} times`]), ...shrunk],
    summary: `from 0 to ${replicas} Nodes in ${formatDuration(grownMs)} with one upload of the ISO, and back in ${formatDuration(shrunkMs)}`,
  };
}

const countUploads = async ({ handles: { vsphere } }: PoolLab): Promise<number> =>
  (await connectVcenterControl(vsphere).requests()).filter(({ method }) => method === 'PUT /folder').length;
