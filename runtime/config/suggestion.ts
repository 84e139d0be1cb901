import leven from 'leven';

const mostOff = 2;

/** The known word that the user may have meant by `word`: at most two letters off; null when none is near. */
export function nearest(word: string, known: readonly string[]): string | null {
  // Words of very different lengths are never near, and comparing long ones letter by letter takes its time.
  const near = known.filter(({ length }) => Math.abs(length - word.length) <= mostOff);
  const ranked = near
    .map((candidate) => ({ candidate, distance: leven(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best !== undefined && best.distance <= mostOff && best.distance < best.candidate.length
    ? best.candidate
    : null;
}
