import { toCustomResourceDefinition } from '../../contracts/crds/custom-resource-definition.ts';
import { definitions } from '../../contracts/crds/definitions.ts';
import { type Kind, kinds } from '../../contracts/kinds/table.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { checkDefinitions, neededDefinitions } from './kubernetes.ts';

/** What is advised of each definition, by its name, where kube-apiserver answers with that. */
async function advised(answer: (name: string) => unknown): Promise<Map<string, string | null>> {
  const kubernetes: Pick<Kubernetes, 'request'> = {
    request: async ({ path }) => answer(path.slice(path.lastIndexOf('/') + 1)),
  };
  const findings = await checkDefinitions(kubernetes as Kubernetes, definitions, new AbortController().signal);
  return new Map(findings.map(({ check, advice }) => [check.replace('CRD ', ''), advice]));
}

const missing = (): never => {
  throw droverFailure('ObjectNotFound', 'there is none');
};
const withoutVersions = (): object => ({ spec: { versions: [] } });

test.each<[on: Kind, kinds: string[]]>([
  ['Machine', ['Machine', 'MachineClass', 'MachineDeployment', 'MachineSet']],
  ['VsphereAgentPool', ['VsphereAgent', 'VsphereAgentPool']],
  ['VsphereAgent', ['VsphereAgent', 'VsphereAgentPool']],
  ['DataVolume', ['DataSource', 'DataVolume', 'ObjectTransfer', 'StorageProfile']],
  [
    'VirtualMachine',
    [
      'ClusterVirtualMachineImage',
      'VirtualMachine',
      'VirtualMachineClass',
      'VirtualMachineImage',
      'VirtualMachineSetResourcePolicy',
    ],
  ],
])('with modes.%s on: the definitions of its operator, and those of hypervisors', (on, wanted) => {
  const needed = (switchedOn: Kind[]): string[] => {
    const modes = Object.fromEntries(kinds.map((kind) => [kind, switchedOn.includes(kind) ? 'observe' : 'off']));
    return neededDefinitions(modes as Record<Kind, 'observe' | 'off'>).map(({ kind }) => kind);
  };
  const always = needed([]);
  expect(always.toSorted()).toEqual(['Eviction', 'Hypervisor', 'Migration']);
  expect(
    needed([on])
      .filter((kind) => !always.includes(kind))
      .toSorted(),
  ).toEqual(wanted);
});

test.each([
  ['is missing', missing],
  ['differs', withoutVersions],
])('a definition that %s: that one is applied, and no other', async (_what, answer) => {
  const found = await advised(answer);
  expect([...found.keys()]).toEqual(definitions.map(({ group, plural }) => `${plural}.${group}`));
  for (const { group, plural } of definitions) {
    const advice = found.get(`${plural}.${group}`);
    expect(advice).toMatch(
      new RegExp(`\`kubectl apply --server-side( --force-conflicts)? -f deploy/crds/${group}_${plural}\\.yaml\``, 'u'),
    );
    expect(advice).not.toContain('drover crds');
  }
});

test('who may not read definitions is not told of a kind that is missing when kube-apiserver does not answer', async () => {
  const answer = (failure: 'KubernetesUnavailable' | 'ObjectNotFound') => (name: string) => {
    throw droverFailure(name.includes('.') ? 'KubernetesForbidden' : failure, 'no');
  };
  await expect(advised(answer('KubernetesUnavailable'))).rejects.toMatchObject({ type: 'KubernetesUnavailable' });
  expect((await advised(answer('ObjectNotFound'))).get('hypervisors.kvm.cloud.sap')).toMatch(/installs it\.$/u);
});

test('whose it is, where it is another operator’s: its own is not overwritten', async () => {
  const found = await advised(withoutVersions);
  expect(found.get('hypervisors.kvm.cloud.sap')).toBe(
    '`kubectl diff -f deploy/crds/kvm.cloud.sap_hypervisors.yaml` shows the difference, `kubectl apply --server-side --force-conflicts -f deploy/crds/kvm.cloud.sap_hypervisors.yaml` mends it, once the operator that drover replaces is stopped.',
  );
  expect(found.get('datavolumes.cdi.kubevirt.io')).toMatch(
    /^It is CDI’s: do not apply drover’s where CDI installs its own\. Else `kubectl diff/u,
  );
  const own = definitions.filter(({ group, plural }) => found.get(`${plural}.${group}`)?.startsWith('It is ') !== true);
  expect(new Set(own.map(({ group }) => group))).toEqual(new Set(['kvm.cloud.sap']));
});

test('one that is as drover has it needs nothing', async () => {
  const own = new Map(definitions.map(toCustomResourceDefinition).map((one) => [one.metadata.name, one]));
  const found = await advised((name) => own.get(name));
  expect([...found.values()].filter((advice) => advice !== null)).toEqual([]);
});
