import pMap from 'p-map';
import type { Mode } from '../../contracts/kinds/kind.ts';
import { type Component, grantsOf } from '../../contracts/kinds/rbac.ts';
import { dataVolume, virtualMachine, vsphereAgent, vsphereAgentPool } from '../../contracts/kinds/resources.ts';
import { job, persistentVolumeClaim, volumeSnapshot } from '../../contracts/kinds/storage-resources.ts';
import type { Kind } from '../../contracts/kinds/table.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { sweepConfigMap } from '../../runtime/sweep-keeps.ts';
import type { Finding } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

/** One thing that a user or a component must be allowed to do, as in an RBAC rule. */
export interface Need {
  group: string;
  /** With its subresource: `evictions/status`. */
  resource: string;
  verbs: readonly string[];
  /** Left out for what has no namespace, or for all of them. */
  namespace?: string;
  name?: string;
}

const kvm = 'kvm.cloud.sap';

/**
 * What `drover maintain`, `activate`, `decommission`, `onboard` and `retry` need besides. Labels of Nodes are left to
 * the operators of the cluster.
 */
const hypervisorPersonNeeds: readonly Need[] = [
  { group: kvm, resource: 'hypervisors', verbs: ['get', 'patch'] },
  { group: '', resource: 'nodes', verbs: ['get'] },
];

/** What `drover safety` and `drover sweep` need besides; only `keep` writes. */
const machinePersonNeeds = (systemNamespace: string): Need[] => [
  { group: 'machine.sapcloud.io', resource: 'machines', verbs: ['get', 'list'] },
  { group: 'machine.sapcloud.io', resource: 'machineclasses', verbs: ['get', 'list'] },
  { group: 'machine.sapcloud.io', resource: 'machinesets', verbs: ['list'] },
  {
    group: '',
    resource: 'configmaps',
    verbs: ['get', 'create', 'patch'],
    namespace: systemNamespace,
    name: sweepConfigMap,
  },
];

/** What `drover vms`, `drover describe vm` and `drover retry vm` need besides. */
const virtualMachinePersonNeeds: readonly Need[] = [
  { group: virtualMachine.group, resource: 'virtualmachines', verbs: ['get', 'list', 'patch'] },
];

/** What `drover pools`, `drover describe pool` and `drover retry pool` need besides. */
const poolPersonNeeds: readonly Need[] = [
  { group: vsphereAgentPool.group, resource: 'vsphereagentpools', verbs: ['get', 'list', 'patch'] },
  { group: vsphereAgent.group, resource: 'vsphereagents', verbs: ['get', 'list', 'patch'] },
];

/** What `drover clones`, `drover describe dv` and `drover retry dv` need besides. */
const volumePersonNeeds: readonly Need[] = [
  { group: dataVolume.group, resource: 'datavolumes', verbs: ['get', 'list', 'patch'] },
  { group: dataVolume.group, resource: 'objecttransfers', verbs: ['get'] },
  { group: volumeSnapshot.group, resource: 'volumesnapshots', verbs: ['list'] },
  { group: persistentVolumeClaim.group, resource: 'persistentvolumeclaims', verbs: ['get'] },
  { group: job.group, resource: 'jobs', verbs: ['get'] },
  { group: '', resource: 'events', verbs: ['list'] },
];

/** What the commands of a person need; each reports by itself when it may not. */
const personNeeds = (migrationNamespace: string, systemNamespace: string): Need[] => [
  { group: kvm, resource: 'evictions', verbs: ['get', 'list', 'create', 'patch'] },
  { group: kvm, resource: 'hypervisors', verbs: ['list'] },
  { group: kvm, resource: 'migrations', verbs: ['list'], namespace: migrationNamespace },
  {
    group: '',
    resource: 'configmaps',
    verbs: ['get', 'create', 'patch'],
    namespace: systemNamespace,
    name: 'drover-stop',
  },
  { group: '', resource: 'namespaces', verbs: ['get'], name: 'kube-system' },
];

interface Names {
  migrationNamespace: string;
  systemNamespace: string;
  leaseName: string;
}

/** As the settings have it. */
export interface Features {
  modes: Readonly<Record<Kind, Mode>>;
  guardsDrain: boolean;
  /** Namespace of the Certificates; null: none is made. */
  certificates: string | null;
  fastDeploy: boolean;
  groups: boolean;
}

