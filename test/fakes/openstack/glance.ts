import type { Cloud } from './cloud.ts';
import type { WireAnswer } from './wire.ts';

/** `GET /v2/images?id=in:…`: Glance lists those that it has, the hidden ones in a list of their own. */
export function answerGlance(
  { model: { images } }: Cloud,
  { method, path, query }: { method: string; path: string; query: URLSearchParams },
): WireAnswer {
  if (method !== 'GET' || path !== '/images') throw new Error(`the simulated Glance does not know ${method} ${path}`);
  const asked = (query.get('id') ?? '').replace(/^in:/u, '').split(',');
  const found = query.get('os_hidden') === 'true' ? [] : [...images].filter(([id]) => asked.includes(id));
  return {
    status: 200,
    body: { images: found.map(([id, { tags }]) => ({ id, tags, status: 'active', os_hidden: false })) },
  };
}
