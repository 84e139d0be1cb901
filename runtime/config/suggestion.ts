const mostOff = 2;

/** The known word that the user may have meant by `word`: at most two letters off; null when none is near. */
export function nearest(word: string, known: readonly string[]): string | null {
  // Words of very different lengths are never near, and comparing long ones letter by letter takes its time.
  const near = known.filter(({ length }) => Math.abs(length - word.length) <= mostOff);
  const ranked = near
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best !== undefined && best.distance <= mostOff && best.distance < best.candidate.length
    ? best.candidate
    : null;
}

/** Levenshtein's distance: letters to insert, drop or replace. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (from[line - 1] === to[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
