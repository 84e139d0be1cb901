import type { Duplex } from 'node:stream';

import { type Clock, repeat } from '../../runtime/clock.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { isError } from '../../runtime/is-error.ts';
import { type CallOutcome, type ObserveCall, observedAs } from '../../runtime/telemetry/outside-calls.ts';
import type { LibvirtEndpoint } from './endpoint.ts';
import { type LibvirtRefusal, faultOf, transportFault, wordsOf } from './faults.ts';
import type { LibvirtTimeouts } from './types.ts';
import { type Message, createFrameReader, decodeMessage, encodeCall, encodePing, encodePong } from './wire/message.ts';
import {
  type ProcedureArgs,
  type ProcedureName,
  type ProcedureResult,
  procedures,
  remoteError,
} from './wire/procedures.ts';
import { type Codec, MalformedMessage, decode } from './wire/xdr.ts';

/** Intervals without a sign of life after which the daemon counts as gone, as libvirt's own clients count. */
const silentIntervals = 5;

export interface CallOptions {
  timeoutMs: number;
  signal: AbortSignal;
}

export type Answer<Result> = { result: Result } | { refusal: LibvirtRefusal };

/** What the daemon says by itself. */
export interface EventListener {
  event(procedure: number, payload: Buffer): void;
  /** The connection is lost. Comes once, and nothing after it. */
  lost(failure: Error): void;
}

/** Calls and events over one connection, which is lost for good with the first thing that cannot be read. */
export interface Rpc {
  /**
   * @throws `LibvirtUnavailable`, `AnswerMalformed`; the signal's reason when it is aborted. The connection
   * survives a time-out.
   */
  call<Name extends ProcedureName>(
    name: Name,
    args: ProcedureArgs<Name>,
    options: CallOptions,
  ): Promise<Answer<ProcedureResult<Name>>>;
  /** Asks for signs of life from now on, and gives the connection up when none comes. */
  keepAlive(intervalMs: number): void;
  /** Returns what takes the listener away. One that is lost already calls the listener at once. */
  listen(listener: EventListener): () => void;
  /** Closes at once; what is under way fails. */
  destroy(): void;
}

interface Pending {
  name: ProcedureName;
  finish(reply: { isError: boolean; payload: Buffer }): void;
  fail(failure: unknown): void;
}

