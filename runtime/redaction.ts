import { isError } from './is-error.ts';

/**
 * Keeps secrets out of logs, errors, history and status (docs/rules.md#secrets). Two nets: names that only secrets
 * have, and the very values that this process has read.
 */

const mark = '[redacted]';

/** How the names of fields, headers and variables end whose value is a secret. */
const secretEnding = '(?:password|passwd|secret|admin[-_]?pass|token|authorization|cookie|api[-_]?key|private[-_]?key)';

const secretName = new RegExp(`^[\\w-]*${secretEnding}$`, 'iu');

/** Shorter values are words of the language: hiding them would garble every message and hide nothing. */
const shortestSecret = 6;

const secretValues = new Set<string>();

/**
 * The ways a value is written in plain text, in URLs and forms, in JSON (and as Python writes it, and within JSON), in
 * HTML and in Basic credentials.
 */
function spellings(value: string): Set<string> {
  const json = inJson(value);
  const ascii = json.replaceAll(
    /[\u0080-\uffff]/gu,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const form = new URLSearchParams({ '': value }).toString().slice(1);
  return new Set([
    value,
    encodeURIComponent(value.toWellFormed()),
    form,
    json,
    ascii,
    inJson(json),
    inJson(ascii),
    inHtml(value),
    inHtml(json),
    Buffer.from(value).toString('base64'),
  ]);
}

const inJson = (value: string): string => JSON.stringify(value).slice(1, -1);
const inHtml = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Registers `value` as a secret, which is never shown. */
export function registerSecret(value: string): void {
  if (value.length >= shortestSecret) for (const spelling of spellings(value)) secretValues.add(spelling);
}

/** Forgets a value that opens nothing any more, such as a token that was replaced long ago. */
export function forgetSecret(value: string): void {
  for (const spelling of spellings(value)) secretValues.delete(spelling);
}

/** Gives what forgets all that is registered from now on: a test may register thousands, and others share its process. */
export function rememberSecrets(): () => void {
  const before = new Set(secretValues);
  return () => {
    for (const value of secretValues) if (!before.has(value)) secretValues.delete(value);
  };
}

const isSecretName = (name: string): boolean => secretName.test(name);

const quoted = `"(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*'`;
const bare = `(?!\\[redacted\\])(?:(?:Bearer|Basic)\\s+)?[^\\s,;}\\])&"']+`;

/**
 * `name: value`, `name=value` and `"name": "value"`. The bound keeps long words from being tried at each
 * of their letters.
 */
const assignment = new RegExp(`(["']?)\\b([\\w-]{0,40}?${secretEnding})\\1(\\s*[:=]\\s*)(${quoted}|${bare})`, 'giu');

/** `https://user:password@host`. Bounded, as dots and dashes begin a word each. */
const inUrl = /\b([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]*):[^\s/@]+@/giu;

/** Keystone's tokens: base64 of Fernet's version byte and a time stamp, then the rest. */
const fernetToken = /\bgAAAAA[\w-]{40,}={0,2}/gu;

/** What can be redacted without parsing the text. */
function redactValues(text: string): string {
  let result = text;
  for (const value of secretValues) if (result.includes(value)) result = result.replaceAll(value, mark);
  return result.replaceAll(fernetToken, mark);
}

/** Text without its secrets. */
export function redactText(text: string): string {
  return redactValues(text)
    .replaceAll(inUrl, `$1:${mark}@`)
    .replaceAll(assignment, (_, quote: string, name: string, between: string, value: string) => {
      const valueQuote = /^["']/u.exec(value)?.[0] ?? '';
      return `${quote}${name}${quote}${between}${valueQuote}${mark}${valueQuote}`;
    });
}

/** Longer than any secret: what a cut leaves of one is no further from it. */
const cutMargin = 8_192;

/**
 * The first `most` characters of a foreign text, without its secrets: the rest of a secret that is cut in half would
 * not be recognized later.
 */
export function redactedStart(text: string, most: number): string {
  const window = text.slice(0, most + 2 * cutMargin);
  const redacted = redactText(window);
  return (window.length < text.length ? redacted.slice(0, -cutMargin) : redacted).slice(0, most);
}

/**
 * A copy of any value without its secrets: fields of secret names are replaced, every text goes
 * through {@link redactText}.
 */
export function redact(value: unknown): unknown {
  return redactDeep(value, new WeakSet());
}

function redactDeep(value: unknown, within: WeakSet<object>): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (within.has(value)) return '[circular]';
  within.add(value);
  const copy = redactObject(value, within);
  within.delete(value);
  return copy;
}

function redactObject(value: object, within: WeakSet<object>): unknown {
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, within));
  if (value instanceof Date) return value;
  if (isError(value)) return redactError(value, within);
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      isSecretName(name) && item !== null && item !== undefined ? mark : redactDeep(item, within),
    ]),
  );
}

/** Errors keep what is not enumerable: their message, stack and cause. */
const redactError = (error: Error, within: WeakSet<object>): Record<string, unknown> => ({
  type: error.name,
  message: redactText(error.message),
  ...(error.stack === undefined ? {} : { stack: redactText(error.stack) }),
  ...(error.cause === undefined ? {} : { cause: redactDeep(error.cause, within) }),
  ...Object.fromEntries(
    Object.entries(error).map(([name, item]) => [name, isSecretName(name) ? mark : redactDeep(item, within)]),
  ),
});
