import type { NextCommand } from '../command/next-commands.ts';
import type { Paint } from './paint.ts';
import { renderTable } from './table.ts';

/** Commands to type, one per line, indented, with what each does. */
export const renderNextCommands = (commands: readonly NextCommand[], paint: Paint): string[] =>
  renderTable(
    [{ title: '' }, { title: '' }],
    commands.map(({ command, why }) => [`  ${paint('strong', command)}`, paint('quiet', why)]),
  ).slice(1);
