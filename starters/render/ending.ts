import type { Ending } from '../eviction/eviction-facts.ts';
import { instanceName } from './instances.ts';
import type { Paint } from './paint.ts';
import { phaseStyle } from './progress.ts';
import { oneLine } from './table.ts';

/** How an eviction ended: one sentence, then every instance that did not move, as far as the result names them. */
export const renderEnding = ({ outcome, message, result }: Ending, paint: Paint): string[] => [
  `${paint(phaseStyle(outcome), outcome)}: ${oneLine(message)}`,
  ...(result?.notMoved ?? []).map(
    (instance) =>
      `  ${instanceName(instance)} ${instance.state}${instance.message === null ? '' : `: ${oneLine(instance.message)}`}`,
  ),
];
