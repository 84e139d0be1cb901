import { styleText } from 'node:util';

/** What a text is, as far as its colour is concerned. */
export type Style = 'good' | 'bad' | 'warning' | 'busy' | 'quiet' | 'strong';

/** Marks a text up for people. Rendering asks for it, so that rendering stays pure. */
export type Paint = (style: Style, text: string) => string;

/** Leaves the text as it is: files, pipes, `NO_COLOR`. */
export const plain: Paint = (_style, text) => text;

const formats = { good: 'green', bad: 'red', warning: 'yellow', busy: 'cyan', quiet: 'gray', strong: 'bold' } as const;

/** Colours, whatever the destination is. */
export const coloured: Paint = (style, text) => styleText(formats[style], text, { validateStream: false });

/** Colours only for a terminal, and never against `NO_COLOR` (https://no-color.org). */
export const paintFor = (isTerminal: boolean, env: NodeJS.ProcessEnv): Paint =>
  isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb' ? coloured : plain;
