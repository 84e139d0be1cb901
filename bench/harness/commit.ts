import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What was measured. */
export interface Commit {
  /** Ten digits; `unknown` outside a checkout. */
  commit: string;
  /** Whether anything but results differed from it. */
  changed: boolean;
}

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const git = (...args: string[]): string => execFileSync('git', args, { cwd: checkout, encoding: 'utf8', timeout: 10_000, stdio: ['ignore', 'pipe', 'ignore'] }).trim();

export function readCommit(): Commit {
  try {
    return { commit: git('rev-parse', '--short=10', 'HEAD'), changed: git('status', '--porcelain', '--', '.', ':!bench/results', ':!docs') !== '' };
  } catch {
    return { commit: 'unknown', changed: false };
  }
}
