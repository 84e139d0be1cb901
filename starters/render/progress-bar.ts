/** A bar of fixed width and its figure: `█████░░░░░  50%`; only spaces when unknown. */
export function renderProgressBar(percent: number | null, widthColumns = 10): string {
  if (percent === null) return ' '.repeat(widthColumns + 5);
  const bounded = Math.min(100, Math.max(0, percent));
  const filled = Math.floor((bounded / 100) * widthColumns);
  return `${'█'.repeat(filled)}${'░'.repeat(widthColumns - filled)} ${String(Math.floor(bounded)).padStart(3)}%`;
}
