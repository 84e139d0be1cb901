/** Calls of each system that a process has made, from its metrics page. Pure. */
export function countCalls(page: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [, labels = '', value] of page.matchAll(/^drover_outside_calls_total\{([^}]*)\} (\d+)$/gmu)) {
    const system = /(?:^|,)system="([^"]*)"/u.exec(labels)?.[1];
    if (system !== undefined) counts.set(system, (counts.get(system) ?? 0) + Number(value));
  }
  return counts;
}
