import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { orphanSweepId, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import type { SweepInput, SweepResult } from '../../contracts/machine-safety/sweep.ts';
import { type Drover, startDrover } from '../../lab/drover.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import { machineFixture, type Provider, setUpMachineNamespace } from '../../lab/machines.ts';
import { openTargetCluster, type TargetCluster } from '../../lab/target-cluster.ts';
import { connectKubernetes, type Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import { until } from '../../test/flows/until.ts';
import type { LoadRun } from '../load/load-run.ts';

const { namespace } = machineFixture;

/** A lab with the provider of a class, before drover is there. */
export interface MachinesLab<Of extends Provider> {
  lab: Lab<'temporal' | 'kubernetes' | Of>;
  api: Kubernetes;
}

/** The same with a drover that does the safety jobs of Machines and nothing else. */
export interface MachinesWorld<Of extends Provider> extends MachinesLab<Of> {
  client: Client;
  drover: Drover;
  /** The way to the API server of the Nodes. */
  target: TargetCluster;
}

export interface MachinesOptions<Of extends Provider> {
  providers: readonly Of[];
  /** Section `machines`, where it differs from the defaults. */
  machines: object;
  /** Makes classes, VMs and Machines before drover starts. */
  readonly prepare: (lab: MachinesLab<Of>) => Promise<void>;
}

const dayMs = 24 * 60 * 60_000;
/** So seldom that no Schedule disturbs a measurement. */
export const bySelf = { periodMs: dayMs, jitterMs: 0 };

export async function withMachinesWorld<Of extends Provider, Result>(
  { report, signal }: LoadRun,
  { providers, machines, prepare }: MachinesOptions<Of>,
  measure: (world: MachinesWorld<Of>) => Promise<Result>,
): Promise<Result> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-machines-')));
  const cleanups: (() => unknown)[] = [() => rmSync(root, { recursive: true, force: true })];
  try {
    const lab: Lab<'temporal' | 'kubernetes' | Of> = await startLab({
      dir: join(root, 'lab'),
      parts: ['temporal', 'kubernetes', ...providers],
      report,
      signal,
    });
    cleanups.push(() => lab.stop());
    const { kubernetes, ...others } = lab.handles as Lab<'temporal' | 'kubernetes'>['handles'];
    const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig, requestTimeoutMs: 30_000 });
    cleanups.push(() => api.close());
    await setUpMachineNamespace(api);
    await prepare({ lab, api });
    const target = await openTargetCluster(kubernetes, join(root, 'target.kubeconfig'));
    cleanups.push(() => target.close());
    const client = openClient(readTemporalSettings(lab.exports));
    cleanups.push(() => client.connection.close());
    const drover = await startDrover(
      { exports: lab.exports, handles: { ...others, kubernetes } },
      {
        dir: join(root, 'drover'),
        settings: {
          modes: { Eviction: 'off', Hypervisor: 'off', Machine: 'act' },
          machines: { namespaces: [namespace], targetKubeconfig: target.kubeconfig, ...machines },
        },
        signal,
      },
    );
    cleanups.push(() => drover.stop());
    return await measure({ lab, api, client, drover, target });
  } finally {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  }
}

/** A sweep that has ended. */
export interface EndedSweep {
  result: SweepResult;
  startedMs: number;
  /** From its start to its end, by Temporal's clock. */
  wallSeconds: number;
  events: number;
}

/** Sweeps once, as soon as no other run has the lock. */
export async function sweepOnce(client: Client, signal: AbortSignal): Promise<EndedSweep> {
  const handle = await until(
    'a sweep to begin',
    60_000,
    () =>
      client.workflow.start<(input: SweepInput) => Promise<SweepResult>>(workflowTypes.sweepOrphans, {
        workflowId: orphanSweepId(namespace),
        taskQueue: workflowQueue(''),
        args: [{ namespace }],
      }),
    signal,
  );
  const result = await handle.result();
  const { startTime, closeTime, historyLength } = await handle.describe();
  return {
    result,
    startedMs: startTime.getTime(),
    wallSeconds: ((closeTime?.getTime() ?? Number.NaN) - startTime.getTime()) / 1_000,
    events: historyLength,
  };
}
