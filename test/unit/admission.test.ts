import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

import { isReservedKey } from '../../contracts/virtual-machine/extra-config-keys.ts';

/** deploy/admission: what is refused there says so, and stands in the document that lists each rule. */
interface Policy {
  kind: string;
  metadata: { name: string };
  spec?: {
    policyName?: string;
    failurePolicy?: string;
    validationActions?: string[];
    validations?: { expression: string; message?: string }[];
    variables?: { name: string; expression: string }[];
    mutations?: { jsonPatch: { expression: string } }[];
  };
}

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const objectsIn = (file: string): Policy[] =>
  parseAllDocuments(read(`deploy/admission/${file}`)).map((document) => document.toJS() as Policy);

describe.each([
  [
    'virtual-machines.yaml',
    'docs/adr/0012-rules-without-webhooks.md',
    ['ValidatingAdmissionPolicy', 'MutatingAdmissionPolicy'],
  ],
  ['data-volumes.yaml', 'docs/data-volumes.md', ['ValidatingAdmissionPolicy']],
])('%s', (file, document, kinds) => {
  const objects = objectsIn(file);
  const of = (kind: string): Policy[] => objects.filter((object) => object.kind === kind);

  test.each(kinds)('every %s is bound, and fails closed', (kind) => {
    const names = of(kind).map(({ metadata }) => metadata.name);
    expect(names.length).toBeGreaterThan(0);
    expect(of(`${kind}Binding`).map(({ spec }) => spec?.policyName)).toEqual(names);
    expect(of(kind).map(({ spec }) => spec?.failurePolicy)).toEqual(names.map(() => 'Fail'));
  });

  test('what a ValidatingAdmissionPolicy finds is refused', () => {
    const actions = of('ValidatingAdmissionPolicyBinding').map(({ spec }) => spec?.validationActions);
    expect(actions).toEqual(actions.map(() => ['Deny']));
  });

  test('every refusal has its own message, which the document lists too', () => {
    const text = read(document);
    const messages = of('ValidatingAdmissionPolicy').flatMap(
      ({ spec }) =>
        // What an expression words differs with what is refused.
        spec?.validations?.flatMap(({ message }) => message ?? []) ?? [],
    );
    expect(new Set(messages).size).toBe(messages.length);
    expect(messages.filter((message) => !text.includes(message))).toEqual([]);
  });

  test('every variable is used', () => {
    for (const { spec } of of('ValidatingAdmissionPolicy')) {
      const { variables = [], validations } = spec ?? {};
      const expressions = JSON.stringify([validations, variables.map(({ expression }) => expression)]);
      const unused = variables
        .map(({ name }) => name)
        .filter((name) => !new RegExp(`variables\\.${name}\\b`, 'u').test(expressions));
      expect(unused).toEqual([]);
    }
  });
});

test.each([
  ['vmservice.namespacedName', true],
  ['vmprov.keepDisks', true],
  ['drover.uid', true],
  ['Drover.uid', true],
  ['guestinfo.metadata', true],
  ['guestinfo.userdata.encoding', true],
  ['guestinfo.vendordata', true],
  ['GuestInfo.VendorData', true],
  ['guestinfo.vendordataset', false],
  ['guestinfo.state', false],
  ['droverlike', false],
])('the key %s of ExtraConfig is refused where the run leaves it out', (key, isRefused) => {
  const [, pattern = ''] =
    /row\.key\.matches\('\(\?i\)([^']+)'\)/u.exec(read('deploy/admission/virtual-machines.yaml')) ?? [];
  expect([new RegExp(pattern, 'iu').test(key), isReservedKey(key)]).toEqual([isRefused, isRefused]);
});
