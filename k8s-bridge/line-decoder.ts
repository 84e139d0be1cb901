/** More than any object may have (etcd takes 1.5 MiB), so only a broken stream is longer. */
const maxLineLength = 32 * 1024 * 1024;

/**
 * Cuts a stream of bytes into lines. Chunks end anywhere, in the middle of a character too. What follows the last line break is never
 * given out: it may be half an event that happens to parse.
 */
export function createLineDecoder(): { push(chunk: Uint8Array): string[]; /** Whether something without a line break is left. */ isPartial(): boolean } {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  return {
    push(chunk) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > maxLineLength) throw new Error(`a line of the watch is longer than ${maxLineLength} characters`);
      return lines.map((line) => line.replace(/\r$/u, '')).filter((line) => line !== '');
    },
    isPartial: () => rest !== '',
  };
}
