import type { Kind } from '../../contracts/kinds/table.ts';
import { type LoadedConfig, modeVariable } from '../../runtime/config/config.ts';

/**
 * What keeps drover from acting on an object, as a sentence, as far as a command can know: by its own settings, where
 * there are any, and by the object. Without settings the command's default says nothing about the worker's.
 */
export function whyNothingHappens(
  kind: Kind,
  { config, file }: LoadedConfig,
  object: { name: string; observed: boolean } | null,
  env: NodeJS.ProcessEnv,
): string | null {
  const variable = modeVariable(kind);
  const isSaid = file !== null || (env[variable] ?? '') !== '';
  const where = file ?? variable;
  const mode = isSaid ? config.modes[kind] : 'act';
  if (mode === 'off')
    return `${kind}s are switched off (modes.${kind} in ${where}): a drover with these settings does nothing about it.`;
  if (mode === 'observe')
    return `drover only observes ${kind}s (modes.${kind} in ${where}): the condition Observed says what it would do.`;
  return object?.observed === true
    ? `${object.name} asks drover to observe only (annotation drover.dev/mode): the condition Observed says what it would do.`
    : null;
}
