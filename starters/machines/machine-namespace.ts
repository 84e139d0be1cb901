import { Option } from 'commander';

import type { Config } from '../../runtime/config/config-schema.ts';
import { usageError } from '../command/error.ts';
import { parseNamespace } from '../command/object-reference.ts';

export const namespaceOption = (): Option =>
  new Option('-n, --namespace <namespace>', 'of the Machines; needed where the settings name several').argParser(
    parseNamespace,
  );

/** Which one is meant. @throws CommandError usage */
export function namespaceOf({ machines: { namespaces } }: Pick<Config, 'machines'>, given: string | undefined): string {
  const [only, ...others] = namespaces;
  if (given !== undefined) return given;
  if (only !== undefined && others.length === 0) return only;
  throw usageError(
    only === undefined
      ? 'drover’s settings name no namespace of Machines (machines.namespaces).'
      : `drover sweeps several namespaces: ${namespaces.join(', ')}.`,
    'Say which one with --namespace.',
  );
}
