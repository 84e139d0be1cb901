/** Whether a version such as `10.0.0` is lower than another; null where either is no such version. Missing parts count as 0. */
export function isOlder(version: string, than: string): boolean | null {
  const [left, right] = [parse(version), parse(than)];
  if (left === null || right === null) return null;
  for (let part = 0; part < Math.max(left.length, right.length); part += 1) {
    const difference = (left[part] ?? 0) - (right[part] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

const parse = (version: string): number[] | null =>
  /^\d+(\.\d+)*$/u.test(version) ? version.split('.').map(Number) : null;
