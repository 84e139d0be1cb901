/** Path of a resource or, with a name, of one object and its subresource. */
export function resourcePath(
  apiVersion: string,
  plural: string,
  { namespace, name, subresource }: { namespace?: string; name?: string; subresource?: string } = {},
): string {
  const segments = [apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`];
  if (namespace !== undefined) segments.push('namespaces', encodeURIComponent(namespace));
  segments.push(plural);
  if (name !== undefined) segments.push(encodeURIComponent(name));
  if (subresource !== undefined) segments.push(subresource);
  return segments.join('/');
}
