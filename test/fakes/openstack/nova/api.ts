import { createRouter, type WireAnswer } from '../wire.ts';
import type { NovaCall } from './call.ts';
import { hostRoutes } from './hosts-api.ts';
import { migrationRoutes } from './migrations-api.ts';
import { serverActionRoutes } from './server-actions-api.ts';
import { serverRoutes } from './servers-api.ts';

export const latestMicroversion = '2.104';

/** Nova's API below `/v2.1`. */
export const answerNova: (call: NovaCall, method: string, path: string) => WireAnswer | Promise<WireAnswer> =
  createRouter('Nova', {
    ...hostRoutes,
    ...serverRoutes,
    ...serverActionRoutes,
    ...migrationRoutes,
    'GET /': () => ({
      status: 200,
      body: {
        version: {
          id: 'v2.1',
          status: 'CURRENT',
          version: latestMicroversion,
          min_version: '2.1',
          updated: '2013-07-23T11:33:21Z',
          links: [],
          'media-types': [],
        },
      },
    }),
  });
