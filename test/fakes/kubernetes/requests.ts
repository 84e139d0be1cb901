import type { KubernetesRequest } from '../../../runtime/kubernetes/kubernetes.ts';
import { unknownPath } from './refusal.ts';
import type { Resource } from './resources.ts';
import { apiVersionOf } from './resources.ts';

/** What a path is about. */
export interface Place {
  resource: Resource;
  /** Absent: of all namespaces, or the kind has none. */
  namespace: string | undefined;
  /** Null: the collection. */
  name: string | null;
  /** Empty: the object itself. */
  subresource: string;
}

const resourcePattern =
  /^\/(?:api|apis\/(?<group>[^/]+))\/(?<version>[^/]+)\/(?:namespaces\/(?<namespace>[^/]+)\/(?=[^/]+))?(?<plural>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<subresource>[^/]+))?$/u;

/** @throws Refusal 404 where nothing of that name is served */
export function readPlace(path: string, resources: readonly Resource[]): Place {
  // `/namespaces/x/status` is a subresource of the Namespace, and no collection in it.
  const { name: ofNamespace } = /^\/api\/v1\/namespaces\/(?<name>[^/]+)\/status$/u.exec(path)?.groups ?? {};
  if (ofNamespace !== undefined)
    return { ...readPlace(`/api/v1/namespaces/${ofNamespace}`, resources), subresource: 'status' };
  const { group = '', version, namespace, plural, name, subresource = '' } = resourcePattern.exec(path)?.groups ?? {};
  const resource = resources.find((one) => one.group === group && one.version === version && one.plural === plural);
  if (resource === undefined || (namespace !== undefined && !resource.isNamespaced)) throw unknownPath(path);
  if (name !== undefined && resource.isNamespaced && namespace === undefined) throw unknownPath(path);
  if (subresource !== '' && !(subresource === 'status' && resource.hasStatus)) throw unknownPath(path);
  return {
    resource,
    namespace: namespace === undefined ? undefined : decodeURIComponent(namespace),
    name: name === undefined ? null : decodeURIComponent(name),
    subresource,
  };
}

/** `/apis/<group>/<version>`: what is served there; null: the path asks for something else. */
export function discover(path: string, resources: readonly Resource[]): object | null {
  const groupVersion = /^\/(?:apis\/(?<named>[^/]+\/[^/]+)|api\/(?<core>[^/]+))$/u.exec(path)?.groups;
  const wanted = groupVersion?.['named'] ?? groupVersion?.['core'];
  if (wanted === undefined) return null;
  const served = resources.filter((one) => apiVersionOf(one) === wanted);
  if (served.length === 0) throw unknownPath(path);
  const rows = served.flatMap(({ plural, kind, isNamespaced, hasStatus }) => [
    { name: plural, singularName: kind.toLowerCase(), namespaced: isNamespaced, kind },
    ...(hasStatus ? [{ name: `${plural}/status`, singularName: '', namespaced: isNamespaced, kind }] : []),
  ]);
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: wanted, resources: rows };
}

/** As the real client sends it: JSON, where a field that is undefined is not there. */
export const wireBody = ({ body }: Pick<KubernetesRequest, 'body'>): unknown =>
  body === undefined ? undefined : (JSON.parse(JSON.stringify(body)) as unknown);
