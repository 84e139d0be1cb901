import { Argument, Command, Option } from 'commander';
import { parseHost } from './arguments.ts';

/** What a person can copy: the command line and what it does. */
export type Example = [commandLine: string, what: string];

/** A command with a description and, under its options, examples. */
export function describedCommand(name: string, description: string, examples: readonly Example[]): Command {
  const width = Math.max(...examples.map(([commandLine]) => commandLine.length));
  const lines = examples.map(([commandLine, what]) => `  ${commandLine.padEnd(width)}  ${what}`);
  return new Command(name).description(description).addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

export const hostArgument = (): Argument =>
  new Argument('<host>', 'name of the Hypervisor, or of Nova’s compute host').argParser(parseHost);

export const asOption = (): Option =>
  new Option('--as <name>', 'who asks, for the audit trail (else DROVER_USER, else the user of this machine)');

export const jsonOption = (): Option => new Option('--json', 'print JSON, for programs');

export const outputOption = (): Option =>
  new Option('--output <format>', 'the same as --json, as kubectl says it').choices(['json']);
