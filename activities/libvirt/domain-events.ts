import { droverFailure } from '../../runtime/failure.ts';
import { isError } from '../../runtime/is-error.ts';
import { decodeEvent } from './decode-event.ts';
import { createEventStream } from './event-stream.ts';
import type { Request } from './request.ts';
import type { Rpc } from './rpc.ts';
import type { LibvirtConnection } from './types.ts';
import { eventMessages } from './wire/procedures.ts';

/** Each kind is asked for once per connection, and told to all who read. */
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
    // Before it is asked for: the daemon may tell the first event before it answers.
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
