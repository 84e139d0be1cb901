import { z } from 'zod';

import { definitionFile, toCustomResourceDefinition } from '../../contracts/crds/custom-resource-definition.ts';
import type { ResourceDefinition } from '../../contracts/crds/definition.ts';
import { definitions } from '../../contracts/crds/definitions.ts';
import { kindTable } from '../../contracts/kinds/table.ts';
import type { Config } from '../../runtime/config/config-schema.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { describeStop, readStops } from '../../runtime/stop.ts';
import { formatDuration } from '../render/duration.ts';
import type { ComparedDefinition } from './compare-crd.ts';
import { compareDefinitions } from './compare-crd.ts';
import type { Finding } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

export async function checkKubernetes(kubernetes: Kubernetes, signal: AbortSignal): Promise<Finding> {
  const { gitVersion } = (await kubernetes.request({ method: 'GET', path: '/version' }, signal)) as {
    gitVersion?: string;
  };
  return ok('Kubernetes', `${gitVersion ?? 'of unknown version'} at ${kubernetes.server}`);
}

/** Who the kubeconfig is, and what time it is there. */
export interface Reviewed {
  username: string;
  /** By kube-apiserver's clock; null where it does not say. */
  serverTimeMs: number | null;
}

/** @see https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/self-subject-review-v1/ */
export async function reviewSelf(kubernetes: Kubernetes, signal: AbortSignal): Promise<Reviewed> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const review = (await kubernetes.request(
    { method: 'POST', path: resourcePath('authentication.k8s.io/v1', 'selfsubjectreviews'), body },
    signal,
  )) as {
    metadata?: { creationTimestamp?: string | null };
    status?: { userInfo?: { username?: string } };
  };
  const time = review.metadata?.creationTimestamp ?? null;
  return {
    username: review.status?.userInfo?.username ?? 'unknown',
    serverTimeMs: time === null ? null : Date.parse(time),
  };
}

/** Deadlines and ages would be shown wrongly. */
const greatestSkewMs = 5_000;

/** kube-apiserver reports its time in whole seconds. */
export function checkClock(serverTimeMs: number | null, nowMs: number): Finding[] {
  if (serverTimeMs === null) return [];
  const skewMs = nowMs - serverTimeMs;
  const distanceMs = skewMs < 0 ? -skewMs : Math.max(0, skewMs - 1_000);
  if (distanceMs <= greatestSkewMs) return [ok('clock', 'agrees with kube-apiserver’s')];
  return [
    warn(
      'clock',
      `this machine is ${formatDuration(distanceMs)} ${skewMs < 0 ? 'behind' : 'ahead of'} kube-apiserver`,
      'Synchronise the clocks (NTP): deadlines and ages are shown wrongly.',
    ),
  ];
}

/**
 * Those of what is switched on, of hypervisors always: the others are of operators that may not be there
 * (docs/operations.md#what-each-mode-needs). Pure.
 */
export const neededDefinitions = (modes: Config['modes']): ResourceDefinition[] =>
  definitions.filter(({ group }) => {
    if (group === kindTable.Hypervisor.group) return true;
    if (group === kindTable.DataVolume.group) return modes.DataVolume !== 'off' || modes.StorageProfile !== 'off';
    if (group === kindTable.VsphereAgentPool.group)
      return modes.VsphereAgentPool !== 'off' || modes.VsphereAgent !== 'off';
    return group === kindTable.Machine.group ? modes.Machine !== 'off' : modes.VirtualMachine !== 'off';
  });

export const checkDefinitions = (
  kubernetes: Kubernetes,
  wanted: readonly ResourceDefinition[],
  signal: AbortSignal,
): Promise<Finding[]> => Promise.all(wanted.map((definition) => checkDefinition(kubernetes, definition, signal)));

/** Whose the definitions are that drover has beside its own, by their groups. */
const owners: Readonly<Record<string, string>> = {
  'vmoperator.vmware.com': 'vm-operator',
  'cdi.kubevirt.io': 'CDI',
  'machine.sapcloud.io': 'machine-controller-manager',
  'agent-forge.containeroo.ch': 'agent-forge-operator',
};

/**
 * How one definition is installed or brought up to date: that one alone, as others may be those of operators that run
 * (docs/operations.md#what-each-mode-needs). Pure.
 */
