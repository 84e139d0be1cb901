/** Calls of each system that a process has made, from its metrics page. Pure. */
export const countCalls = (page: string): Map<string, number> => countBy(page, ({ system }) => system);

/** Calls of one system, by what was called. Pure. */
export const countVerbs = (page: string, of: string): Map<string, number> =>
  countBy(page, ({ system, verb }) => (system === of ? verb : undefined));

function countBy(
  page: string,
  keyOf: (labels: Readonly<Record<string, string>>) => string | undefined,
): Map<string, number> {
  const counts = new Map<string, number>();
  // What was called may have braces of its own: `GET /servers/{id}`.
  for (const [, labels = '', value] of page.matchAll(/^drover_outside_calls_total\{(.*)\} (\d+)$/gmu)) {
    const key = keyOf(
      Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/gu)].map(([, name = '', text = '']) => [name, text])),
    );
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + Number(value));
  }
  return counts;
}
