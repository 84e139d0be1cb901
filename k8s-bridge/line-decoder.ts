import { droverFailure } from '../runtime/failure.ts';

/** More than any object may have (etcd takes 1.5 MiB), so only a broken stream is longer. */
const maxLineLength = 32 * 1024 * 1024;

/**
 * Cuts a stream of bytes into lines. Chunks end anywhere, in the middle of a character too. What follows the last line
 * break is never given out: it may be half an event that happens to parse.
 *
 * `push` throws AnswerMalformed where the bytes are no UTF-8 or a line does not end.
 */
export function createLineDecoder(): {
  push(chunk: Uint8Array): string[];
  /** Whether something without a line break is left. */ isPartial(): boolean;
} {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  return {
    push(chunk) {
      const lines = (rest + decode(decoder, chunk)).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > maxLineLength)
        throw droverFailure('AnswerMalformed', `a line of the watch is longer than ${maxLineLength} characters`);
      return lines.map((line) => line.replace(/\r$/u, '')).filter((line) => line !== '');
    },
    isPartial: () => rest !== '',
  };
}

function decode(
  decoder: { decode(chunk: Uint8Array, options: { stream: boolean }): string },
  chunk: Uint8Array,
): string {
  try {
    return decoder.decode(chunk, { stream: true });
  } catch (error) {
    throw droverFailure('AnswerMalformed', 'the watch holds bytes that are no UTF-8', { cause: error });
  }
}
