import { parseConfig } from '../runtime/config.ts';
import { systemClock } from '../runtime/clock.ts';
import type { CommandContext } from './command-context.ts';
import { exitCodes } from './exit-codes.ts';
import { plain } from './render/paint.ts';
import type { Terminal } from './terminal.ts';

/** A terminal that nobody looks at, and what came on each of its outputs; `written` has both, in order. */
export interface Paper extends Terminal {
  readonly stdout: string;
  readonly stderr: string;
  readonly written: string;
}

export function paper(): Paper {
  const written: { to: 'stdout' | 'stderr'; text: string }[] = [];
  const textOf = (to?: 'stdout' | 'stderr'): string =>
    written.map((part) => (to === undefined || part.to === to ? part.text : '')).join('');
  return {
    print: (line) => void written.push({ to: 'stdout', text: `${line}\n` }),
    draw: (text) => void written.push({ to: 'stdout', text }),
    remark: (line) => void written.push({ to: 'stderr', text: `${line}\n` }),
    isInteractive: false,
    paint: plain,
    widthColumns: () => Infinity,
    heightRows: () => 24,
    get stdout() {
      return textOf('stdout');
    },
    get stderr() {
      return textOf('stderr');
    },
    get written() {
      return textOf();
    },
  };
}

/** A command without systems: whatever it asks of one fails. */
export function sampleContext(terminal: Paper): CommandContext {
  const nothing = (): Promise<never> => Promise.reject(new Error('there is no such system'));
  return {
    env: {},
    clock: systemClock,
    terminal,
    exitCode: exitCodes.ok,
    loadConfig: async () => ({ config: parseConfig({}, {}, {}), file: null }),
    openTemporal: nothing,
    openKubernetes: nothing,
    onInterrupt: () => () => undefined,
  };
}
