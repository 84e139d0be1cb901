/** Limit of kube-apiserver for the message of a condition, in characters. */
export const conditionMessageLimit = 32_768;

/** As much of `text` as `limit` characters hold. */
export const cut = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit - 1)}…`.toWellFormed();

/** As much of `text` as `limit` bytes of UTF-8 hold. */
export function cutBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= limit
    ? text
    : `${bytes
        .subarray(0, limit - 6)
        .toString('utf8')
        .replace(/\uFFFD+$/u, '')}…`;
}