export function createRpc(socket: Duplex, { host, port }: Pick<LibvirtEndpoint, 'host' | 'port'>, clock: Clock): Rpc {
  const where = `libvirt at ${host}:${port}`;
  const pending = new Map<number, Pending>();
  /** Calls that were given up; their answers may still come. */
  const abandoned = new Set<number>();
  const listeners = new Set<EventListener>();
  const readFrames = createFrameReader();
  let lastSerial = 0;
  let lastMessageAtMs = clock.monotonicMs();
  let lost: Error | null = null;
  let stopPulse = (): void => undefined;

  const lose = (failure: Error): void => {
    if (lost !== null) return;
    lost = failure;
    stopPulse();
    socket.destroy();
    for (const call of pending.values()) call.fail(failure);
    pending.clear();
    for (const listener of listeners) listener.lost(failure);
    listeners.clear();
  };

  const loseMalformed = (error: unknown): void =>
    lose(
      droverFailure(
        'AnswerMalformed',
        `A message of ${where} cannot be read: ${isError(error) ? error.message : String(error)}`,
      ),
    );

  const answerCall = ({ serial, procedure, isError: refused, payload }: Extract<Message, { is: 'reply' }>): void => {
    if (abandoned.delete(serial)) return;
    const call = pending.get(serial);
    if (call === undefined) throw new MalformedMessage(`it answers call ${serial}, which was not made`);
    if (procedures[call.name].number !== procedure)
      throw new MalformedMessage(`it answers procedure ${procedure} where ${call.name} was asked`);
    call.finish({ isError: refused, payload });
    pending.delete(serial);
  };

  const take = (message: Message): void => {
    if (message.is === 'ping') socket.write(encodePong());
    else if (message.is === 'reply') answerCall(message);
    else if (message.is === 'event')
      for (const listener of listeners) listener.event(message.procedure, message.payload);
  };

  socket.on('data', (chunk: Buffer) => {
    lastMessageAtMs = clock.monotonicMs();
    if (lost !== null) return;
    try {
      for (const frame of readFrames(chunk)) take(decodeMessage(frame));
    } catch (error) {
      loseMalformed(error);
    }
  });
  socket.on('error', (error) => {
    const { code, words } = transportFault(error);
    lose(droverFailure(code, `${where}: ${words}`, { cause: error }));
  });
  socket.on('close', () => lose(droverFailure('LibvirtUnavailable', `${where}: the connection was closed`)));

  return {
    call: (name, args, { timeoutMs, signal }) => {
      signal.throwIfAborted();
      if (lost !== null) return Promise.reject(lost);
      const serial = (lastSerial += 1);
      const { promise, resolve, reject } = Promise.withResolvers<Answer<ProcedureResult<typeof name>>>();
      const giveUp = (reason: unknown): void => {
        pending.delete(serial);
        abandoned.add(serial);
        reject(reason);
      };
      const cancelTimer = clock.schedule(
        () =>
          giveUp(droverFailure('LibvirtUnavailable', `${where}: no answer to ${name} within ${timeoutMs / 1_000} s`)),
        timeoutMs,
      );
      const abort = (): void => giveUp(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      pending.set(serial, {
        name,
        finish: ({ isError: refused, payload }) => {
          if (refused) resolve({ refusal: refusalOf(payload) });
          else resolve({ result: decode(procedures[name].result as Codec<ProcedureResult<typeof name>>, payload) });
        },
        fail: reject,
      });
      socket.write(encodeCall(name, args, serial));
      return promise.finally(() => {
        cancelTimer();
        signal.removeEventListener('abort', abort);
      });
    },

    keepAlive: (intervalMs) => {
      stopPulse();
      if (lost !== null) return;
      lastMessageAtMs = clock.monotonicMs();
      stopPulse = repeat(
        clock,
        () => {
          const silentMs = clock.monotonicMs() - lastMessageAtMs;
          if (silentMs > silentIntervals * intervalMs)
            lose(
              droverFailure('LibvirtUnavailable', `${where}: no sign of life for ${(silentMs / 1_000).toFixed(1)} s`),
            );
          else if (silentMs >= intervalMs) socket.write(encodePing());
        },
        intervalMs,
      );
    },

    listen: (listener) => {
      if (lost !== null) listener.lost(lost);
      else listeners.add(listener);
      return () => listeners.delete(listener);
    },

    destroy: () => lose(droverFailure('LibvirtUnavailable', `${where}: drover closed the connection`)),
  };
}

function refusalOf(payload: Buffer): LibvirtRefusal {
  const error = decode(remoteError, payload);
  return { code: error.code, words: wordsOf(error) };
}

/** Makes a call, and reports it; what the daemon refuses is thrown, as every other failure. */
export type Request = <Name extends ProcedureName>(
  name: Name,
  args: ProcedureArgs<Name>,
  signal: AbortSignal,
  timeoutMs?: number,
) => Promise<ProcedureResult<Name>>;

export function createRequest(
  rpc: Rpc,
  { host, port }: LibvirtEndpoint,
  { callMs }: Pick<LibvirtTimeouts, 'callMs'>,
  observe: ObserveCall | undefined,
): Request {
  return async (name, args, signal, timeoutMs = callMs) => {
    const answer = await observedAs(
      observe,
      { system: 'libvirt', verb: name },
      signal,
      () => rpc.call(name, args, { timeoutMs, signal }),
      outcomeOfAnswer,
    );
    if ('result' in answer) return answer.result;
    const { code, words } = answer.refusal;
    throw droverFailure(faultOf(code), `libvirt at ${host}:${port} answered ${name}: ${words}`, {
      details: { libvirtCode: code, procedure: name, words },
    });
  };
}

const outcomeOfAnswer = (answer: Answer<unknown>): { outcome: CallOutcome; status: null; requestId: '' } => ({
  outcome: 'result' in answer ? 'ok' : outcomeOf(answer.refusal),
  status: null,
  requestId: '',
});

function outcomeOf({ code }: LibvirtRefusal): CallOutcome {
  const fault = faultOf(code);
  if (fault === 'DomainNotFound' || fault === 'StoragePoolNotFound') return 'not_found';
  if (fault === 'LibvirtCredentialRefused') return 'unauthorized';
  return fault === 'HypervisorFailed' || fault === 'LibvirtUnavailable' ? 'server_error' : 'refused';
}
