import { clonePolicy, clonePolicyBinding } from '../../contracts/data-volume/clone-policy.ts';
import { isAsGenerated } from './generated-policy.ts';

const copyOf = <Value>(value: Value): Value => structuredClone(value);
const [policy, binding] = [clonePolicy.spec, clonePolicyBinding.spec];
const { matchConstraints } = policy;

test.each<[what: string, spec: object, generated: object, kind: 'policy' | 'binding', expected: boolean]>([
  ['the policy', copyOf(policy), policy, 'policy', true],
  ['the binding', copyOf(binding), binding, 'binding', true],
  [
    'a policy without what kube-apiserver fills in',
    { ...policy, matchConstraints: { resourceRules: matchConstraints.resourceRules } },
    policy,
    'policy',
    true,
  ],
  ['a policy that lets pass what it cannot judge', { ...policy, failurePolicy: 'Ignore' }, policy, 'policy', false],
  ['a policy with a rule less', { ...policy, validations: policy.validations.slice(1) }, policy, 'policy', false],
  [
    'a policy with a condition',
    { ...policy, matchConditions: [{ name: 'x', expression: 'false' }] },
    policy,
    'policy',
    false,
  ],
  [
    'a policy for some namespaces',
    { ...policy, matchConstraints: { ...matchConstraints, namespaceSelector: { matchLabels: { a: 'b' } } } },
    policy,
    'policy',
    false,
  ],
  ['a binding that only warns', { ...binding, validationActions: ['Warn'] }, binding, 'binding', false],
  [
    'a binding for some objects',
    { ...binding, matchResources: { objectSelector: { matchLabels: { a: 'b' } } } },
    binding,
    'binding',
    false,
  ],
  ['nothing', {}, policy, 'policy', false],
])('%s', (_what, spec, generated, kind, expected) => {
  expect(isAsGenerated(spec, generated, kind)).toBe(expected);
});
