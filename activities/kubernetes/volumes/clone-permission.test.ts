import { clonePolicy, clonePolicyBinding } from '../../../contracts/data-volume/clone-policy.ts';
import { isAsGenerated, writtenMs } from './clone-permission.ts';

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

const made = '2026-01-31T12:00:00Z';
const later = '2026-01-31T13:00:00Z';
const written = (time: unknown, field = 'f:spec') => ({ manager: 'kubectl', time, fieldsV1: { [field]: {} } });

test.each<[what: string, metadata: object, since: string | null]>([
  ['never changed', { generation: 1, managedFields: [written(later)] }, made],
  ['changed since', { generation: 3, managedFields: [written(made), written(later)] }, later],
  [
    'labelled later than it was changed',
    { generation: 2, managedFields: [written(later), written('2026-01-31T14:00:00Z', 'f:metadata')] },
    later,
  ],
  ['changed, and nobody says when', { generation: 2 }, null],
  ['changed by one who does not say when', { generation: 2, managedFields: [written(made), written(undefined)] }, null],
  ['changed at no time', { generation: 2, managedFields: [written('yesterday')] }, null],
  ['made at no time', { creationTimestamp: 'yesterday' }, null],
])('in force since: %s', (_what, metadata, since) => {
  expect(writtenMs({ creationTimestamp: made, ...metadata })).toBe(since === null ? Infinity : Date.parse(since));
});
