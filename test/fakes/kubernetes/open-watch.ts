import type { Clock } from '../../../runtime/clock.ts';
import type { KubernetesRequest } from '../../../runtime/kubernetes/kubernetes.ts';
import { currentProcess } from '../../simulator/process.ts';
import type { Service } from '../service.ts';
import { createByteStream } from './byte-stream.ts';
import type { Place } from './requests.ts';
import type { Storage } from './storage.ts';
import { serveWatch } from './watch.ts';

/** Ends a watch. @param failure null: as a server that ends it in good order */
export type EndWatch = (failure: Error | null) => void;

export interface WatchConnection {
  /** How long a piece of the answer is on the wire, in milliseconds. */
  latencyMs: () => number;
  /** While it is frozen no piece is sent. */
  service: Service;
}

export interface OpenWatchOptions {
  storage: Storage;
  clock: Clock;
  place: Place;
  request: KubernetesRequest;
  signal: AbortSignal;
  /** Null: what happens is told at once. */
  connection: WatchConnection | null;
  /** How the watches that are open are ended: this one adds itself, and takes itself away. */
  open: Set<EndWatch>;
}

/** A watch as the body of an answer, for the process that asks. @throws Refusal */
export function openWatch(options: OpenWatchOptions): AsyncIterable<Uint8Array> {
  const { storage, clock, place, request, signal, connection, open } = options;
  const reader = currentProcess();
  /** On the wire, in order. */
  const pieces: (() => void)[] = [];
  let isClosed = false;
  let stop = (): void => undefined;

  const arrive = (): void => {
    if (connection?.service.state !== 'frozen') pieces.shift()?.();
  };
  const send = (piece: () => void): void => {
    pieces.push(piece);
    if (connection === null) arrive();
    else clock.schedule(arrive, connection.latencyMs());
  };
  const stopListening = connection?.service.onChange((state) => {
    if (state === 'up') for (const piece of pieces.splice(0)) piece();
  });

  const close = (): void => {
    isClosed = true;
    stop();
    open.delete(end);
    signal.removeEventListener('abort', abort);
  };
  const stream = createByteStream(() => reader.isAlive, close);
  const abort = (): void => {
    close();
    stopListening?.();
    stream.end(signal.reason as Error);
  };
  const end: EndWatch = (failure) => {
    close();
    send(() => {
      stopListening?.();
      stream.end(failure);
    });
  };
  const onEvent = (event: object): void => {
    if (!reader.isAlive) return close();
    const line = `${JSON.stringify(event)}\n`;
    send(() => stream.push(line));
  };

  signal.addEventListener('abort', abort, { once: true });
  open.add(end);
  const stopWatch = serveWatch({ storage, clock, place, request, onEvent, onEnd: () => end(null) });
  if (isClosed) stopWatch();
  else stop = stopWatch;
  return stream;
}
