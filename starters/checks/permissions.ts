import pMap from 'p-map';

import { fencingLease } from '../../contracts/ids.ts';
import type { Mode } from '../../contracts/kinds/kind.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import type { Finding } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

/** One thing that somebody must be allowed to do, as in an RBAC rule. */
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
const vmoperator = 'vmoperator.vmware.com';

/** What the roles of deploy/rbac grant, as far as a run or a watch cannot do without it. */
const workerNeeds = (migrationNamespace: string, systemNamespace: string): Need[] => [
  { group: kvm, resource: 'evictions', verbs: ['get', 'list', 'create', 'patch', 'delete'] },
  { group: kvm, resource: 'evictions/status', verbs: ['patch'] },
  { group: kvm, resource: 'hypervisors', verbs: ['get', 'list', 'create', 'patch'] },
  { group: kvm, resource: 'hypervisors/status', verbs: ['patch'] },
  { group: kvm, resource: 'migrations', verbs: ['get', 'list', 'create', 'patch'], namespace: migrationNamespace },
  { group: kvm, resource: 'migrations/status', verbs: ['patch'], namespace: migrationNamespace },
  { group: '', resource: 'nodes', verbs: ['get', 'list'] },
  { group: 'events.k8s.io', resource: 'events', verbs: ['create'], namespace: 'default' },
  { group: '', resource: 'configmaps', verbs: ['get'], namespace: systemNamespace, name: 'drover-stop' },
  { group: 'coordination.k8s.io', resource: 'leases', verbs: ['create'], namespace: systemNamespace },
  {
    group: 'coordination.k8s.io',
    resource: 'leases',
    verbs: ['get', 'update'],
    namespace: systemNamespace,
    name: fencingLease,
  },
];

/** Where drover holds Gardener's drain back: deploy/rbac/drain-guard.yaml. */
const drainGuardNeeds: readonly Need[] = [
  { group: '', resource: 'nodes', verbs: ['patch'] },
  { group: '', resource: 'pods', verbs: ['list'] },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['get', 'create', 'update'], namespace: 'kube-system' },
  { group: 'apps', resource: 'deployments', verbs: ['get', 'create', 'update'], namespace: 'kube-system' },
];

/** Where drover makes what policies name. */
const policyNeeds: readonly Need[] = [
  { group: vmoperator, resource: 'virtualmachinesetresourcepolicies', verbs: ['list', 'patch'] },
  { group: vmoperator, resource: 'virtualmachinesetresourcepolicies/status', verbs: ['patch'] },
];

/** Where drover drives virtual machines: deploy/rbac/virtual-machines.yaml. */
const virtualMachineWorkerNeeds = (
  { fastDeploy, groups, backup, policies }: VirtualMachineNeeds,
  systemNamespace: string,
): Need[] => [
  { group: vmoperator, resource: 'virtualmachines', verbs: ['get', 'list', 'patch'] },
  { group: vmoperator, resource: 'virtualmachines/status', verbs: ['patch'] },
  ...virtualMachineKinds(groups).map((resource) => ({ group: vmoperator, resource, verbs: ['get'] })),
  { group: 'storage.k8s.io', resource: 'storageclasses', verbs: ['get'] },
  ...(policies ? policyNeeds : []),
  ...(backup ? [{ group: '', resource: 'persistentvolumeclaims', verbs: ['get'] }] : []),
  ...(fastDeploy
    ? [
        {
          group: vmoperator,
          resource: 'virtualmachineimagecaches',
          verbs: ['get', 'create', 'patch'],
          namespace: systemNamespace,
        },
      ]
    : []),
];

const virtualMachineBridgeNeeds = ({ fastDeploy, groups }: VirtualMachineNeeds, systemNamespace: string): Need[] => {
  const verbs = ['list', 'watch'];
  const caches = fastDeploy
    ? [{ group: vmoperator, resource: 'virtualmachineimagecaches', verbs, namespace: systemNamespace }]
    : [];
  return [
    ...['virtualmachines', ...virtualMachineKinds(groups)].map((resource) => ({ group: vmoperator, resource, verbs })),
    ...caches,
  ];
};

