import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { VsphereAgentPool } from '../../contracts/crds/vsphere-agent-pool.ts';
import { workflowTypes } from '../../contracts/ids.ts';
import { installNeighbourKinds } from '../../lab/agent-neighbour-kinds.ts';
import type { NeighbourOptions, Neighbours } from '../../lab/agent-neighbours.ts';
import {
  agentFixture,
  applyPool,
  labPoolAccess,
  neighboursOf,
  readPool,
  setIsoUrl,
  setUpAgents,
} from '../../lab/agents.ts';
import { type Drover, startDrover } from '../../lab/drover.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import { connectVcenterControl, type VcenterControl } from '../../lab/vsphere/control.ts';
import { vcenterSettings } from '../../lab/vsphere/vm-fixture.ts';
import { systemClock } from '../../runtime/clock.ts';
import { connectKubernetes, type Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { type KubernetesObjects, openObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import { until } from '../../test/flows/until.ts';
import type { LoadRun } from '../load/load-run.ts';
import { countCalls } from '../onboarding/count-calls.ts';
import { openOwnVcenter, type OwnVcenter } from './own-vcenter.ts';

/** A lab with a drover that drives one pool, whose ISO is uploaded, and the neighbours of the pool. */
export interface AgentsWorld {
  lab: Lab<'temporal' | 'kubernetes' | 'vsphere' | 'isos'>;
  drover: Drover;
  client: Client;
  objects: KubernetesObjects;
  control: VcenterControl;
  vcenter: OwnVcenter;
  neighbours: Neighbours;
  /** With its ISO. */
  pool: VsphereAgentPool;
  /** Calls so far by system, of worker and bridge together. */
  calls(): Promise<ReadonlyMap<string, number>>;
  /** Waits until no run of a VsphereAgent is open. */
  untilQuiet(): Promise<void>;
  /** Scales to 0, and waits until nothing is left. @returns seconds until the last VM was gone */
  removeAll(): Promise<number>;
}

interface WorldOptions {
  /** Section `agentPools`, where it differs from the defaults. */
  agentPools: object;
  played: Pick<NeighbourOptions, 'discoveryMs' | 'installMs' | 'drainMs'>;
}

const roundEveryMs = 500;
const { namespace } = agentFixture;
/** Far more than any of it takes. */
export const patienceMs = 120_000;

export async function withAgentsWorld<Result>(
  { report, signal }: LoadRun,
  { agentPools, played }: WorldOptions,
  measure: (world: AgentsWorld) => Promise<Result>,
): Promise<Result> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-agents-')));
  const cleanups: (() => unknown)[] = [() => rmSync(root, { recursive: true, force: true })];
  try {
    const lab = await startLab({
      dir: join(root, 'lab'),
      parts: ['temporal', 'kubernetes', 'vsphere', 'isos'],
      report,
      signal,
    });
    cleanups.push(() => lab.stop());
    const { kubernetes, vsphere, isos } = lab.handles;
    const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig, requestTimeoutMs: 30_000 });
    cleanups.push(() => api.close());
    await installNeighbourKinds(kubernetes);
    await setUpAgents(api, labPoolAccess(vsphere));
    await setIsoUrl(api, `${isos.url}/images/${agentFixture.infraEnv}?image_token=the-token-of-the-benchmark`);
    await applyPool(api);
    const client = openClient(readTemporalSettings(lab.exports));
    cleanups.push(() => client.connection.close());
    const vcenter = await openOwnVcenter(vsphere);
    cleanups.push(() => vcenter.close());
    const drover = await startDrover(lab, {
      dir: join(root, 'drover'),
      settings: {
        modes: { Eviction: 'off', Hypervisor: 'off', VsphereAgentPool: 'act', VsphereAgent: 'act' },
        vsphere: vcenterSettings(vsphere),
        agentPools: { ...agentPools, iso: { hosts: [new URL(isos.url).host], caFile: isos.caFile } },
      },
      signal,
    });
    cleanups.push(() => drover.stop());
    const pool = await untilIsoIsThere(api, signal);
    const neighbours = neighboursOf(api, {
      clock: systemClock,
      listVms: (looking) => vcenter.listVms(looking),
      ...played,
    });
    const playing = new AbortController();
    const playedOut = play(neighbours, AbortSignal.any([playing.signal, signal]));
    cleanups.push(async () => {
      playing.abort();
      await playedOut;
    });
    const untilQuiet = () => untilNoRunIsOpen(client, signal);
    return await measure({
      lab,
      drover,
      client,
      objects: openObjects(api),
      control: connectVcenterControl(vsphere),
      vcenter,
      neighbours,
      pool,
      calls: () => readCalls(drover),
      untilQuiet,
      removeAll: async () => {
        const seconds = await removeAll({ neighbours, vcenter, api }, signal);
        await untilQuiet();
        return seconds;
      },
    });
  } finally {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  }
}

async function untilIsoIsThere(api: Kubernetes, signal: AbortSignal): Promise<VsphereAgentPool> {
  return await until(
    'the ISO to be uploaded',
    60_000,
    async () => {
      const pool = await readPool(api, signal);
      return pool?.status?.iso?.path ? pool : 'the pool has none';
    },
    signal,
  );
}

/** @throws what a round throws, unless it was aborted */
async function play(neighbours: Neighbours, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // What has begun is finished: the lab is stopped afterwards.
    await neighbours.round(AbortSignal.timeout(patienceMs));
    await delay(roundEveryMs, undefined, { signal }).catch(() => undefined);
  }
}

async function readCalls({ metricsUrls }: Drover): Promise<ReadonlyMap<string, number>> {
  const sum = new Map<string, number>();
  for (const url of [metricsUrls.worker, metricsUrls.bridge]) {
    const page = await (await fetch(url, { signal: AbortSignal.timeout(10_000) })).text();
    for (const [system, count] of countCalls(page)) sum.set(system, (sum.get(system) ?? 0) + count);
  }
  return sum;
}

async function untilNoRunIsOpen(client: Client, signal: AbortSignal): Promise<void> {
  const open = `WorkflowType = "${workflowTypes.reconcileAgent}" AND ExecutionStatus = "Running"`;
  await until(
    'all runs to end',
    patienceMs,
    async () => {
      const { count } = await client.workflow.count(open);
      return count === 0 ? true : `${count} are open`;
    },
    signal,
  );
}

async function removeAll(
  { neighbours, vcenter, api }: Pick<AgentsWorld, 'neighbours' | 'vcenter'> & { api: Kubernetes },
  signal: AbortSignal,
): Promise<number> {
  const startedMs = performance.now();
  await neighbours.scale(0, signal);
  const noVm = async (): Promise<true | string> => {
    const { length } = await vcenter.listVms(signal);
    return length === 0 ? true : `${length} are there`;
  };
  await until('the VMs to be gone', patienceMs, noVm, signal);
  const seconds = (performance.now() - startedMs) / 1_000;
  const noObject = async (): Promise<true | string> => {
    const { length } = await openObjects(api).list(resources.VsphereAgent, { namespace }, signal);
    return length === 0 ? true : `${length} are there`;
  };
  await until('the VsphereAgents to be gone', patienceMs, noObject, signal);
  return seconds;
}
