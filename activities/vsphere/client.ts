import { withTimeout, type Clock } from '../../runtime/clock.ts';
import { droverFailure, failureCode } from '../../runtime/failure.ts';
import type { VcenterSettings } from '../../runtime/config/vsphere-settings.ts';
import { openCallBudget } from './budget.ts';
import { vimFailure } from './faults.ts';
import { createSoapHttp, openVcenterSessions, type SoapAnswer, type SoapHttp, type SoapOptions } from './http.ts';
import { readStorageProfiles } from './storage-profiles.ts';
import { decodeResponse, type Decoded, localizedFault, type Returned } from './wire/decode.ts';
import { encodeRequest } from './wire/encode.ts';
import type { ManagedObjectReference } from './wire/values.ts';
import type { RetrieveResult, ServiceContent, VimTypes } from './wire/vim/types.ts';

/**
 * The methods of one vCenter, with one session for all. It is the seam behind which another protocol with the same
 * types can stand, such as VI JSON.
 *
 * Every call ends when its signal is aborted, or by itself within its time, and is sent once; only a session that has
 * ended is renewed, and the call, which vCenter did not take, sent again. Failures: `VsphereUnavailable`,
 * `CertificateNotTrusted`, `AnswerMalformed`, and what faults mean (faults.ts). After `VsphereUnavailable` it is
 * unknown whether the call had an effect.
 */
export interface Vim {
  /** As in the settings. */
  readonly name: string;
  content(signal: AbortSignal): Promise<ServiceContent>;
  call<Method extends keyof VimTypes>(
    method: Method,
    self: ManagedObjectReference,
    args: VimTypes[Method],
    signal: AbortSignal,
    options?: CallOptions,
  ): Promise<Returned<Method>>;
  /**
   * Sends what is no method, such as a file, with the cookie of the session. It is no call of the budget, and has no
   * time but its signal's.
   *
   * @param isRefused the answer says that the session has ended: it is renewed, and the request sent once more
   */
  withSession<Answer>(
    send: (cookie: string) => Promise<Answer>,
    isRefused: (answer: Answer) => boolean,
    signal: AbortSignal,
  ): Promise<Answer>;
  /**
   * Ids of the storage profiles of SPBM, which is a service beside vim25 with the same session. Null: it is not served,
   * or does not show them to drover's user.
   */
  storageProfiles(signal: AbortSignal): Promise<readonly string[] | null>;
  /** Ends the session, as vCenter has room for few. */
  close(): Promise<void>;
}

export interface CallOptions {
  /**
   * It refers to something that ends with the session, such as the next page: one of another session than this content's
   * is of no use.
   */
  sameSession?: ServiceContent;
  /** What is sent is secret, and an answer may repeat it: a failure states its kind only. */
  isSecret?: boolean;
  /** Of the API, where older ones do not know what is sent: `9.1.0.0`. Default: the oldest that drover speaks. */
  apiVersion?: string;
  /**
   * Called when it is the call's turn, right before it is sent; where this throws, nothing is sent. What is asked here
   * takes no turn of its own: between it and the call stands no queue.
   */
  confirm?: (vim: Pick<Vim, 'name' | 'content' | 'call'>, signal: AbortSignal) => Promise<void>;
}

export interface ClientOptions extends SoapOptions {
  /** What the answers come by; default: a pool of connections of its own. */
  http?: SoapHttp;
  /** For all of one call: its turn, a login, the request. Below the 15 s that a short activity has. */
  callMs?: number;
  /** Stands in vCenter's own log: which operation asks. Null: none in particular. */
  operationId?: () => string | null;
  clock: Clock;
}

const defaultCallMs = 14_000;

const serviceInstance: ManagedObjectReference = { type: 'ServiceInstance', value: 'ServiceInstance' };