/** What virtual machines name, and the bridge watches. */
const virtualMachineKinds = (groups: boolean): string[] => [
  'virtualmachineclasses',
  'virtualmachineimages',
  'clustervirtualmachineimages',
  'virtualmachinesetresourcepolicies',
  ...(groups ? ['virtualmachinegroups'] : []),
];

const bridgeNeeds = (systemNamespace: string, leaseName: string): Need[] => [
  { group: kvm, resource: 'evictions', verbs: ['get', 'list', 'watch'] },
  { group: kvm, resource: 'evictions/status', verbs: ['patch'] },
  { group: 'coordination.k8s.io', resource: 'leases', verbs: ['create'], namespace: systemNamespace },
  {
    group: 'coordination.k8s.io',
    resource: 'leases',
    verbs: ['get', 'update'],
    namespace: systemNamespace,
    name: leaseName,
  },
];

/** A bridge that watches hypervisors, too. */
const hypervisorBridgeNeeds: readonly Need[] = [
  { group: kvm, resource: 'hypervisors', verbs: ['get', 'list', 'watch'] },
  { group: '', resource: 'nodes', verbs: ['get', 'list', 'watch'] },
];

/** What `drover maintain`, `activate`, `decommission`, `onboard` and `retry` need besides. Labels of Nodes are left to who looks after them. */
const hypervisorPersonNeeds: readonly Need[] = [
  { group: kvm, resource: 'hypervisors', verbs: ['get', 'patch'] },
  { group: '', resource: 'nodes', verbs: ['get'] },
];

/** What the commands of a person need; each tells by itself when it may not. */
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
];

interface Names {
  migrationNamespace: string;
  systemNamespace: string;
  leaseName: string;
}

/** As the settings have it. */
export interface HypervisorNeeds {
  mode: Mode;
  guardsDrain: boolean;
}

export interface VirtualMachineNeeds {
  mode: Mode;
  fastDeploy: boolean;
  groups: boolean;
  backup: boolean;
  policies: boolean;
}

/** Who has to be allowed what. Lifecycles of hypervisors and of virtual machines need more, where they are switched on. */
export function needsOf(
  { migrationNamespace, systemNamespace, leaseName }: Names,
  { mode, guardsDrain }: HypervisorNeeds,
  vms: VirtualMachineNeeds,
): Record<'worker' | 'bridge' | 'person', Need[]> {
  const isOn = mode !== 'off';
  const drivesVms = vms.mode !== 'off';
  return {
    worker: [
      ...workerNeeds(migrationNamespace, systemNamespace),
      ...(isOn && guardsDrain ? drainGuardNeeds : []),
      ...(drivesVms ? virtualMachineWorkerNeeds(vms, systemNamespace) : []),
    ],
    bridge: [
      ...bridgeNeeds(systemNamespace, leaseName),
      ...(isOn ? hypervisorBridgeNeeds : []),
      ...(drivesVms ? virtualMachineBridgeNeeds(vms, systemNamespace) : []),
    ],
    person: [...personNeeds(migrationNamespace, systemNamespace), ...(isOn ? hypervisorPersonNeeds : [])],
  };
}

const reviewsAtOnce = 8;
const serviceAccount = (namespace: string, name: string): string => `system:serviceaccount:${namespace}:${name}`;

/**
 * Whether the worker and the bridge may do their work. Whoever is one of them is asked for directly; a person who may review others has
 * both checked, besides what the person's own commands need.
 *
 * @param username of the kubeconfig
 */
export async function checkPermissions(
  kubernetes: Kubernetes,
  username: string,
  names: Names,
  hypervisors: HypervisorNeeds,
  vms: VirtualMachineNeeds,
  signal: AbortSignal,
): Promise<Finding[]> {
  const { systemNamespace } = names;
  const needs = needsOf(names, hypervisors, vms);
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

/** What of `needs` is denied to `user`, or to whoever asks where it is null. */
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

/** Groups are not looked up by kube-apiserver: whoever asks about a service account names them. */
function groupsOf(user: string): string[] {
  const [, , namespace = ''] = user.split(':');
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
}

const describeNeed = (verb: string, { group, resource, namespace, name }: Omit<Need, 'verbs'>): string =>
  `${verb} ${resource}${group === '' ? '' : `.${group}`}${name === undefined ? '' : ` ${name}`}${namespace === undefined ? '' : ` in ${namespace}`}`;
