import { readWaitingApprovals } from '../runtime/temporal/waiting-approvals.ts';
import { wordsOf } from '../runtime/temporal/temporal.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';
import type { SharedSystems } from './systems.ts';

/** So old at most is what is shown: a small list of Temporal's each time. */
const everyMs = 15_000;

/**
 * Shows of which namespaces a sweep waits for an approval, until the worker leaves: every worker all of them, as the
 * run that waits belongs to no worker. What cannot be known is not shown.
 */
export async function meterApprovals(
  metrics: Pick<Metrics, 'replace'>,
  {
    temporal,
    config,
    clock,
    leaving,
    logger,
  }: Pick<SharedSystems, 'temporal' | 'config' | 'clock' | 'leaving' | 'logger'>,
): Promise<void> {
  const { cluster, machines, modes } = config;
  const { namespaces } = machines;
  if (modes.Machine === 'off') return;
  while (!leaving.aborted) {
    try {
      const waiting = await readWaitingApprovals(temporal, { namespaces, cluster }, { clock, abort: leaving });
      metrics.replace(
        'sweepsAwaitingApproval',
        namespaces.map((namespace) => ({ labels: { namespace }, value: waiting.has(namespace) ? 1 : 0 })),
      );
    } catch (error) {
      metrics.replace('sweepsAwaitingApproval', []);
      if (!leaving.aborted) logger.warn({ error: wordsOf(error) }, 'Which sweeps wait for an approval is not known');
    }
    await clock.sleep(everyMs, leaving).catch(() => undefined);
  }
}
