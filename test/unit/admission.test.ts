import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

/** deploy/admission: what is refused there says so, and stands in the ADR that lists each rule. */
interface Policy {
  kind: string;
  metadata: { name: string };
  spec?: {
    policyName?: string;
    failurePolicy?: string;
    validations?: { expression: string; message: string }[];
    variables?: { name: string; expression: string }[];
    mutations?: { jsonPatch: { expression: string } }[];
  };
}

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const objects = parseAllDocuments(read('deploy/admission/virtual-machines.yaml')).map(
  (document) => document.toJS() as Policy,
);
const of = (kind: string): Policy[] => objects.filter((object) => object.kind === kind);

test.each(['ValidatingAdmissionPolicy', 'MutatingAdmissionPolicy'])('every %s is bound, and fails closed', (kind) => {
  const names = of(kind).map(({ metadata }) => metadata.name);
  expect(names.length).toBeGreaterThan(0);
  expect(of(`${kind}Binding`).map(({ spec }) => spec?.policyName)).toEqual(names);
  expect(of(kind).map(({ spec }) => spec?.failurePolicy)).toEqual(names.map(() => 'Fail'));
});

test('every refusal has its own message, which the ADR lists too', () => {
  const adr = read('docs/adr/0012-rules-without-webhooks.md');
  const messages = of('ValidatingAdmissionPolicy').flatMap(
    ({ spec }) => spec?.validations?.map(({ message }) => message) ?? [],
  );
  expect(new Set(messages).size).toBe(messages.length);
  expect(messages.filter((message) => !adr.includes(message))).toEqual([]);
});

test('every variable is used', () => {
  for (const { spec } of of('ValidatingAdmissionPolicy')) {
    const expressions = JSON.stringify(spec?.validations);
    const unused = spec?.variables
      ?.filter(({ name }) => !expressions.includes(`variables.${name}`))
      .map(({ name }) => name);
    expect(unused).toEqual([]);
  }
});
