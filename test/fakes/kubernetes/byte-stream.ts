/** The body of an answer, as it comes in. */
export interface ByteStream extends AsyncIterable<Uint8Array> {
  push(text: string): void;
  /** @param failure null: the server has ended it */
  end(failure: Error | null): void;
}

/** @param isHeard whether the reader is still there: what was killed reads nothing any more */
export function createByteStream(isHeard: () => boolean, onReturn: () => void): ByteStream {
  const chunks: Uint8Array[] = [];
  let ended: { failure: Error | null } | null = null;
  let waiting: PromiseWithResolvers<IteratorResult<Uint8Array>> | null = null;

  const serve = (): void => {
    if (waiting === null || !isHeard()) return;
    const reader = waiting;
    const chunk = chunks.shift();
    if (chunk === undefined && ended === null) return;
    waiting = null;
    if (chunk !== undefined) reader.resolve({ done: false, value: chunk });
    else if (ended?.failure) reader.reject(ended.failure);
    else reader.resolve({ done: true, value: undefined });
  };

  return {
    push(text) {
      if (ended !== null) return;
      chunks.push(Buffer.from(text));
      serve();
    },
    end(failure) {
      if (ended !== null) return;
      ended = { failure };
      // A connection that breaks takes with it what has not been read.
      if (failure !== null) chunks.length = 0;
      serve();
    },
    [Symbol.asyncIterator]: () => ({
      next() {
        waiting = Promise.withResolvers<IteratorResult<Uint8Array>>();
        const { promise } = waiting;
        serve();
        return promise;
      },
      async return() {
        onReturn();
        return { done: true, value: undefined };
      },
    }),
  };
}
