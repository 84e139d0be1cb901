/** The collections drover reads or changes; a path starts with one of them, behind whatever the catalog's URL has. */
const collections = [
  'servers',
  'os-services',
  'os-hypervisors',
  'os-aggregates',
  'os-migrations',
  'os-server-groups',
  'resource_providers',
  'allocation_candidates',
  'allocations',
  'traits',
  'auth',
];

/** What can follow in a path and is no name or id of anything. */
const words = new Set([
  ...collections,
  'detail',
  'action',
  'migrations',
  'os-instance-actions',
  'traits',
  'aggregates',
  'inventories',
  'usages',
  'tokens',
]);

/**
 * What a request does, without names and ids, so that there are few: `GET /servers/{id}`. Of an action, also which one. Pure.
 *
 * @param path of the URL
 * @param body as it is sent
 */
export function verbOf(method: string, path: string, body: unknown): string {
  const segments = path.split('/').filter((segment) => segment !== '');
  const start = segments.findIndex((segment) => collections.includes(segment));
  if (start === -1) return `${method} /`;
  const template = segments.slice(start).map((segment) => (words.has(segment) ? segment : '{id}'));
  const action =
    template.at(-1) === 'action' && typeof body === 'object' && body !== null ? Object.keys(body)[0] : undefined;
  return `${method} /${template.join('/')}${action === undefined ? '' : ` ${action}`}`;
}
