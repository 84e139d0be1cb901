import { droverFailure } from '../../runtime/failure.ts';

/** Takes the next bytes that came; gives the objects that are complete now. */
export type TakeBytes = (bytes: Uint8Array) => unknown[];

const quote = 0x22;
const backslash = 0x5c;
const opening = new Set([0x7b, 0x5b]);
const closing = new Set([0x7d, 0x5d]);
const blank = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Cuts a stream of JSON objects, which nothing separates, at the closing brace of each (RFC 7047, section 4: JSON-RPC over a stream).
 *
 * @param mostBytes of one object
 * @throws AnswerMalformed for anything else than objects, and for one that is too large; then there is no going on
 */
export function splitObjects(mostBytes: number): TakeBytes {
  let parts: Uint8Array[] = [];
  let length = 0;
  let depth = 0;
  let inText = false;
  let escaped = false;

  const keep = (bytes: Uint8Array): void => {
    length += bytes.length;
    if (length > mostBytes)
      throw droverFailure('AnswerMalformed', `A message of an OVSDB server has more than ${mostBytes} bytes`);
    parts.push(bytes);
  };
  const complete = (): unknown => {
    const text = Buffer.concat(parts).toString('utf8');
    parts = [];
    length = 0;
    try {
      return JSON.parse(text);
    } catch {
      throw droverFailure('AnswerMalformed', 'A message of an OVSDB server is no JSON');
    }
  };

  return (bytes) => {
    const objects: unknown[] = [];
    let from = 0;
    // By index: an iterator would be slow over megabytes.
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] as number;
      if (inText) {
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) inText = false;
      } else if (depth === 0) {
        if (blank.has(byte)) continue;
        if (byte !== 0x7b)
          throw droverFailure(
            'AnswerMalformed',
            'What an OVSDB server sent is no JSON object; is the port that of another service, or does it speak TLS?',
          );
        from = at;
        depth = 1;
      } else if (byte === quote) inText = true;
      else if (opening.has(byte)) depth += 1;
      else if (closing.has(byte)) {
        depth -= 1;
        if (depth > 0) continue;
        keep(bytes.subarray(from, at + 1));
        objects.push(complete());
      }
    }
    if (depth > 0) keep(bytes.subarray(from));
    return objects;
  };
}
