import { isDeepStrictEqual } from 'node:util';

/** ValidatingAdmissionPolicies as drover generates them, and as kube-apiserver has them. Pure. */

/** What kube-apiserver fills in. */
const ruleDefaults = { scope: '*' };
const matchDefaults = { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} };

type Fields = Record<string, unknown>;
const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});

const filledMatch = (match: unknown): unknown => {
  if (match === undefined || match === null) return undefined;
  const { resourceRules, ...more } = fields(match);
  const rules = Array.isArray(resourceRules) ? resourceRules.map((rule) => ({ ...ruleDefaults, ...fields(rule) })) : [];
  return { ...matchDefaults, ...more, resourceRules: rules };
};

/** A spec with what kube-apiserver fills in. Pure. */
function filled(spec: unknown, own: Fields): Fields {
  const { matchConstraints, matchResources, ...more } = fields(spec);
  return JSON.parse(
    JSON.stringify({
      ...own,
      ...more,
      matchConstraints: filledMatch(matchConstraints),
      matchResources: filledMatch(matchResources),
    }),
  ) as Fields;
}

/** Whether a policy, or a binding, is the one that drover generates: neither more nor less. Pure. */
export const isAsGenerated = (spec: unknown, generated: unknown, kind: 'policy' | 'binding'): boolean => {
  const own: Fields = kind === 'policy' ? { failurePolicy: 'Fail' } : {};
  return isDeepStrictEqual(filled(spec, own), filled(generated, own));
};
