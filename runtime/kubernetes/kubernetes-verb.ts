const verbs = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const;

/** What a request does by the verbs of Kubernetes, without names: `list evictions`, `patch evictions/status`. Pure. */
export function kubernetesVerb({
  method,
  path,
  query,
}: {
  method: keyof typeof verbs;
  path: string;
  query?: Readonly<Record<string, unknown>>;
}): string {
  const found =
    /^\/(?:api|apis\/[^/]+)\/[^/]+\/(?:namespaces\/[^/]+\/(?=[^/]+))?(?<plural>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<subresource>[^/]+))?/u.exec(
      path,
    );
  const { plural, name, subresource } = found?.groups ?? {};
  if (plural === undefined) return `${verbs[method]} ${path.split('/', 2).join('/')}`;
  const of = `${plural}${subresource === undefined ? '' : `/${subresource}`}`;
  if (method !== 'GET') return `${verbs[method]} ${of}`;
  return `${query?.['watch'] === true ? 'watch' : name === undefined ? 'list' : 'get'} ${of}`;
}
