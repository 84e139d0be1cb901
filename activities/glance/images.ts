import { z } from 'zod';

import type { KeystoneSession } from '../keystone/types.ts';
import { openEndpoint } from '../openstack/endpoint.ts';

/** What drover asks of Glance. Failures: those of every service, `GlanceUnavailable` among them. */
export interface ImageCalls {
  /**
   * The tags of these images, by id, hidden ones too. One that is gone, or that the credential may not see, is
   * not in it.
   */
  tagsOf(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, readonly string[]>>;
}

const imagesAnswer = z.object({
  images: z.array(z.looseObject({ id: z.string().min(1), tags: z.array(z.string()) })),
});

/**
 * Glance has no microversions: what it can do, it tells by the versions of its API, and all of this is
 * older than 2023.1.
 */
const microversion = '2.9';

/** As many ids as a URL holds well; fewer than Glance gives in one page. */
const mostIds = 50;

/** @throws EndpointNotFound at the first call where the cloud has no Glance */
export function createImageCalls(session: KeystoneSession): ImageCalls {
  const glance = openEndpoint(session, { service: 'Glance', type: 'image', base: versionedBase });
  return {
    tagsOf: async (ids, signal) => {
      const asked = [...new Set(ids)].filter((id) => /^[\w-]+$/u.test(id));
      const found = new Map<string, readonly string[]>();
      for (let at = 0; at < asked.length; at += mostIds) {
        const some = asked.slice(at, at + mostIds);
        // A list has either those that are hidden or those that are not.
        for (const hidden of ['false', 'true']) {
          const query: [string, string][] = [
            ['id', `in:${some.join(',')}`],
            ['visibility', 'all'],
            ['os_hidden', hidden],
            ['limit', String(mostIds)],
          ];
          const { value } = await glance.call(
            { method: 'GET', path: '/images', query, microversion, answer: imagesAnswer },
            signal,
          );
          for (const { id, tags } of value.images) if (some.includes(id)) found.set(id, tags);
        }
      }
      return found;
    },
  };
}

const versionedBase = (url: string): string => `${url.replace(/\/+$/u, '').replace(/\/v2(?:\.\d+)?$/u, '')}/v2`;