/** Nothing is sent before the first call. */
export function openVcenter(settings: VcenterSettings, options: ClientOptions): Vim {
  const { name } = settings;
  const { clock } = options;
  const http = options.http ?? createSoapHttp(settings, options);
  const budget = openCallBudget(settings.budget, clock);
  const callMs = options.callMs ?? defaultCallMs;

  /** One request and what its answer says; throws where that is neither a value nor a fault. */
  const exchange = async <Method extends keyof VimTypes>(
    method: Method,
    self: ManagedObjectReference,
    args: VimTypes[Method],
    cookie: string | null,
    signal: AbortSignal,
    { isSecret = false, apiVersion }: CallOptions = {},
  ): Promise<{ answer: SoapAnswer; decoded: Decoded<Method> }> => {
    const answer = await http.send(
      {
        method,
        body: encodeRequest(method, self, args, options.operationId?.() ?? null),
        cookie,
        ...(apiVersion !== undefined && { apiVersion }),
      },
      signal,
    );
    return { answer, decoded: withEndOfSession(decode(name, method, answer, isSecret)) };
  };
  const valueOf = <Method extends keyof VimTypes>(
    method: Method,
    self: ManagedObjectReference,
    decoded: Decoded<Method>,
    isSecret = false,
  ): Returned<Method> => {
    if ('fault' in decoded)
      throw vimFailure(decoded.fault, `vCenter ${name} answered ${method} of ${self.value}`, isSecret);
    return decoded.value;
  };

  const sessions = openVcenterSessions({
    credential: settings.credential,
    clock,
    logIn: async ({ username: userName, password }, signal) => {
      const { decoded: described } = await exchange('RetrieveServiceContent', serviceInstance, {}, null, signal);
      const content = valueOf('RetrieveServiceContent', serviceInstance, described);
      if (content.sessionManager === undefined)
        throw malformed(name, 'RetrieveServiceContent', 'it names no session manager: this is no vCenter');
      const { answer, decoded } = await exchange('Login', content.sessionManager, { userName, password }, null, signal);
      valueOf('Login', content.sessionManager, decoded);
      if (answer.cookie === null) throw malformed(name, 'Login', 'it sets no cookie for the session');
      return { cookie: answer.cookie, content };
    },
  });

  const within = <Result>(
    what: string,
    signal: AbortSignal,
    work: (limited: AbortSignal) => Promise<Result>,
  ): Promise<Result> =>
    withTimeout(clock, callMs, async (overdue) => {
      try {
        return await work(AbortSignal.any([signal, overdue]));
      } catch (error) {
        signal.throwIfAborted();
        if (overdue.aborted && failureCode(error) === null)
          throw droverFailure(
            'VsphereUnavailable',
            `vCenter ${name}: ${what} was not done within ${callMs / 1_000} s, with its turn among the calls of this worker`,
          );
        throw error;
      }
    });
  const content: Vim['content'] = (signal) =>
    within('the login', signal, async (limited) => (await sessions.current(limited)).content);
  const callInTurn: Vim['call'] = async (method, self, args, signal, how = {}) => {
    const { sameSession, isSecret = false } = how;
    const lost = (): Error =>
      droverFailure('VsphereUnavailable', `vCenter ${name} ended the session in the middle of ${method}`);
    const isOver = (decoded: Decoded<typeof method>): boolean =>
      'fault' in decoded && decoded.fault.type === 'NotAuthenticated';
    const { session, decoded } = await sessions.use(
      async (session) => {
        // Another call has renewed it meanwhile.
        if (sameSession !== undefined && session.content !== sameSession) throw lost();
        const { decoded } = await exchange(method, self, args, session.cookie, signal, how);
        return { session, decoded };
      },
      (answer) => isOver(answer.decoded) && sameSession === undefined,
      signal,
    );
    if (sameSession === undefined || !isOver(decoded)) return valueOf(method, self, decoded, isSecret);
    sessions.discard(session);
    throw lost();
  };
  return {
    name,
    content,
    call: (method, self, args, signal, how = {}) =>
      within(method, signal, (limited) =>
        budget.run(async () => {
          await how.confirm?.({ name, content, call: callInTurn }, limited);
          return await callInTurn(method, self, args, limited, how);
        }, limited),
      ),
    storageProfiles: (signal) =>
      within('the list of storage profiles', signal, (limited) =>
        budget.run(
          () =>
            readStorageProfiles(name, async ({ method, body }) => {
              // That SPBM refuses it does not say that vim25 does: it is not renewed for SPBM, which would end the
              // pages that others read.
              const { cookie } = await sessions.current(limited);
              return await http.send({ method, body: body(cookie), cookie, service: 'pbm' }, limited);
            }),
          limited,
        ),
      ),
    withSession: (send, isRefused, signal) => sessions.use(({ cookie }) => send(cookie), isRefused, signal),
    close: async () => {
      await sessions.end(async ({ cookie, content }, signal) => {
        if (content.sessionManager !== undefined) await exchange('Logout', content.sessionManager, {}, cookie, signal);
      });
      await http.close();
    },
  };
}

/** vCenter answers with 500 when it says no; what stands before it answers with pages. */
const soapFault = /<(?:\w+:)?Fault[\s>]/u;

function decode<Method extends keyof VimTypes>(
  name: string,
  method: Method,
  { status, text }: SoapAnswer,
  isSecret: boolean,
): Decoded<Method> {
  if (status !== 200 && (status !== 500 || !soapFault.test(text))) {
    const isAway = status === 408 || status === 429 || status >= 500;
    throw droverFailure(
      isAway ? 'VsphereUnavailable' : 'AnswerMalformed',
      `vCenter ${name} answered ${status} to ${method}, and no SOAP`,
    );
  }
  try {
    return decodeResponse(method, text);
  } catch (error) {
    throw malformed(
      name,
      method,
      isSecret ? 'it is not as the schema says' : error instanceof Error ? error.message : String(error),
    );
  }
}

/**
 * Asked for properties in a session that has ended, vCenter returns the objects, each without its properties for that
 * reason, where any other method has it as its fault.
 */
function withEndOfSession<Method extends keyof VimTypes>(decoded: Decoded<Method>): Decoded<Method> {
  if ('fault' in decoded || !isRetrieved(decoded.value)) return decoded;
  const faults = (decoded.value.objects ?? []).flatMap(({ missingSet = [] }) =>
    missingSet.map(({ fault }) => localizedFault(fault)),
  );
  const ended = faults.find(({ type }) => type === 'NotAuthenticated');
  return ended === undefined ? decoded : { fault: ended };
}

const isRetrieved = (value: unknown): value is RetrieveResult =>
  typeof value === 'object' && value !== null && 'objects' in value;

const malformed = (name: string, method: string, what: string) =>
  droverFailure('AnswerMalformed', `The answer of vCenter ${name} to ${method} cannot be read: ${what.slice(0, 300)}`);
