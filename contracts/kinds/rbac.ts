import {
  type Access,
  bridgeAccess,
  contentLibraryAccess,
  type OptionalRole,
  type Verb,
  workerAccess,
} from './access.ts';
import type { KindRow, WatchSettings } from './kind.ts';
import { nodeFailureRun } from './node-failure.ts';
import { secret } from './resources.ts';
import { type Kind, kinds, kindTable } from './table.ts';

export type Component = 'worker' | 'bridge';

/** An access as a component needs it. */
export interface Granted extends Access {
  /** Needed while this kind is on. Null: always. */
  readonly of: Kind | null;
}

export interface GrantSettings {
  leaseName: string;
  /** What is watched; the namespace of image caches is that of drover's own objects. */
  watch: WatchSettings;
}

/** All that a component may do, of every kind. */
export const grantsOf = (component: Component, settings: GrantSettings): Granted[] =>
  component === 'worker' ? workerGrants() : bridgeGrants(settings);

const ofKind = (kind: Kind, access: readonly Access[]): Granted[] => {
  const { role }: KindRow = kindTable[kind];
  return access.map((row) => ({ ...(role !== undefined && { role }), ...row, of: kind }));
};

const workerGrants = (): Granted[] => [
  ...workerAccess.map((access) => ({ ...access, of: null })),
  ...kinds.flatMap((kind) => ofKind(kind, kindTable[kind].access)),
  ...ofKind('Hypervisor', nodeFailureRun.access),
  ...contentLibraryAccess.map((access) => ({ ...access, of: null })),
];

const bridgeGrants = ({ leaseName, watch }: GrantSettings): Granted[] => [
  ...bridgeAccess(leaseName).map((access) => ({ ...access, of: null })),
  ...kinds.flatMap((kind) => {
    const row: KindRow = kindTable[kind];
    const watched = [{ resource: row, namespace: undefined }, ...row.dependsOn(watch)];
    const saysStopped = row.stopped !== undefined;
    const access: Access[] = [
      ...watched.map(({ resource: { group, plural }, namespace }) => ({
        group,
        resources: [plural],
        verbs: ['list', 'watch'] as const,
        ...(namespace !== undefined && { namespace: 'system' as const }),
        why: 'Changes become signals.',
      })),
      ...(saysStopped ? [stoppedAccess(row, '', ['get']), stoppedAccess(row, '/status', ['patch'])] : []),
      ...(row.access.some(isOfObjects) ? [secretAccess] : []),
    ];
    return ofKind(kind, access);
  }),
];

/** Secrets that objects of the kind name; others are none of the bridge's. */
const isOfObjects = ({ resources, role }: Access): boolean =>
  role === secretAccess.role && resources.includes(secret.plural);

const stoppedAccess = ({ group, plural }: KindRow, subresource: string, verbs: readonly Verb[]): Access => ({
  group,
  resources: [`${plural}${subresource}`],
  verbs,
  why: 'An object whose run a user has ended says so, as no run is left to say it: it is read fresh before.',
});

const secretAccess: Access = {
  group: '',
  resources: [secret.plural],
  verbs: ['get'],
  role: 'bootstrap',
  when: 'optional',
  why: 'By name, their metadata alone: at its start whether one has changed since a run observed it, and from time to time whether one is there that an object lacks. Never list or watch.',
};

/** How a feature's role is bound, where it is not for all. */
const unbound: Partial<Record<OptionalRole, (component: Component) => string>> = {
  bootstrap: (component) =>
    'Bound nowhere: it is for you to say in which namespaces, by\n' +
    `  kubectl create rolebinding drover-${component}-bootstrap -n NAMESPACE --clusterrole=drover-${component}-bootstrap ` +
    `--serviceaccount=drover-system:drover-${component}`,
  'machine-credentials': (component) =>
    'Bound nowhere: bind it in the namespaces of the Secrets of MachineClasses, by\n' +
    `  kubectl create rolebinding drover-${component}-machine-credentials -n NAMESPACE ` +
    `--clusterrole=drover-${component}-machine-credentials --serviceaccount=drover-system:drover-${component}`,
  'agent-credentials': (component) =>
    'Bound nowhere: bind it in the namespaces of the pools and of their control planes, by\n' +
    `  kubectl create rolebinding drover-${component}-agent-credentials -n NAMESPACE ` +
    `--clusterrole=drover-${component}-agent-credentials --serviceaccount=drover-system:drover-${component}`,
  'agent-replacement': (component) =>
    'Bound nowhere: bind it in the namespaces of the control planes whose Machines drover may delete, by\n' +
    `  kubectl create rolebinding drover-${component}-agent-replacement -n NAMESPACE ` +
    `--clusterrole=drover-${component}-agent-replacement --serviceaccount=drover-system:drover-${component}`,
};