/** Who has to be allowed what, by the settings. What the roles of deploy/rbac grant, they grant for these needs. */
export function needsOf(names: Names, features: Features): Record<'worker' | 'bridge' | 'person', Need[]> {
  const { migrationNamespace, systemNamespace, leaseName } = names;
  const { modes, guardsDrain, certificates, fastDeploy, groups } = features;
  const isWanted = {
    drainGuard: guardsDrain,
    certificates: certificates !== null,
    fastDeploy,
    groups,
    optional: false,
  };
  const namespaces = {
    system: systemNamespace,
    'kube-system': 'kube-system',
    'kube-node-lease': 'kube-node-lease',
    migrations: migrationNamespace,
    certificates: certificates ?? migrationNamespace,
  };
  const watch = { copiedLabels: [], imageCacheNamespace: fastDeploy ? systemNamespace : null, groups };
  const needed = (component: Component): Need[] =>
    grantsOf(component, { leaseName, watch })
      .filter(({ of, when }) => (of === null || modes[of] !== 'off') && (when === undefined || isWanted[when]))
      .flatMap(({ group, resources, verbs, namespace, names: only }) =>
        resources.flatMap((resource) =>
          (only ?? [undefined]).map((name) => ({
            group,
            resource,
            verbs,
            ...(namespace !== undefined && { namespace: namespaces[namespace] }),
            ...(name !== undefined && { name }),
          })),
        ),
      );
  return {
    worker: needed('worker'),
    bridge: needed('bridge'),
    person: [
      ...personNeeds(migrationNamespace, systemNamespace),
      ...(modes.Hypervisor === 'off' ? [] : hypervisorPersonNeeds),
      ...(modes.VirtualMachine === 'off' ? [] : virtualMachinePersonNeeds),
      ...(modes.Machine === 'off' ? [] : machinePersonNeeds(systemNamespace)),
      ...(modes.VsphereAgentPool === 'off' ? [] : poolPersonNeeds),
      ...(modes.DataVolume === 'off' ? [] : volumePersonNeeds),
    ],
  };
}

const reviewsAtOnce = 8;
const serviceAccount = (namespace: string, name: string): string => `system:serviceaccount:${namespace}:${name}`;

/**
 * Whether the worker and the bridge may do their work. The identity of either is checked directly; a person who may
 * review others has both checked, besides what the person's own commands need.
 *
 * @param username of the kubeconfig
 */
export async function checkPermissions(
  kubernetes: Kubernetes,
  username: string,
  names: Names,
  features: Features,
  signal: AbortSignal,
): Promise<Finding[]> {
  const { systemNamespace } = names;
  const needs = needsOf(names, features);
  const components = [
    { user: serviceAccount(systemNamespace, 'drover-worker'), needs: needs.worker },
    { user: serviceAccount(systemNamespace, 'drover-bridge'), needs: needs.bridge },
  ];
  const self = components.find(({ user }) => user === username);
  if (self !== undefined) return [judge(username, await findDenied(kubernetes, null, self.needs, signal), 'fail')];

  const own = judge(username, await findDenied(kubernetes, null, needs.person, signal), 'warn');
  const mayReview =
    (
      await findDenied(
        kubernetes,
        null,
        [{ group: 'authorization.k8s.io', resource: 'subjectaccessreviews', verbs: ['create'] }],
        signal,
      )
    ).length === 0;
  if (!mayReview)
    return [
      own,
      warn(
        'permissions of drover',
        `${username} may not ask what worker and bridge may do`,
        'Run `drover doctor` with the kubeconfig of each of them.',
      ),
    ];
  const others = await Promise.all(
    components.map(async (component) =>
      judge(component.user, await findDenied(kubernetes, component.user, component.needs, signal), 'fail'),
    ),
  );
  return [own, ...others];
}

function judge(user: string, denied: string[], severity: 'warn' | 'fail'): Finding {
  const check = `permissions of ${user}`;
  if (denied.length === 0) return ok(check, 'all that is needed');
  const message = `may not ${denied.join(', ')}`;
  return severity === 'fail'
    ? fail(check, message, 'Apply deploy/rbac.')
    : warn(check, message, 'Some commands will be refused; ask for a role that allows it.');
}

interface Review {
  status?: { allowed?: boolean };
}

/** What of `needs` is denied to `user`, or to the caller where it is null. */
async function findDenied(
  kubernetes: Kubernetes,
  user: string | null,
  needs: readonly Need[],
  signal: AbortSignal,
): Promise<string[]> {
  const questions = needs.flatMap(({ verbs, ...need }) => verbs.map((verb) => ({ verb, need })));
  const answers = await pMap(
    questions,
    async ({ verb, need }) => {
      const review = (await kubernetes.request(accessReview(user, verb, need), signal)) as Review;
      return review.status?.allowed === true ? [] : [describeNeed(verb, need)];
    },
    { concurrency: reviewsAtOnce },
  );
  return answers.flat();
}

function accessReview(user: string | null, verb: string, { group, resource, namespace, name }: Omit<Need, 'verbs'>) {
  const [plural, subresource] = resource.split('/');
  const resourceAttributes = {
    verb,
    group,
    resource: plural,
    ...(subresource && { subresource }),
    ...(namespace && { namespace }),
    ...(name && { name }),
  };
  const kind = user === null ? 'SelfSubjectAccessReview' : 'SubjectAccessReview';
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind,
    spec: { resourceAttributes, ...(user !== null && { user, groups: groupsOf(user) }) },
  };
  return { method: 'POST', path: resourcePath('authorization.k8s.io/v1', `${kind.toLowerCase()}s`), body } as const;
}

/** Groups are not looked up by kube-apiserver: a review of a service account names them. */
function groupsOf(user: string): string[] {
  const [, , namespace = ''] = user.split(':');
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
}

const describeNeed = (verb: string, { group, resource, namespace, name }: Omit<Need, 'verbs'>): string =>
  `${verb} ${resource}${group === '' ? '' : `.${group}`}${name === undefined ? '' : ` ${name}`}${namespace === undefined ? '' : ` in ${namespace}`}`;
