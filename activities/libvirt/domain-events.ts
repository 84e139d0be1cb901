import { droverFailure } from '../../runtime/failure.ts';
import { isError } from '../../runtime/is-error.ts';
import type { Request, Rpc } from './rpc.ts';
import {
  type Domain,
  type DomainEvent,
  type LibvirtConnection,
  ioErrorActions,
  stopDetails,
  suspendDetails,
  watchdogActions,
} from './types.ts';
import { eventMessages } from './wire/procedures.ts';
import { decode } from './wire/xdr.ts';

/** Each kind is asked for once per connection, and passed to all readers. */
export function createDomainEvents(rpc: Rpc, request: Request): LibvirtConnection['domainEvents'] {
  let registered: Promise<unknown> | null = null;
  const register = (signal: AbortSignal): Promise<unknown> =>
    Promise.all(
      Object.values(eventMessages).map(({ kind }) =>
        request('connectDomainEventCallbackRegisterAny', { eventId: kind, domain: null }, signal),
      ),
    );

  return async (signal) => {
    signal.throwIfAborted();
    let stopListening = (): void => undefined;
    const abort = (): void => stream.end(null);
    const stream = createEventStream(() => {
      stopListening();
      signal.removeEventListener('abort', abort);
    });
    // Before it is asked for: the daemon may send the first event before it answers.
    stopListening = rpc.listen({
      event: (procedure, payload) => {
        const event = decodeEvent(procedure, payload);
        if (event !== null) stream.push(event);
      },
      lost: (failure) => stream.end(failure),
    });
    signal.addEventListener('abort', abort, { once: true });
    try {
      registered ??= register(signal);
      await registered;
      return stream.events;
    } catch (error) {
      registered = null;
      stream.end(isError(error) ? error : droverFailure('LibvirtUnavailable', String(error)));
      throw error;
    }
  };
}

/** A reader so far behind has stopped reading. */
const mostWaiting = 10_000;

interface EventStream {
  push(event: DomainEvent): void;
  /** Ends the stream, after what waits: with the failure, or well. */
  end(failure: Error | null): void;
  events: AsyncIterable<DomainEvent>;
}

/**
 * Events on their way from a connection to its reader, in order.
 *
 * @param done called once, when the reader wants no more
 */
function createEventStream(done: () => void): EventStream {
  const waiting: DomainEvent[] = [];
  let ending: { failure: Error | null } | null = null;
  let wake: (() => void) | null = null;
  const stir = (): void => {
    wake?.();
    wake = null;
  };
  const end = (failure: Error | null): void => {
    if (ending !== null) return;
    ending = { failure };
    done();
    stir();
  };

  async function* read(): AsyncGenerator<DomainEvent, void, undefined> {
    try {
      for (;;) {
        const event = waiting.shift();
        if (event !== undefined) yield event;
        else if (ending !== null) {
          if (ending.failure !== null) throw ending.failure;
          return;
        } else {
          const { promise, resolve } = Promise.withResolvers<void>();
          wake = resolve;
          await promise;
        }
      }
    } finally {
      end(null);
    }
  }

  return {
    push: (event) => {
      if (ending !== null) return;
      waiting.push(event);
      if (waiting.length > mostWaiting)
        end(droverFailure('LibvirtUnavailable', `More than ${mostWaiting} events of domains wait to be read`));
      else stir();
    },
    end,
    events: read(),
  };
}

/** What virDomainEventType numbers. */
const lifecycle = [
  'defined',
  'undefined',
  'started',
  'suspended',
  'resumed',
  'stopped',
  'shutting-down',
  'suspended-by-guest',
  'crashed',
] as const;

/**
 * What the daemon said by itself; null for messages that drover did not ask for. Numbers of newer
 * daemons are `unknown`.
 *
 * @throws MalformedMessage
 */
export function decodeEvent(procedure: number, payload: Buffer): DomainEvent | null {
  switch (procedure) {
    case eventMessages.lifecycle.number: {
      const { domain, event, detail } = decode(eventMessages.lifecycle.message, payload);
      return lifecycleEvent(plain(domain), event, detail);
    }
    case eventMessages.reboot.number:
      return { domain: plain(decode(eventMessages.reboot.message, payload).domain), type: 'rebooted' };
    case eventMessages.watchdog.number: {
      const { domain, action } = decode(eventMessages.watchdog.message, payload);
      return { domain: plain(domain), type: 'watchdog', action: watchdogActions[action] ?? 'unknown' };
    }
    case eventMessages.ioError.number: {
      const { domain, action, device, sourcePath, reason } = decode(eventMessages.ioError.message, payload);
      return {
        domain: plain(domain),
        type: 'io-error',
        action: ioErrorActions[action] ?? 'unknown',
        device,
        sourcePath,
        reason,
      };
    }
    default:
      return null;
  }
}

function lifecycleEvent(domain: Domain, event: number, detail: number): DomainEvent {
  const type = lifecycle[event] ?? 'unknown';
  if (type === 'stopped') return { domain, type, detail: stopDetails[detail] ?? 'unknown' };
  if (type === 'suspended') return { domain, type, detail: suspendDetails[detail] ?? 'unknown' };
  return { domain, type };
}

const plain = ({ uuid, name }: Domain): Domain => ({ uuid, name });
