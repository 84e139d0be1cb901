import type { Paint } from '../render/paint.ts';
import { paintFor } from '../render/paint.ts';

/**
 * Where a command writes. Results go to standard output, so that they can be piped; everything else to standard error.
 */
export interface Terminal {
  /** A line of the result. */
  print(line: string): void;
  /** Text on standard output as it is, with control sequences, where that can be drawn on. */
  draw(text: string): void;
  /** A remark to the person. */
  remark(line: string): void;
  /** A user reads standard output, and it can be drawn on. */
  isInteractive: boolean;
  paint: Paint;
  /** Columns of the window; Infinity where there is none, so that nothing is cut off in a file. */
  widthColumns(): number;
  heightRows(): number;
}

export function systemTerminal(env: NodeJS.ProcessEnv): Terminal {
  const { stdout, stderr } = process;
  return {
    print: (line) => void stdout.write(`${line}\n`),
    draw: (text) => void stdout.write(text),
    remark: (line) => void stderr.write(`${line}\n`),
    isInteractive: stdout.isTTY && env['TERM'] !== 'dumb',
    paint: paintFor(stdout.isTTY, env),
    widthColumns: () => (stdout.isTTY ? stdout.columns : Infinity),
    heightRows: () => (stdout.isTTY ? stdout.rows : 24),
  };
}

/** Anything as the JSON that `--json` promises: indented for people, one value. */
export const printJson = (terminal: Terminal, value: unknown): void => terminal.print(JSON.stringify(value, null, 2));
