import { hostname, userInfo } from 'node:os';
import { oneLine } from '../render/table.ts';

/** Longer names are cut: they go into annotations, memos and messages. */
const maxLength = 128;

/**
 * Who runs the command, for the audit trail: `--as`, else `DROVER_USER`, else the user of the operating
 * system. Never empty.
 */
export function whoRuns(as: string | undefined, env: NodeJS.ProcessEnv, system: () => string = systemUser): string {
  const given = [as, env['DROVER_USER']].map((name) => oneLine(name ?? '')).find((name) => name !== '');
  return (given ?? system()).slice(0, maxLength);
}

function systemUser(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // A container's user may have no entry in the password database.
    return `uid ${String(process.getuid?.() ?? 'unknown')}@${hostname()}`;
  }
}
