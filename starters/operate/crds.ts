import type { Command } from 'commander';
import { toYaml } from '../../contracts/crds/custom-resource-definition.ts';
import { definitions } from '../../contracts/crds/definitions.ts';
import { describedCommand } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';

export const crdsCommand = ({ terminal }: CommandContext): Command =>
  describedCommand(
    'crds',
    'Prints the CustomResourceDefinitions that drover works with, as YAML. They suit objects that the replaced operators left.',
    [
      ['drover crds | kubectl apply --server-side -f -', 'install them, or bring them up to date'],
      ['drover crds | kubectl diff -f -', 'see what that would change'],
    ],
  ).action(() => terminal.print(crdYaml()));

/** All definitions as one YAML stream. */
export const crdYaml = (): string => definitions.map((definition) => toYaml(definition).trimEnd()).join('\n---\n');
