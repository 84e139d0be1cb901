import type { z } from 'zod';

import type { Clock } from '../../runtime/clock.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { redactedStart } from '../../runtime/redaction.ts';
import { faultOf, refusalOf, type RequestKind } from './faults.ts';
import type { Http, HttpAnswer } from './http.ts';
import { basicLogin, pathOf, sessionLogin, type Login } from './login.ts';
import type { BmcSettings } from './types.ts';
import { serviceRoot } from './wire.ts';

/** The one path that the specification fixes. */
export const rootPath = '/redfish/v1/';

/** Requests with the login, and checked answers. */
export interface Bmc {
  get<Wire>(kind: RequestKind, path: string, shape: z.ZodType<Wire>, signal: AbortSignal): Promise<Wire>;
  post(kind: RequestKind, path: string, body: unknown, signal: AbortSignal): Promise<void>;
  /** The path of a link that the BMC or the settings gave. @throws AnswerMalformed where it leads elsewhere */
  follow(link: string, what: string): string;
  malformed(path: string, what: string): Error;
  end(): Promise<void>;
}

export function talkTo(http: Http, settings: BmcSettings, clock: Clock): Bmc {
  const at = `the BMC at ${settings.url}`;
  const malformed = (path: string, what: string) =>
    droverFailure('AnswerMalformed', `The answer of ${at} to ${path} ${what}`, { details: { path } });
  const follow = (link: string, what: string): string => {
    const path = pathOf(link, settings.url);
    if (path === null)
      throw droverFailure(
        'AnswerMalformed',
        `For ${what}, ${at} has a link that leads elsewhere: ${redactedStart(link, 200)}`,
      );
    return path;
  };
  const accept = (kind: RequestKind, method: string, path: string, answer: HttpAnswer): HttpAnswer => {
    if (answer.status >= 200 && answer.status < 300) return answer;
    const refusal = refusalOf(answer.status, answer.text);
    throw droverFailure(
      faultOf(kind, refusal),
      `The BMC at ${settings.url} answered ${answer.status} to ${method} ${path}: ${refusal.words}`,
      { details: { status: answer.status, method, path } },
    );
  };
  // The service root tells everybody where sessions are made.
  const findSessions = async (signal: AbortSignal): Promise<string> => {
    const root = parse(
      serviceRoot,
      rootPath,
      accept('read', 'GET', rootPath, await http.send({ method: 'GET', path: rootPath, headers: {} }, signal)),
      malformed,
    );
    const link = root.Links?.Sessions?.['@odata.id'];
    if (link === undefined) throw malformed(rootPath, 'names no Sessions');
    return follow(link, 'its sessions');
  };
  const login: Login =
    settings.auth === 'basic' ? basicLogin(settings) : sessionLogin(http, settings, clock, findSessions);
  const send = (method: 'GET' | 'POST', path: string, body: unknown, signal: AbortSignal): Promise<HttpAnswer> =>
    login.use(
      (headers) => http.send({ method, path, headers, ...(body === undefined ? {} : { body }) }, signal),
      signal,
    );
  return {
    get: async (kind, path, shape, signal) =>
      parse(shape, path, accept(kind, 'GET', path, await send('GET', path, undefined, signal)), malformed),
    post: async (kind, path, body, signal) => void accept(kind, 'POST', path, await send('POST', path, body, signal)),
    follow,
    malformed,
    end: () => login.end(),
  };
}

function parse<Wire>(shape: z.ZodType<Wire>, path: string, answer: HttpAnswer, malformed: Bmc['malformed']): Wire {
  let body: unknown;
  try {
    body = JSON.parse(answer.text);
  } catch {
    throw malformed(path, `is no JSON: ${redactedStart(answer.text, 80)}`);
  }
  const parsed = shape.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw malformed(path, `has an unexpected ${issue?.path.join('.') || 'body'}: ${issue?.message ?? ''}`);
}
