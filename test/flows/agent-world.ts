import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { findCondition } from '../../contracts/conditions.ts';
import type { VsphereAgent } from '../../contracts/crds/vsphere-agent.ts';
import type { VsphereAgentPool } from '../../contracts/crds/vsphere-agent-pool.ts';
import { installNeighbourKinds } from '../../lab/agent-neighbour-kinds.ts';
import type { Neighbours } from '../../lab/agent-neighbours.ts';
import {
  agentFixture,
  applyPool,
  labPoolAccess,
  listBootedVms,
  neighboursOf,
  readPool,
  setIsoUrl,
  setUpAgents,
} from '../../lab/agents.ts';
import { labClock } from '../../lab/clock.ts';
import { checkoutDirectory } from '../../lab/context.ts';
import { type Drover, startDrover } from '../../lab/drover.ts';
import { type IsoControl, connectIsoControl } from '../../lab/iso/control.ts';
import { type CommandEnd, kubectl, run } from '../../lab/kubectl.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import { connectVcenterControl, type RecordedRequest, type VcenterControl } from '../../lab/vsphere/control.ts';
import { vcenterSettings } from '../../lab/vsphere/vm-fixture.ts';
import { openGovcWitness, type VcenterWitness } from '../../lab/vsphere/witness.ts';
import { connectKubernetes, type Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import type { Observed } from '../read-world.ts';
import { openAgentLog } from './agent-log.ts';
import { openObjectLog } from './object-log.ts';
import { until } from './until.ts';

const { namespace, pool } = agentFixture;

/** In the URL of the discovery ISO: only its server may read it. */
const isoToken = 'a-token-of-assisted-service-0123456789abcdef';
/** Far more than each change takes. */
const patienceMs = 40_000;
/** Between two rounds of the neighbours. */
const roundMs = 500;
/** What takes a guest some minutes takes a second here. */
const played = { discoveryMs: 500, installMs: 1_000, drainMs: 2_000 };

/**
 * A pool of agents on real parts: drover's own processes and roles, vcsim, kube-apiserver, a server of ISOs, and
 * neighbours that are played.
 */
export interface AgentWorld {
  readonly lab: Lab<'temporal' | 'kubernetes' | 'vsphere' | 'isos'>;
  /** As the administrator. */
  readonly api: Kubernetes;
  readonly client: Client;
  readonly witness: VcenterWitness;
  readonly vcenter: VcenterControl;
  readonly isos: IsoControl;
  readonly neighbours: Neighbours;
  readonly drover: Drover;
  /** For the invariants. */
  readonly observed: Observed;
  scale(replicas: number): Promise<void>;
  /** Names of the VMs in the folder of the pool, sorted. */
  vms(): Promise<string[]>;
  pool(): Promise<VsphereAgentPool | null>;
  agents(): Promise<VsphereAgent[]>;
  /**
   * Until there are so many Nodes, each on a VM of a VsphereAgent that is bound, and nothing else. Returns the names of
   * the VMs, sorted.
   */
  untilNodes(count: number): Promise<string[]>;
  /** Until a condition of the pool, or of a VsphereAgent, is as `True Reconciled: ...`. */
  untilCondition(type: string, pattern: RegExp, agent?: string): Promise<void>;
  /** What the vCenter was asked of that method. */
  asked(method: string): Promise<RecordedRequest[]>;
  kubectl(...args: string[]): Promise<string>;
  /** `drover`, as a user runs it. */
  command(...args: string[]): Promise<CommandEnd>;
  close(): Promise<void>;
}

export async function openAgentWorld(): Promise<AgentWorld> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-agents-')));
  const closers = [async () => rmSync(root, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const one of closers.toReversed()) await one();
  };
  try {
    return { ...(await open(root, closers)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function open(root: string, closers: (() => Promise<void>)[]): Promise<Omit<AgentWorld, 'close'>> {
  const lab = await startLab({ dir: join(root, 'lab'), parts: ['temporal', 'kubernetes', 'vsphere', 'isos'] });
  closers.push(() => lab.stop());
  const { kubernetes, vsphere, isos } = lab.handles;
  const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig });
  const client = openClient(readTemporalSettings(lab.exports));
  closers.push(async () => void (await Promise.all([api.close(), client.connection.close()])));
  const witness = openGovcWitness(vsphere);
  const vcenter = connectVcenterControl(vsphere);
  await installNeighbourKinds(kubernetes);
  await setUpAgents(api, labPoolAccess(vsphere));
  await setIsoUrl(api, `${isos.url}/images/${agentFixture.infraEnv}?image_token=${isoToken}`);
  await applyPool(api);
  const neighbours = neighboursOf(api, { clock: labClock(), listVms: () => listBootedVms(witness), ...played });
  closers.push(play(neighbours));
  const sinceMs = labClock().now();
  const objectLog = await openObjectLog(api);
  const agentLog = await openAgentLog(api, witness, () => neighbours.letGo());
  closers.push(
    () => objectLog.close(),
    () => agentLog.close(),
  );
  const drover = await startDrover(lab, {
    dir: join(root, 'drover'),
    settings: {
      modes: { Eviction: 'off', VsphereAgentPool: 'act', VsphereAgent: 'act' },
      vsphere: vcenterSettings(vsphere),
      agentPools: {
        discoveryMs: 120_000,
        recheckMs: 5_000,
        lingerMs: 200,
        publishMinMs: 500,
        iso: { hosts: [new URL(isos.url).host], caFile: isos.caFile },
      },
      bridge: { resyncMs: 3_000 },
    },
  });
  closers.push(() => drover.stop());
  const outputs: { where: string; text: string }[] = [];
  const objects = openObjects(api);
  const signal = (): AbortSignal => AbortSignal.timeout(20_000);

  const vms = async (): Promise<string[]> => (await listBootedVms(witness)).map(({ name }) => name).toSorted();
  const agents = (): Promise<VsphereAgent[]> => objects.list(resources.VsphereAgent, { namespace }, signal());
  return {
    lab,
    api,
    client,
    witness,
    vcenter,
    isos: connectIsoControl(isos),
    neighbours,
    drover,
    observed: {
      lab,
      drover,
      dir: drover.dir,
      api,
      client,
      sinceMs,
      objectLog,
      agentLog,
      planted: [{ name: 'the token of the ISO', value: isoToken }],
      outputs,
    },
    scale: (replicas) => neighbours.scale(replicas, signal()),
    vms,
    pool: () => readPool(api, signal()),
    agents,
    untilNodes: (count) =>
      until(`${count} Nodes, on as many VMs`, patienceMs, async () => {
        const [there, objects, nodes] = [await vms(), await agents(), neighbours.nodes()];
        const bound = objects.filter(({ status }) => status?.vm?.phase === 'Bound');
        const isSo = [nodes, bound, there, objects].every(({ length }) => length === count);
        return isSo ? there : `Nodes ${nodes.join()}; VMs ${there.join()}; ${objects.map(stateOf).join('; ')}`;
      }),
    async untilCondition(type, pattern, agent) {
      const read = async () =>
        agent === undefined
          ? await readPool(api, signal())
          : await objects.get(resources.VsphereAgent, { namespace, name: agent }, signal());
      await until(`${agent ?? pool} to say ${type} ${pattern.source}`, patienceMs, async () => {
        const found = findCondition((await read())?.status?.conditions, type);
        const said = found === undefined ? 'nothing' : `${found.status} ${found.reason}: ${found.message}`;
        return pattern.test(said) ? {} : said;
      });
    },
    asked: async (method) => (await vcenter.requests()).filter((request) => request.method === method),
    kubectl: (...args) => kubectl(kubernetes, args),
    async command(...args) {
      const end = await run(process.execPath, [join(checkoutDirectory, 'bin/drover.mjs'), ...args], {
        env: { ...drover.env, DROVER_USER: 'flow-test', NO_COLOR: '1', KUBECONFIG: kubernetes.kubeconfig },
        limitMs: 180_000,
      });
      outputs.push({ where: `the output of drover ${args.join(' ')}`, text: end.stdout + end.stderr });
      return end;
    },
  };
}

/** A pool and no Machines. */
export async function beginWithEmptyPool(world: AgentWorld): Promise<void> {
  await applyPool(world.api);
  await world.scale(0);
  // What a failed attempt has left in the middle of things.
  await world.kubectl('delete', 'va', '--all', '-n', namespace, '--wait=false');
  await world.untilNodes(0);
}

/** @returns what ends it */
function play(neighbours: Neighbours): () => Promise<void> {
  const over = new AbortController();
  const played = (async () => {
    while (!over.signal.aborted) {
      // The API server or the vCenter may be away, because a test took it away.
      await neighbours.round(AbortSignal.timeout(20_000)).catch(() => undefined);
      await labClock().sleep(roundMs);
    }
  })();
  return async () => {
    over.abort();
    await played;
  };
}

const stateOf = ({ metadata, status }: VsphereAgent): string => {
  const ready = findCondition(status?.conditions, 'Ready');
  return `${metadata.name} ${status?.vm?.phase ?? '-'}/${status?.vm?.reason ?? '-'}: ${ready?.message ?? 'nothing said'}`;
};
