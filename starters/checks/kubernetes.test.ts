import { toCustomResourceDefinition } from '../../contracts/crds/custom-resource-definition.ts';
import { definitions } from '../../contracts/crds/definitions.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { checkDefinitions } from './kubernetes.ts';

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

test.each([
  ['is missing', missing],
  ['differs', withoutVersions],
])('a definition that %s: that one is applied, and no other', async (_what, answer) => {
  const found = await advised(answer);
  expect([...found.keys()]).toEqual(definitions.map(({ group, plural }) => `${plural}.${group}`));
  for (const { group, plural } of definitions) {
    const advice = found.get(`${plural}.${group}`);
    expect(advice).toContain(`\`kubectl apply --server-side -f deploy/crds/${group}_${plural}.yaml\``);
    expect(advice).not.toContain('drover crds');
  }
});

test('whose it is, where it is another operator’s: its own is not overwritten', async () => {
  const found = await advised(withoutVersions);
  expect(found.get('hypervisors.kvm.cloud.sap')).toBe(
    '`kubectl diff -f deploy/crds/kvm.cloud.sap_hypervisors.yaml` shows the difference, `kubectl apply --server-side -f deploy/crds/kvm.cloud.sap_hypervisors.yaml` mends it.',
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
