import { join } from 'node:path';
import type { LabReading, PartStatus } from './lab.ts';
import { formatPartLine } from './progress.ts';

/** The lab, to be read and for `eval`: the text is shell comments, the rest are exports. */
export function formatStatus(lab: LabReading): string {
  const { PATH: _, ...exports } = lab.exports;
  const lines = [
    `# lab in ${lab.dir}`,
    ...lab.parts.map((part) => `# ${formatPartLine(part.name, describeState(part))}`),
    ...Object.entries(exports).map(([name, value]) => `export ${name}=${quote(value)}`),
    `export PATH=${quote(join(lab.dir, 'bin'))}:"$PATH"`,
  ];
  return `${lines.join('\n')}\n`;
}

function describeState(part: PartStatus): string {
  if (part.state === 'down') return `down (npm run lab -- up ${part.name})`;
  if (part.state === 'broken')
    return `broken: ${part.dead.join(', ')} has ended, logs in ${part.logDir} (npm run lab -- up ${part.name})`;
  return ['up', ...Object.entries(part.urls).map(([label, url]) => `${label} ${url}`)].join('  ');
}

/** A word for a POSIX shell. */
export function quote(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}
