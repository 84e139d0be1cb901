import type { Mode } from '../../contracts/kinds/kind.ts';
import { virtualMachine, virtualMachineGroup, virtualMachineImageCache } from '../../contracts/kinds/resources.ts';
import type { VirtualMachineSettings } from '../../contracts/virtual-machine/lifecycle.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { fail, type Finding, ok, warn } from './finding.ts';
import { isServed } from './kubernetes.ts';

/** What lifecycles of VMs need besides (docs/virtual-machine.md). */

/** Kinds that others bring along, by the switch that they are for. */
export async function checkSwitches(
  kubernetes: Kubernetes,
  { fastDeploy, groups }: Pick<VirtualMachineSettings, 'fastDeploy' | 'groups'>,
  signal: AbortSignal,
): Promise<Finding[]> {
  const [hasCaches, hasGroups] = await Promise.all(
    [virtualMachineImageCache, virtualMachineGroup].map((kind) => isServed(kubernetes, kind, signal)),
  );
  return [
    judgeFastDeploy(fastDeploy, hasCaches === true),
    ok(
      'groups of VMs',
      !groups
        ? 'switched off (virtualMachine.groups)'
        : hasGroups === true
          ? 'on'
          : 'on, and this cluster has no VirtualMachineGroups: what a VM says of one is reported and passed over',
    ),
  ];
}

function judgeFastDeploy(fastDeploy: VirtualMachineSettings['fastDeploy'], hasCaches: boolean): Finding {
  const check = 'fast deploy';
  if (fastDeploy === null) return ok(check, 'switched off (virtualMachine.fastDeploy)');
  if (hasCaches) return ok(check, fastDeploy === 'auto' ? 'on, where images are cached in time' : `on (${fastDeploy})`);
  const none = 'this cluster has no VirtualMachineImageCaches';
  return fastDeploy === 'auto'
    ? ok(check, `on, and ${none}: VMs are deployed from their items`)
    : fail(
        check,
        `virtualMachine.fastDeploy is ${fastDeploy}, and ${none}`,
        'Install them with what fills them, or set it to auto.',
      );
}

interface Definition {
  spec?: { conversion?: { strategy?: string; webhook?: { clientConfig?: { service?: Service } } } };
  status?: { storedVersions?: string[] };
}
interface Service {
  namespace?: string;
  name?: string;
}

/** Whether older versions are converted by the operator that drover replaces: docs/adr/0021-served-versions.md. */
export async function checkConversion(kubernetes: Kubernetes, mode: Mode, signal: AbortSignal): Promise<Finding[]> {
  const name = `${virtualMachine.plural}.${virtualMachine.group}`;
  const path = resourcePath('apiextensions.k8s.io/v1', 'customresourcedefinitions', { name });
  try {
    return judgeConversion((await kubernetes.request({ method: 'GET', path }, signal)) as Definition, mode);
  } catch (error) {
    // That it is not there, or may not be read, is said by the check of definitions.
    if (isFailure(error, 'ObjectNotFound') || isFailure(error, 'KubernetesForbidden')) return [];
    throw error;
  }
}

/** A merge patch: what is left of the webhook would have kube-apiserver refuse drover’s CRD. */
export const withoutWebhook = '{"spec":{"conversion":{"strategy":"None","webhook":null}}}';

/** Pure. */
export function judgeConversion({ spec, status }: Definition, mode: Mode): Finding[] {
  const { strategy, webhook } = spec?.conversion ?? {};
  if (strategy !== 'Webhook' || mode !== 'act') return [];
  const { namespace = '', name = '' } = webhook?.clientConfig?.service ?? {};
  const stored = status?.storedVersions ?? [];
  const isMigrated = stored.length === 1 && stored[0] === virtualMachine.version;
  return [
    warn(
      'older versions of VirtualMachines',
      `the CRD converts them by the webhook ${namespace}/${name}, which goes with vm-operator: then only ${stored.join(', ')} can be read`,
      isMigrated
        ? `Of each CRD of ${virtualMachine.group}: take the webhook out (\`kubectl patch crd NAME --type merge -p '${withoutWebhook}'\`), then apply drover’s (\`kubectl apply --server-side --force-conflicts -f deploy/crds/${virtualMachine.group}_….yaml\`): kube-apiserver then converts them itself. docs/operations.md#what-each-mode-needs has all of it.`
        : `Have all objects stored as ${virtualMachine.version} while vm-operator is there (status.storedVersions), then apply drover’s CRDs of that group.`,
    ),
  ];
}
