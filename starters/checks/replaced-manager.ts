import { z } from 'zod';

import { apiServerSafetyId } from '../../contracts/ids.ts';
import type { Mode } from '../../contracts/kinds/kind.ts';
import { type SafetyRun, judgeFreeze } from '../../contracts/machine-safety/judge-freeze.ts';
import type { Config } from '../../runtime/config/config-schema.ts';
import type { Clock } from '../../runtime/clock.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { readSafetyRun } from '../../runtime/temporal/read-freeze.ts';
import type { OpenedTemporal } from '../command/context.ts';
import { formatDuration } from '../render/duration.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** machine-controller-manager, whose safety jobs drover takes over (docs/machine-safety.md#sweeps). */
const managerName = 'machine-controller-manager';
const periodOption = '--machine-safety-orphan-vms-period';
const defaultPeriodMs = 15 * 60_000;
/** Its sweep cannot be switched off: one that is so seldom is as good as off. */
const offFromMs = 24 * 3_600_000;
/** Of its container, each a word; another process of the Deployment may have the option. */
const deploymentSchema = z.object({
  spec: z
    .object({
      replicas: z.int().default(1),
      template: z.object({
        spec: z.object({
          containers: z.array(
            z.object({ command: z.array(z.string()).default([]), args: z.array(z.string()).default([]) }),
          ),
        }),
      }),
    })
    .optional(),
});
const deployments = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  schema: deploymentSchema,
};

export type ManagerDeployment = z.output<typeof deploymentSchema>;

/** Whether the manager whose Machines they are sweeps orphan VMs itself: its sweep has none of drover's gates. */
export async function checkReplacedManager(
  kubernetes: Kubernetes,
  namespace: string,
  mode: Mode,
  signal: AbortSignal,
): Promise<Finding> {
  const check = checkOf(namespace);
  try {
    const key = { namespace, name: managerName };
    return judgeReplacedManager(namespace, await openObjects(kubernetes).get(deployments, key, signal), mode);
  } catch (error) {
    if (!isFailure(error, 'KubernetesForbidden')) throw error;
    return warn(
      check,
      'whether it sweeps orphan VMs cannot be seen: Deployments may not be read',
      `Check it yourself: kubectl get deployment -n ${namespace} ${managerName} -o yaml | grep ${periodOption}`,
    );
  }
}

const checkOf = (namespace: string): string => `${managerName} in ${namespace}`;

/** Pure. @param deployment null: there is none of that name */
export function judgeReplacedManager(namespace: string, deployment: ManagerDeployment | null, mode: Mode): Finding {
  const check = checkOf(namespace);
  if (deployment === null)
    return ok(check, `there is no Deployment ${managerName}; one of another name is not looked for`);
  const { replicas = 1, template } = deployment.spec ?? {};
  if (replicas === 0) return ok(check, 'it has no replicas');
  const periods = (template?.spec.containers ?? []).flatMap(({ command, args }) => periodsOf([...command, ...args]));
  const shortestMs = periods.length === 0 ? defaultPeriodMs : Math.min(...periods);
  if (shortestMs >= offFromMs) return ok(check, `its own sweep is as good as off: every ${formatDuration(shortestMs)}`);
  const sweeps = `it sweeps orphan VMs itself, every ${formatDuration(shortestMs)}, with none of drover’s gates`;
  if (mode === 'observe') return ok(check, `${sweeps}; drover only observes`);
  return fail(
    check,
    sweeps,
    `Give its containers ${periodOption}=87600h, or let drover only observe (modes.Machine: observe).`,
  );
}

/** Of every mention; one that cannot be read counts as its default. */
const periodsOf = (words: readonly string[]): number[] =>
  words.flatMap((word, index) => {
    if (word === periodOption) return [durationOf(words[index + 1] ?? '')];
    return word.startsWith(`${periodOption}=`) ? [durationOf(word.slice(periodOption.length + 1))] : [];
  });

const unitsMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/** As Go writes it: `15m`, `1h30m`, `8760h0m0s`. */
function durationOf(text: string): number {
  if (!/^(?:\d+(?:\.\d+)?(?:h|ms|m|s))+$/u.test(text)) return defaultPeriodMs;
  return [...text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/gu)].reduce(
    (sum, [, number, unit = '']) => sum + Number(number) * (unitsMs[unit] ?? 0),
    0,
  );
}

/** Whether the run is open that knows whether Machines are frozen. */
export async function checkApiServerSafety(
  { client }: OpenedTemporal,
  namespace: string,
  { cluster, machines }: Pick<Config, 'cluster' | 'machines'>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<Finding> {
  const workflowId = apiServerSafetyId(namespace, cluster);
  const run = await readSafetyRun(client, workflowId, { timeoutMs: 10_000, clock, abort: signal });
  return judgeApiServerSafety(workflowId, run, machines.apiServers, clock.now());
}

/** Pure. */
export function judgeApiServerSafety(
  workflowId: string,
  run: SafetyRun,
  settings: Config['machines']['apiServers'],
  nowMs: number,
): Finding {
  const freeze = judgeFreeze(run, settings, nowMs);
  if (freeze.state === 'thawed') return ok(workflowId, 'all API servers answer; Machines are not frozen');
  if (run.status !== 'open')
    return fail(
      workflowId,
      `it does not run, which counts as frozen: ${freeze.reason}`,
      'Start a worker: it starts the run within five minutes.',
    );
  return warn(
    workflowId,
    `${freeze.state === 'frozen' ? 'Machines are frozen' : 'whether Machines are frozen is not known'}: ${freeze.reason}`,
    'Nothing is swept until all API servers have answered. `drover safety` shows more.',
  );
}
