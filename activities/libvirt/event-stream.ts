import { droverFailure } from '../../runtime/failure.ts';
import type { DomainEvent } from './types.ts';

/** A reader so far behind has stopped reading. */
const mostWaiting = 10_000;

export interface EventStream {
  push(event: DomainEvent): void;
  /** Ends the stream, after what waits: with the failure, or well. */
  end(failure: Error | null): void;
  events: AsyncIterable<DomainEvent>;
}

/**
 * Events on their way from a connection to whoever reads them, in order.
 *
 * @param done called once, when nobody wants more
 */
export function createEventStream(done: () => void): EventStream {
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
