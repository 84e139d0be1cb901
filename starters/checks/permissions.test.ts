import { readdirSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { Need } from './permissions.ts';
import { type Kind, kinds } from '../../contracts/kinds/table.ts';
import { needsOf } from './permissions.ts';

/** The roles of deploy/rbac as far as they can be read without a cluster: what `drover doctor` asks for, they grant. */

interface Role {
  kind: 'ClusterRole' | 'Role';
  metadata: { name: string; namespace?: string };
  rules: { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }[];
}

const folder = new URL('../../deploy/rbac/', import.meta.url);
interface Document {
  kind: string;
  roleRef?: { name: string };
}
const documents = readdirSync(folder).flatMap((file) =>
  parseAllDocuments(readFileSync(new URL(file, folder), 'utf8')).flatMap((document) => {
    const object = document.toJS() as Document | null;
    return object === null ? [] : [object];
  }),
);
const roles = documents.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role') as unknown as Role[];
const names = { migrationNamespace: 'monsoon3', systemNamespace: 'drover-system', leaseName: 'drover-bridge' };
const modes = Object.fromEntries(kinds.map((kind) => [kind, 'act'])) as Record<Kind, 'act'>;
const needs = needsOf(names, {
  modes,
  guardsDrain: true,
  certificates: 'certs',
  fastDeploy: true,
  groups: true,
});

/** Verbs of the need that none of the roles grants. */
const refused = (granted: readonly Role[], { group, resource, verbs, namespace, name }: Need): string[] =>
  verbs.filter((verb) =>
    granted.every(({ kind, metadata, rules }) => {
      if (kind === 'Role' && metadata.namespace !== namespace) return true;
      return !rules.some(
        (rule) =>
          rule.apiGroups.includes(group) &&
          rule.resources.includes(resource) &&
          rule.verbs.includes(verb) &&
          (rule.resourceNames === undefined || (name !== undefined && rule.resourceNames.includes(name))),
      );
    }),
  );

test.each([
  [
    'drover-worker, with its further roles',
    needs.worker,
    [
      'drover-worker',
      'drover-worker-drain-guard',
      'drover-worker-certificates',
      'drover-worker-virtual-machines',
      'drover-worker-machines',
      'drover-worker-agent-pools',
      'drover-worker-data-volumes',
    ],
  ],
  [
    'drover-bridge, with its further roles',
    needs.bridge,
    [
      'drover-bridge',
      'drover-bridge-virtual-machines',
      'drover-bridge-machines',
      'drover-bridge-agent-pools',
      'drover-bridge-data-volumes',
    ],
  ],
  ['drover-operate', needs.person, ['drover-operate']],
])('%s may do what is needed', (_name, wanted, granted) => {
  const those = roles.filter(({ metadata }) => granted.includes(metadata.name));
  expect(wanted.flatMap((need) => refused(those, need).map((verb) => `${verb} ${need.resource}`))).toEqual([]);
});

test('a reader changes nothing', () => {
  const rules = roles.filter(({ metadata }) => metadata.name === 'drover-view').flatMap(({ rules: its }) => its);
  expect(rules.length).toBeGreaterThan(0);
  expect(new Set(rules.flatMap(({ verbs }) => verbs))).toEqual(new Set(['get', 'list', 'watch']));
});

const machines = { group: 'vmoperator.vmware.com', resource: 'virtualmachines' };

test.each([
  ['drover-view', ['get', 'list', 'watch']],
  ['drover-operate', ['get', 'list', 'watch', 'patch']],
])('%s may do to virtual machines what the commands for them need', (role, verbs) => {
  expect(
    refused(
      roles.filter(({ metadata }) => metadata.name === role),
      { ...machines, verbs: [...verbs, 'create', 'delete'] },
    ),
  ).toEqual(['create', 'delete']);
});

test('who operates keeps VMs from sweeps, and changes no Machine', () => {
  const keeps = { group: '', resource: 'configmaps', namespace: 'drover-system', name: 'drover-sweep' };
  const machine = { group: 'machine.sapcloud.io', resource: 'machines', verbs: ['get', 'list', 'watch'] };
  const of = (role: string): Role[] => roles.filter(({ metadata }) => metadata.name === role);
  expect(refused(of('drover-operate'), { ...keeps, verbs: ['get', 'create', 'patch', 'delete'] })).toEqual(['delete']);
  expect(refused(of('drover-view'), { ...keeps, verbs: ['get', 'create', 'patch'] })).toEqual(['create', 'patch']);
  const writes = ['create', 'patch', 'update', 'delete'];
  for (const role of ['drover-operate', 'drover-view'])
    expect(refused(of(role), { ...machine, verbs: [...machine.verbs, ...writes] })).toEqual(writes);
});

test.each([
  ['agent-forge.containeroo.ch', 'vsphereagentpools'],
  ['agent-forge.containeroo.ch', 'vsphereagents'],
  ['cdi.kubevirt.io', 'datavolumes'],
])('of %s, who operates sets annotations of %s, and nothing else', (group, resource) => {
  const of = (role: string): Role[] => roles.filter(({ metadata }) => metadata.name === role);
  const reads = ['get', 'list', 'watch'];
  const writes = ['update', 'create', 'delete', 'deletecollection'];
  expect(refused(of('drover-operate'), { group, resource, verbs: [...reads, 'patch', ...writes] })).toEqual(writes);
  expect(refused(of('drover-view'), { group, resource, verbs: [...reads, 'patch', ...writes] })).toEqual([
    'patch',
    ...writes,
  ]);
  for (const role of ['drover-operate', 'drover-view'])
    expect(refused(of(role), { group, resource: `${resource}/status`, verbs: ['patch'] })).toEqual(['patch']);
});

test('no user’s role reads the URL of a discovery ISO, which may have a token in it', () => {
  const infraEnvs = { group: 'agent-install.openshift.io', resource: 'infraenvs', verbs: ['get', 'list'] };
  for (const role of ['drover-operate', 'drover-view'])
    expect(
      refused(
        roles.filter(({ metadata }) => metadata.name === role),
        infraEnvs,
      ),
    ).toEqual(['get', 'list']);
});

test('a person needs nothing of Machines where they are switched off', () => {
  const off = {
    modes: { ...modes, Machine: 'off' as const },
    guardsDrain: true,
    certificates: null,
    fastDeploy: true,
    groups: true,
  };
  const { person } = needsOf(names, off);
  const ofMachines = ({ group, name }: Need): boolean => group === 'machine.sapcloud.io' || name === 'drover-sweep';
  expect(needs.person.filter(ofMachines)).toHaveLength(4);
  expect(person.filter(ofMachines)).toEqual([]);
});

test('Secrets are read by name, where the operator of the cluster lets them, and never written', () => {
  const ofSecrets = roles.flatMap(({ metadata, rules }) =>
    rules
      .filter(({ resources }) => resources.includes('secrets') || resources.includes('*'))
      .map(({ verbs }) => [metadata.name, verbs]),
  );
  expect(ofSecrets).toEqual([
    ['drover-worker-agent-credentials', ['get']],
    ['drover-worker-bootstrap', ['get']],
    ['drover-bridge-bootstrap', ['get']],
    ['drover-worker-machine-credentials', ['get']],
  ]);
  const bound = documents.filter(({ kind }) => kind.endsWith('Binding')).map(({ roleRef }) => roleRef?.name);
  expect(bound).not.toContain('drover-worker-bootstrap');
  expect(bound).not.toContain('drover-bridge-bootstrap');
  expect(bound).not.toContain('drover-worker-machine-credentials');
  expect(bound).not.toContain('drover-worker-agent-credentials');
});

test('no role creates or deletes VirtualMachines', () => {
  for (const verb of ['create', 'delete', 'deletecollection', 'update'])
    expect(refused(roles, { group: 'vmoperator.vmware.com', resource: 'virtualmachines', verbs: [verb] })).toEqual([
      verb,
    ]);
});

test('who operates writes no status, and neither makes nor deletes hypervisors', () => {
  const operate = roles.filter(({ metadata }) => metadata.name === 'drover-operate');
  expect(refused(operate, { ...machines, resource: 'virtualmachines/status', verbs: ['patch'] })).toEqual(['patch']);
  for (const verb of ['create', 'delete', 'deletecollection'])
    expect(refused(operate, { group: 'kvm.cloud.sap', resource: 'hypervisors', verbs: [verb] })).toEqual([verb]);
  for (const resource of ['hypervisors/status', 'evictions/status'])
    expect(refused(operate, { group: 'kvm.cloud.sap', resource, verbs: ['patch'] })).toEqual(['patch']);
});

test('no role scales or writes what Cluster API, HyperShift and the autoscaler want', () => {
  const theirs =
    /^(cluster\.x-k8s\.io|hypershift\.openshift\.io|autoscaling(\.openshift\.io)?|machine\.openshift\.io)$/u;
  const written = roles.flatMap(({ metadata, rules }) =>
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.some((group) => group === '*' || theirs.test(group))
        ? verbs
            .filter((verb) => !['get', 'list', 'watch'].includes(verb))
            .map((verb) => [metadata.name, verb, resources])
        : [],
    ),
  );
  // Bound only where drover may replace Nodes of another template.
  expect(written).toEqual([['drover-worker-agent-replacement', 'delete', ['machines']]]);
  expect(documents.some(({ roleRef }) => roleRef?.name === 'drover-worker-agent-replacement')).toBe(false);
  expect(roles.some(({ rules }) => rules.some(({ apiGroups }) => apiGroups.includes('cluster.x-k8s.io')))).toBe(true);
});
