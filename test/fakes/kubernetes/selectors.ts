import type { KubernetesRequest } from '../../../runtime/kubernetes/kubernetes.ts';
import { badRequest } from './refusal.ts';
import type { Resource } from './resources.ts';
import type { StoredObject } from './stored-object.ts';

/** Whether an object is among those that are asked for. */
export type Selects = (object: StoredObject) => boolean;

/** From `labelSelector` and `fieldSelector`. @throws Refusal 400 */
export function readSelectors({ query = {} }: Pick<KubernetesRequest, 'query'>, resource: Resource): Selects {
  const byLabels = String(query['labelSelector'] ?? '')
    .split(/,(?![^(]*\))/u)
    .filter((one) => one.trim() !== '')
    .map(labelRequirement);
  const byFields = String(query['fieldSelector'] ?? '')
    .split(',')
    .filter((one) => one !== '')
    .map((one) => fieldRequirement(one, resource));
  return (object) => [...byLabels, ...byFields].every((selects) => selects(object));
}

function labelRequirement(text: string): Selects {
  const {
    key = '',
    sign = '',
    values = '',
    negated,
    named,
    operator,
    operand = '',
  } = /^\s*(?:(?<key>\S+)\s+(?<sign>in|notin)\s+\((?<values>[^)]*)\)|(?<negated>!)?(?<named>[^\s!=]+)\s*(?:(?<operator>!=|==?)\s*(?<operand>\S*))?)\s*$/u.exec(
    text,
  )?.groups ?? {};
  const labelOf = ({ metadata: { labels = {} } }: StoredObject, name: string): string | undefined => labels[name];
  if (sign !== '') {
    const given = values.split(',').map((value) => value.trim());
    return (object) => {
      const label = labelOf(object, key);
      return sign === 'in'
        ? label !== undefined && given.includes(label)
        : label === undefined || !given.includes(label);
    };
  }
  if (named === undefined) throw badRequest(`unable to parse requirement: ${text}`);
  if (operator === undefined) return (object) => (labelOf(object, named) !== undefined) !== (negated === '!');
  return (object) => (labelOf(object, named) === operand) === (operator !== '!=');
}

function fieldRequirement(text: string, resource: Resource): Selects {
  const {
    field = '',
    operator = '=',
    value = '',
  } = /^(?<field>[^!=]+)(?<operator>!=|==?)(?<value>.*)$/u.exec(text)?.groups ?? {};
  if (!['metadata.name', 'metadata.namespace', ...resource.selectableFields].includes(field)) {
    throw badRequest(`field label not supported: ${field}`);
  }
  return (object) => (textAt(object, field.split('.')) === value) === (operator !== '!=');
}

function textAt(value: unknown, [name, ...rest]: readonly string[]): string {
  if (name === undefined) return typeof value === 'string' || typeof value === 'boolean' ? String(value) : '';
  return textAt((Object(value) as Record<string, unknown>)[name], rest);
}