const heads: Record<Component | OptionalRole, string> = {
  worker:
    'The worker executes evictions and drives hypervisors: it keeps its objects current and reads what it decides by.',
  bridge:
    'The bridge reads objects and signals workflows. It changes nothing in the cluster but one condition and its own Lease.',
  'virtual-machines': 'Only where drover drives virtual machines (modes.VirtualMachine).',
  'drain-guard':
    "Only where drover holds Gardener's drain of a Node back until its host is out of Nova: taint, PodDisruptionBudget and Deployment.",
  certificates:
    'Only where drover asks cert-manager for the certificates of libvirt on the Nodes (hypervisor.certificates).',
  'content-libraries': 'Only where drover makes images of content libraries (the run syncContentLibrary).',
  bootstrap: 'Only where virtual machines have Secrets in spec.bootstrap.',
  machines: 'Only where drover sweeps orphan VMs of Machines (modes.Machine).',
  'data-volumes': 'Only where drover clones volumes (modes.DataVolume).',
  'agent-pools': 'Only where drover keeps pools of agents (modes.VsphereAgentPool).',
  'agent-credentials':
    'Only where drover keeps pools of agents: the credentials of their vCenters, and the kubeconfigs of their hosted clusters.',
  'agent-replacement':
    'Only where pools replace VMs of another template that are Nodes (the annotation drover.dev/replace-drifted=all).',
  'machine-credentials':
    'Only where drover sweeps orphan VMs: the credentials of MachineClasses, read when they are used.',
};

const systemNamespace = 'drover-system';
const verbOrder: readonly Verb[] = ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'];
const namespaces = {
  system: systemNamespace,
  'kube-system': 'kube-system',
  'kube-node-lease': 'kube-node-lease',
} as const;

/** deploy/rbac as it is generated: text by file name, YAML whose comments are the reasons. Pure. */
export function writeRoles(settings: GrantSettings): Map<string, string> {
  const granted = (['worker', 'bridge'] as const).flatMap((component) =>
    grantsOf(component, settings).map((grant) => ({ component, file: grant.role ?? component, grant })),
  );
  const files = Map.groupBy(granted, ({ file }) => file);
  return new Map(
    [...files].map(([file, ofFile]) => {
      const documents = [...Map.groupBy(ofFile, ({ component }) => component)].flatMap(([component, ofComponent]) =>
        documentsOf(
          component,
          file === component ? null : (file as OptionalRole),
          ofComponent.map(({ grant }) => grant),
        ),
      );
      return [`${file}.yaml`, [comment(heads[file], ''), documents.join('---\n')].join('')];
    }),
  );
}

function documentsOf(component: Component, role: OptionalRole | null, grants: readonly Granted[]): string[] {
  const name = role === null ? `drover-${component}` : `drover-${component}-${role}`;
  const labels = `labels: {app.kubernetes.io/name: drover, app.kubernetes.io/component: ${component}}`;
  const metadata = (namespace: string | null, of = name): string =>
    `metadata:\n  name: ${of}\n${namespace === null ? '' : `  namespace: ${namespace}\n`}  ${labels}\n`;
  const account = `apiVersion: v1\nkind: ServiceAccount\n${metadata(systemNamespace)}`;
  const api = 'apiVersion: rbac.authorization.k8s.io/v1\n';
  const howToBind = role === null ? undefined : unbound[role]?.(component);
  const roles = [...Map.groupBy(grants, namespaceOf)]
    .toSorted(([a], [b]) => (a ?? '').localeCompare(b ?? ''))
    .flatMap(([namespace, ofNamespace]) => {
      const kind = namespace === null ? 'ClusterRole' : 'Role';
      const head = howToBind === undefined ? '' : comment(howToBind, '');
      const granting = `${head}${api}kind: ${kind}\n${metadata(namespace)}rules:\n${rulesOf(ofNamespace)}`;
      const binding =
        `${api}kind: ${kind}Binding\n${metadata(namespace)}` +
        `roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ${kind}, name: ${name}}\n` +
        `subjects:\n  - {kind: ServiceAccount, name: drover-${component}, namespace: ${systemNamespace}}\n`;
      return howToBind === undefined ? [granting, binding] : [granting];
    });
  return role === null ? [account, ...roles] : roles;
}

const namespaceOf = ({ namespace }: Access): string | null =>
  namespace === undefined || namespace === 'migrations' || namespace === 'certificates' ? null : namespaces[namespace];

/** One rule for what shares group, names, verbs and reasons. */
function rulesOf(grants: readonly Granted[]): string {
  const single = grants.flatMap(({ resources, ...grant }) => resources.map((resource) => ({ ...grant, resource })));
  const merged = [...Map.groupBy(single, ({ group, resource, names }) => JSON.stringify([group, resource, names]))].map(
    ([, same]) => {
      const { group, resource, names } = same[0]!;
      const verbs = verbOrder.filter((verb) => same.some((one) => one.verbs.includes(verb)));
      const whys = [...new Set(same.map(({ why }) => why))];
      return { group, resource, names, verbs, why: whys.join('\n') };
    },
  );
  const alike = Map.groupBy(merged, ({ group, names, verbs, why }) => JSON.stringify([group, names, verbs, why]));
  return [...alike.values()]
    .map((rules) => {
      const { group, names, verbs, why } = rules[0]!;
      return (
        comment(why, '  ') +
        `  - apiGroups: [${group === '' ? '""' : group}]\n` +
        `    resources: [${rules.map(({ resource }) => resource).join(', ')}]\n` +
        (names === undefined ? '' : `    resourceNames: [${names.join(', ')}]\n`) +
        `    verbs: [${verbs.join(', ')}]\n`
      );
    })
    .join('');
}

const widest = 130;

/** Wrapped between words; lines that are indented stay whole, as they are commands. */
const comment = (text: string, indent: string): string =>
  text
    .split('\n')
    .flatMap((line) => (line.startsWith(' ') ? [line] : wrap(line)))
    .map((line) => `${indent}# ${line}\n`)
    .join('');

const wrap = (text: string): string[] =>
  text.split(' ').reduce<string[]>((lines, word) => {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > widest) return [...lines, word];
    return [...lines.slice(0, -1), `${last} ${word}`];
  }, []);
