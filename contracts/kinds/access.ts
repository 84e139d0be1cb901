import type { Resource } from './object.ts';

/**
 * What drover may do in Kubernetes, as rows of the kind table say it: from it RBAC is written, and `drover doctor` asks
 * for it.
 */

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'patch' | 'update' | 'delete';

/** A feature that needs roles of its own, to be applied where it is wanted: `drover-worker-<role>`. */
export type OptionalRole =
  | 'virtual-machines'
  | 'drain-guard'
  | 'certificates'
  | 'content-libraries'
  | 'bootstrap'
  | 'machines'
  | 'machine-credentials'
  | 'agent-pools'
  | 'agent-credentials'
  | 'agent-replacement'
  | 'data-volumes';

export interface Access {
  /** API group; empty: the core. */
  readonly group: string;
  /** Plurals, with their subresource: `evictions/status`. */
  readonly resources: readonly string[];
  readonly verbs: readonly Verb[];
  /** For who reads the role. */
  readonly why: string;
  /**
   * Where: the namespace of drover's own objects, that of Gardener's drains, that of kubelets' Leases, or those of the
   * Migrations and of the Certificates, whose names are settings and no part of a role. Left out: everywhere.
   */
  readonly namespace?: 'system' | 'kube-system' | 'kube-node-lease' | 'migrations' | 'certificates';
  /** The only objects. */
  readonly names?: readonly string[];
  /** Left out: that of the kind. */
  readonly role?: OptionalRole;
  /**
   * Needed where the settings say so: `drover doctor` asks for it there. Left out: wherever the kind is on. `optional`:
   * it never asks.
   */
  readonly when?: 'drainGuard' | 'certificates' | 'fastDeploy' | 'groups' | 'optional';
}

/** Of the owner of what drover makes, whose deletion waits for that. */
export const blocksDeletion = ({ group, plural }: Pick<Resource, 'group' | 'plural'>): Access => ({
  group,
  resources: [`${plural}/finalizers`],
  verbs: ['update'],
  when: 'optional',
  why: 'Where the OwnerReferencesPermissionEnforcement admission plugin is on, an owner reference that blocks deletion needs this.',
});

const coordination = { group: 'coordination.k8s.io', resources: ['leases'], namespace: 'system' } as const;

/** A Lease of this name. Kubernetes cannot restrict `create` to a name. */
export const leaseAccess = (name: string, why: string): Access[] => [
  { ...coordination, verbs: ['create'], why },
  { ...coordination, verbs: ['get', 'update'], names: [name], why },
];

/** What says which cluster this is. */
const clusterIdentityAccess: Access = {
  group: '',
  resources: ['namespaces'],
  verbs: ['get'],
  namespace: 'kube-system',
  names: ['kube-system'],
  why: 'Its uid says which cluster this is: another of the same name in the Temporal namespace is refused.',
};

/** What every run does, whatever its kind. */
export const workerAccess: readonly Access[] = [
  clusterIdentityAccess,
  {
    group: 'events.k8s.io',
    resources: ['events'],
    verbs: ['create'],
    why: '`kubectl describe` shows what happened and when.',
  },
  {
    group: '',
    resources: ['configmaps'],
    verbs: ['get'],
    namespace: 'system',
    names: ['drover-stop'],
    why: '`drover stop` is checked before each mutation. Read only: a user stops and lifts, never the worker.',
  },
];

const vmoperator = 'vmoperator.vmware.com';

/** What the run syncContentLibrary does, which has no object of its own. */
export const contentLibraryAccess: readonly Access[] = [
  {
    group: vmoperator,
    resources: ['virtualmachineimages', 'clustervirtualmachineimages'],
    verbs: ['list', 'create', 'delete'],
    role: 'content-libraries',
    when: 'optional',
    why: "Of others, those that have no label of drover's are left alone.",
  },
  {
    group: vmoperator,
    resources: ['virtualmachineimages/status', 'clustervirtualmachineimages/status'],
    verbs: ['patch'],
    role: 'content-libraries',
    when: 'optional',
    why: 'What the item of the library is.',
  },
];

/** What the bridge does besides watching. @param leaseName of the settings */
export const bridgeAccess = (leaseName: string): readonly Access[] => [
  clusterIdentityAccess,
  ...leaseAccess(leaseName, 'Of several bridges one delivers.'),
];
