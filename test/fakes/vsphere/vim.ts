import { openCallBudget } from '../../../activities/vsphere/budget.ts';
import type { CallOptions, Vim } from '../../../activities/vsphere/client.ts';
import { vimFailure } from '../../../activities/vsphere/faults.ts';
import { transportFailure } from '../../../activities/lib/http.ts';
import { defaultTimeouts, httpFailure } from '../../../activities/vsphere/http.ts';
import type { Returned } from '../../../activities/vsphere/wire/decode.ts';
import { encodeRequest } from '../../../activities/vsphere/wire/encode.ts';
import { fieldsOf } from '../../../activities/vsphere/wire/schema.ts';
import type { VimTypes } from '../../../activities/vsphere/wire/vim/types.ts';
import { withTimeout } from '../../../runtime/clock.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import type { VcenterSettings } from '../../../runtime/config/vsphere-settings.ts';
import type { Network } from '../../simulator/network.ts';
import { openCollectorSession } from './collector.ts';
import type { FrontDoor } from './front.ts';
import { toVimFault, VsphereFault } from './fault.ts';
import type { contentOf, openMethods, Parts } from './methods.ts';
import type { Ref } from './model.ts';
import { presentAs } from './shape.ts';

export interface PortOptions {
  settings: VcenterSettings;
  network: Network;
  parts: Parts;
  front: FrontDoor;
}

/** For all of one call, as the real client has it. */
const callMs = 14_000;
const serviceInstance: Ref = { type: 'ServiceInstance', value: 'ServiceInstance' };

/** The port `Vim` on the model: what is above the wire's bytes is as with the real one. */
export function openVim(
  { settings, network, parts, front }: PortOptions,
  methods: ReturnType<typeof openMethods>,
): Vim {
  const { name } = settings;
  const { clock } = parts.model;
  let session = openCollectorSession(parts.model);
  let hasEnded = false;
  let content: ReturnType<typeof contentOf> | null = null;
  let isClosed = false;
  const unsubscribe = front.onSessionsEnd(() => {
    session.end();
    hasEnded = true;
  });

  const budget = openCallBudget(settings.budget, clock);

  const exchange = async <Method extends keyof VimTypes>(
    method: Method,
    self: Ref,
    args: VimTypes[Method],
    signal: AbortSignal,
    options: CallOptions = {},
  ): Promise<Returned<Method>> => {
    const { isSecret = false, sameSession, apiVersion = oldestApiVersion } = options;
    if (isClosed) throw droverFailure('VsphereUnavailable', 'The client of this vCenter was closed');
    const encode = (): string => encodeRequest(method, self, args, null);
    // What cannot be sent fails here, as with the real client.
    if (!isRead(method)) encode();
    const record = front.arrive({ method, soapAction: `urn:vim25/${apiVersion}`, body: encode });
    const failed = (code: string) =>
      httpFailure(transportFailure(Object.assign(new Error(code), { code }), defaultTimeouts), settings, method);
    const lost = () => failed('UND_ERR_SOCKET');
    const effect = async (): Promise<Returned<Method>> => {
      if (sameSession !== undefined && (hasEnded || sameSession !== content))
        throw droverFailure('VsphereUnavailable', `vCenter ${name} ended the session in the middle of ${method}`);
      if (hasEnded) {
        session = openCollectorSession(parts.model);
        content = null;
      }
      hasEnded = false;
      try {
        front.refuse(method);
        const handler = methods[method];
        if (handler === undefined) throw new VsphereFault('MethodNotFound', { receiver: self, method });
        const value = await handler(self, args, session);
        record.status = 200;
        return answerOf(method, value) as Returned<Method>;
      } catch (error) {
        record.status = 500;
        if (error instanceof VsphereFault)
          throw vimFailure(toVimFault(error), `vCenter ${name} answered ${method} of ${self.value}`, isSecret);
        throw error;
      }
    };
    return await withTimeout(clock, defaultTimeouts.headersMs, async (overdue) => {
      const limited = AbortSignal.any([signal, overdue]);
      try {
        return await front.pass(
          method,
          clock,
          limited,
          lost,
          (status) => statusFailure(name, method, status),
          () => network.call({ system: 'vsphere', verb: method }, effect, limited, lost),
        );
      } catch (error) {
        signal.throwIfAborted();
        if (overdue.aborted) throw failed('UND_ERR_HEADERS_TIMEOUT');
        throw error;
      }
    });
  };
  /** With the turn among the calls of this worker. */
  const within = <Result>(
    what: string,
    signal: AbortSignal,
    work: (limited: AbortSignal) => Promise<Result>,
  ): Promise<Result> =>
    withTimeout(clock, callMs, async (overdue) => {
      try {
        const limited = AbortSignal.any([signal, overdue]);
        return await budget.run(() => work(limited), limited);
      } catch (error) {
        signal.throwIfAborted();
        if (overdue.aborted && failureCode(error) === null)
          throw droverFailure('VsphereUnavailable', `vCenter ${name}: ${what} was not done within ${callMs / 1_000} s`);
        throw error;
      }
    });
  const readContent: Vim['content'] = async (signal) => {
    signal.throwIfAborted();
    // That of the login, which is kept with it.
    content ??= await exchange('RetrieveServiceContent', serviceInstance, {}, signal);
    return content;
  };
  return {
    name,
    content: readContent,
    call: (method, self, args, signal, options) =>
      within(method, signal, async (limited) => {
        await options?.confirm?.({ name, content: readContent, call: exchange }, limited);
        return await exchange(method, self, args, limited, options);
      }),
    // What stands in front of the simulator keeps no record of it either.
    storageProfiles: (signal) =>
      within('the list of storage profiles', signal, (limited) =>
        network.call(
          { system: 'vsphere', verb: 'PbmQueryProfile' },
          () => [...storageProfiles],
          limited,
          () =>
            httpFailure(
              transportFailure(
                Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
                defaultTimeouts,
              ),
              settings,
              'PbmQueryProfile',
            ),
        ),
      ),
    withSession: (send) => send('vmware_soap_session="simulated"'),
    close: () => {
      isClosed = true;
      session.end();
      unsubscribe();
      return Promise.resolve();
    },
  };
}

const oldestApiVersion = '8.0.1.0';

/** Those that every vCenter brings along, and vcsim: encryption, vSAN, VVol. */
const storageProfiles = [
  '4d5f673c-536f-11e6-beb8-9e71128cae77',
  'aa6d5a82-1c88-45da-85d3-3d74b91a5bad',
  'f4e5bade-15a2-4805-bf8e-52318c4ce443',
] as const;

const isRead = (method: string): boolean => /^(Retrieve|ContinueRetrieve|Find|Query|WaitForUpdates)/u.test(method);

/** As the codec gives it: objects without their `$type` where the schema names it. */
function answerOf(method: string, value: unknown): unknown {
  const field = fieldsOf(`${method}Response`)?.find(({ name }) => name === 'returnval');
  if (value === undefined || field === undefined || field.isMany || fieldsOf(field.of) === undefined) return value;
  return presentAs(field.of, value as object);
}

const statusFailure = (name: string, method: string, status: number): Error => {
  const isAway = status === 408 || status === 429 || status >= 500;
  return droverFailure(
    isAway ? 'VsphereUnavailable' : 'AnswerMalformed',
    `vCenter ${name} answered ${status} to ${method}, and no SOAP`,
  );
};
