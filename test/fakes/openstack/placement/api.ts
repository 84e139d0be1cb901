import { createRouter, type WireAnswer } from '../wire.ts';
import { allocationRoutes } from './allocations-api.ts';
import { refused, type PlacementCall } from './call.ts';
import { providerRoutes } from './providers-api.ts';

const route = createRouter('Placement', { ...providerRoutes, ...allocationRoutes });

/** Placement's API: for administrators only. */
export function answerPlacement(call: PlacementCall, method: string, path: string): WireAnswer | Promise<WireAnswer> {
  if (!call.request.user.roles.includes('admin'))
    throw refused(call, 403, `placement:${path.split('/')[1]}:list is disallowed by policy`);
  return route(call, method, path);
}
