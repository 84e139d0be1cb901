/**
 * Path of a resource or, with a name, of one object and its subresource. A name may come from a spec of any text: half
 * of a surrogate pair, which no URL can carry, names no object, and the API server says so.
 */
export function resourcePath(
  apiVersion: string,
  plural: string,
  { namespace, name, subresource }: { namespace?: string; name?: string; subresource?: string } = {},
): string {
  const segments = [apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`];
  if (namespace !== undefined) segments.push('namespaces', encodeURIComponent(namespace.toWellFormed()));
  segments.push(plural);
  if (name !== undefined) segments.push(encodeURIComponent(name.toWellFormed()));
  if (subresource !== undefined) segments.push(subresource);
  return segments.join('/');
}
