import { proxyActivities } from '@temporalio/workflow';
import { kubernetesQueue, vsphereQueue } from '../../contracts/ids.ts';
import { shortCall, vcenterCall } from '../../contracts/policies.ts';
import type {
  ResourcePolicyObjectActivities,
  ResourcePolicyVsphereActivities,
} from '../../contracts/resource-policy/resource-policy.ts';
import { explain } from '../lib/failures.ts';
import type { Executed } from '../lib/lifecycle.ts';
import { describePlan } from '../lib/plan.ts';
import { resourcePolicyKind } from '../../contracts/kinds/virtual-machine-set-resource-policy.ts';
import { ownCluster } from '../lib/own-cluster.ts';
import { defineReconciler } from '../lib/reconciler.ts';
import {
  isPolicySaid,
  knownModules,
  needsVcenter,
  planPolicy,
  type PolicyLifecycle,
  type PolicySituation,
  policyStatus,
  type PolicyStep,
  prunePolicy,
} from './plan.ts';

const inKubernetes = (summary: string) =>
  proxyActivities<ResourcePolicyObjectActivities>({ ...shortCall, taskQueue: kubernetesQueue(ownCluster()), summary });
const inVcenter = (vcenter: string, summary: string) =>
  proxyActivities<ResourcePolicyVsphereActivities>({
    ...vcenterCall,
    taskQueue: vsphereQueue(vcenter, ownCluster()),
    summary,
  });

const policyOf = ({ input, desired }: PolicySituation) => ({ ...input, uid: desired?.uid ?? '' });

/**
 * Makes what a VirtualMachineSetResourcePolicy names in vCenter, below what its namespace has there: a folder, resource
 * pools and cluster modules; and removes it with the object, once no VirtualMachine names it. Started by the bridge, or
 * by hand with plain JSON; the id `resource-policy/<namespace>/<name>` is the lock.
 */
export const reconcileSetResourcePolicy = defineReconciler<PolicyLifecycle>(resourcePolicyKind, {
  memory: { modules: [] },
  async observe(input) {
    const { namespace, name } = input;
    const policy = `policy ${namespace}/${name}`;
    const observation = await inKubernetes(`Observe ${policy}`).observeResourcePolicy(input);
    if (observation.kind !== 'observed' || !needsVcenter(observation)) return observation;
    const { settings, desired, observed } = observation;
    const { folder = null, resourcePool = null } = desired ?? {};
    const there = await inVcenter(settings.vcenter, `Observe what vCenter has of ${policy}`).observePolicyInVcenter({
      namespace,
      folder,
      resourcePool,
    });
    return { ...observation, observed: { ...observed, inVcenter: there } };
  },
  plan: planPolicy,
  execute: {
    addFinalizer: patchFinalizer,
    removeFinalizer: patchFinalizer,
    makeFolder: change,
    makePool: change,
    makeModule,
    removeModule: change,
    removeFolder: change,
    removePool: change,
  },
  prune: prunePolicy,
  status: policyStatus,
  isSaid: isPolicySaid,
  publish: (situation, status, retryHandled) =>
    inKubernetes('Publish the status of the policy').publishResourcePolicy({
      ...policyOf(situation),
      status,
      retryHandled,
    }),
  attributes: ({ input: { namespace, name } }) => ({ object: `${namespace}/${name}` }),
  details: (situation, plan) =>
    [
      describePlan(plan).message,
      '',
      ...knownModules(situation).map(
        ({ cluster, group, module }) => `- cluster module of ${group} in ${cluster}: \`${module}\``,
      ),
    ].join('\n'),
});

/** For an object that is gone meanwhile, nothing is made. */
async function patchFinalizer(situation: PolicySituation, { kind, summary }: PolicyStep) {
  const present = kind === 'addFinalizer';
  return { isOutdated: !(await inKubernetes(summary).patchPolicyFinalizer({ ...policyOf(situation), present })) };
}

type ChangeStep = Exclude<PolicyStep, { kind: 'addFinalizer' | 'removeFinalizer' }>;

function callVcenter({ input, desired, settings }: PolicySituation, step: ChangeStep): Promise<string | null> {
  const { summary, phase: _, ...change } = step;
  const cause = desired?.deleting === true ? 'deleted' : `generation ${desired?.generation ?? 0}`;
  return inVcenter(settings.vcenter, summary).changePolicyInVcenter({ ...input, cause, change });
}

async function change(situation: PolicySituation, step: ChangeStep): Promise<void> {
  await callVcenter(situation, step);
}

/**
 * It is recorded at once: no other record has the owner of the module. Where that fails, the memory has it until a
 * status records it.
 */
async function makeModule(
  situation: PolicySituation,
  step: Extract<PolicyStep, { kind: 'makeModule' }>,
): Promise<Executed<PolicyLifecycle> | void> {
  const { cluster, group } = step;
  const module = await callVcenter(situation, step);
  if (module === null) return;
  const applyResult = ({ modules }: PolicyLifecycle['memory']) => ({
    modules: [...modules, { cluster, group, module }],
  });
  const modules = knownModules({ ...situation, memory: applyResult(situation.memory) });
  await inKubernetes(`Record module ${module}`)
    .publishResourcePolicy({ ...policyOf(situation), status: { modules }, retryHandled: null })
    .catch(explain);
  return { applyResult };
}