export function adviseDefinition(
  definition: Pick<ResourceDefinition, 'group' | 'plural'>,
  verb: 'installs' | 'mends',
): string {
  const file = `deploy/${definitionFile(definition)}`;
  const owner = owners[definition.group];
  // The chart of the operator that drover replaces is another manager of its fields.
  const isShared = owner === undefined && verb === 'mends';
  const apply = isShared
    ? `\`kubectl apply --server-side --force-conflicts -f ${file}\` ${verb} it, once the operator that drover replaces is stopped`
    : `\`kubectl apply --server-side -f ${file}\` ${verb} it`;
  const advice = verb === 'installs' ? `${apply}.` : `\`kubectl diff -f ${file}\` shows the difference, ${apply}.`;
  return owner === undefined
    ? advice
    : `It is ${owner}’s: do not apply drover’s where ${owner} installs its own. Else ${advice}`;
}

/** A field that is named, not counted: three say what kind of difference it is. */
const namedAtMost = 3;

async function checkDefinition(
  kubernetes: Kubernetes,
  definition: ResourceDefinition,
  signal: AbortSignal,
): Promise<Finding> {
  const own = toCustomResourceDefinition(definition);
  const check = `CRD ${own.metadata.name}`;
  try {
    const path = resourcePath('apiextensions.k8s.io/v1', 'customresourcedefinitions', { name: own.metadata.name });
    const installed = (await kubernetes.request({ method: 'GET', path }, signal)) as ComparedDefinition;
    const differences = compareDefinitions(own, installed);
    if (differences.length === 0) return ok(check, 'installed');
    const more = differences.length > namedAtMost ? `, and ${String(differences.length - namedAtMost)} more` : '';
    return warn(check, `${differences.slice(0, namedAtMost).join(', ')}${more}`, adviseDefinition(definition, 'mends'));
  } catch (error) {
    if (isFailure(error, 'ObjectNotFound'))
      return fail(check, 'not installed', adviseDefinition(definition, 'installs'));
    if (isFailure(error, 'KubernetesForbidden')) return await checkServed(kubernetes, definition, check, signal);
    throw error;
  }
}

/** Who may not read definitions can still see whether the kind is served. */
async function checkServed(
  kubernetes: Kubernetes,
  definition: ResourceDefinition,
  check: string,
  signal: AbortSignal,
): Promise<Finding> {
  if (await isServed(kubernetes, definition, signal))
    return ok(check, 'served; its schema could not be compared, for lack of permission');
  return fail(check, 'not installed', adviseDefinition(definition, 'installs'));
}

/** By what kube-apiserver says of itself, which every user may read. */
export async function isServed(
  kubernetes: Kubernetes,
  { group, version, plural }: Pick<ResourceDefinition, 'group' | 'version' | 'plural'>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const { resources = [] } = (await kubernetes.request(
      { method: 'GET', path: `/apis/${group}/${version}` },
      signal,
    )) as { resources?: { name: string }[] };
    return resources.some(({ name }) => name === plural);
  } catch (error) {
    if (isFailure(error, 'ObjectNotFound')) return false;
    throw error;
  }
}

const namespaces = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', schema: z.unknown() };

/** Who may not read namespaces learns of a missing one by the first refusal. */
export async function checkNamespace(
  kubernetes: Kubernetes,
  namespace: string,
  what: string,
  signal: AbortSignal,
): Promise<Finding[]> {
  const check = `namespace ${namespace}`;
  try {
    const advice = `kubectl create namespace ${namespace}, or name another one in drover’s settings.`;
    const found = await openObjects(kubernetes).get(namespaces, { name: namespace }, signal);
    return [found === null ? fail(check, `there is none, and ${what}`, advice) : ok(check, what)];
  } catch (error) {
    if (isFailure(error, 'KubernetesForbidden')) return [];
    throw error;
  }
}

export async function checkStops(kubernetes: Kubernetes, namespace: string, signal: AbortSignal): Promise<Finding[]> {
  const check = 'drover stop';
  try {
    const stops = await readStops(kubernetes, namespace, signal);
    if (stops.length === 0) return [ok(check, 'nothing is stopped')];
    return stops.map((stop) => warn(check, describeStop(stop), '`drover stop --lift` lets drover go on.'));
  } catch (error) {
    if (!isFailure(error, 'KubernetesForbidden')) throw error;
    return [
      warn(
        check,
        'whether something is stopped cannot be seen with this kubeconfig',
        'Use one that may read ConfigMap drover-stop; the worker needs it, the bridge does not.',
      ),
    ];
  }
}
