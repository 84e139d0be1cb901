import { STATUS_CODES } from 'node:http';

import type { KeystoneUser } from './model.ts';

/** One request as a service gets it. */
export interface WireRequest {
  readonly method: string;
  /** Below the service's URL. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The minor number of the microversion that was asked for: 94 is 2.94 of Nova. */
  readonly minor: number;
  readonly body: unknown;
  readonly user: KeystoneUser;
  readonly requestId: string;
}

export interface WireAnswer {
  readonly status: number;
  /** Sent as JSON; undefined: no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Thrown where a service refuses: the answer that it gives. */
export class Refused extends Error {
  readonly answer: WireAnswer;

  constructor(answer: WireAnswer) {
    super(JSON.stringify(answer.body));
    this.answer = answer;
  }
}

/** Nova's names for its refusals, by status. @see nova/api/openstack/wsgi.py, Fault */
const novaFaults: Readonly<Record<number, string>> = {
  400: 'badRequest',
  403: 'forbidden',
  404: 'itemNotFound',
  409: 'conflictingRequest',
  500: 'computeFault',
  501: 'notImplemented',
};

export const novaRefusal = (status: number, message: string): Refused =>
  new Refused({ status, body: { [novaFaults[status] ?? 'computeFault']: { code: status, message } } });

/** What Nova answers where one of its own parts fails or does not answer. */
export const novaBroken = (exception: string): Refused =>
  novaRefusal(500, `Unexpected API Error. Please contact the administrator\n<class '${exception}'>`);

/** webob's sentences, with which Placement begins what it has to say. */
const placementPreambles: Readonly<Record<number, string>> = {
  400: 'The server could not comply with the request since it is either malformed or otherwise incorrect.',
  403: 'Access was denied to this resource.',
  404: 'The resource could not be found.',
  409: 'There was a conflict when trying to complete your request.',
};

export const placementRefusal = (status: number, detail: string, code: string, requestId: string): Refused =>
  new Refused({
    status,
    body: {
      errors: [
        {
          status,
          title: STATUS_CODES[status],
          detail: `${placementPreambles[status] ?? ''}\n\n ${detail}  `,
          code,
          request_id: requestId,
        },
      ],
    },
  });

/** A service's routes: `GET /servers/{id}` to what answers it. */
export type Routes<Context> = Readonly<
  Record<string, (context: Context, ...parts: string[]) => WireAnswer | Promise<WireAnswer>>
>;

interface Route<Context> {
  readonly method: string;
  readonly segments: readonly string[];
  readonly handler: Routes<Context>[string];
}

/**
 * Finds the handler of a request. A route with a fixed segment wins over one with an id in its place.
 * @throws Error where the fake has no such request: the model must learn it, no caller shall see it
 */
export function createRouter<Context>(
  name: string,
  routes: Routes<Context>,
): (context: Context, method: string, path: string) => WireAnswer | Promise<WireAnswer> {
  const known: Route<Context>[] = Object.entries(routes).map(([key, handler]) => {
    const [method = '', path = ''] = key.split(' ');
    return { method, segments: path.split('/').filter(Boolean), handler };
  });
  // Fixed segments before ids: `/servers/detail` is no server.
  known.sort((a, b) => idsIn(a.segments) - idsIn(b.segments));
  return (context, method, path) => {
    const segments = path.split('/').filter(Boolean).map(decodeURIComponent);
    for (const route of known) {
      if (route.method !== method || route.segments.length !== segments.length) continue;
      if (!route.segments.every((segment, index) => segment === '{}' || segment === segments[index])) continue;
      return route.handler(context, ...segments.filter((_, index) => route.segments[index] === '{}'));
    }
    throw new Error(`the simulated ${name} does not know ${method} ${path}`);
  };
}

const idsIn = (segments: readonly string[]): number => segments.filter((segment) => segment === '{}').length;
