import { auditChange, type Audit, type AuditEntry } from '../../../runtime/telemetry/audit.ts';
import type { StopGate } from '../../../runtime/stop.ts';
import type { KubernetesScope } from './scope.ts';

export interface MutationTools {
  /** Throws Stopped while `drover stop` is in force. */
  stopGate: StopGate;
  audit: Audit;
  scope: KubernetesScope;
}

/**
 * One mutation, behind the stop and with its line in the audit log.
 *
 * @param write returns false when it has changed nothing
 */
export async function mutate(
  { stopGate, audit, scope }: MutationTools,
  entry: Pick<AuditEntry, 'cause' | 'action' | 'object' | 'before' | 'after'>,
  write: () => Promise<unknown>,
): Promise<boolean> {
  await stopGate(scope.signal);
  return (
    (await auditChange(audit, { ...entry, actor: 'drover', run: scope.run }, write, (done) =>
      done === false ? null : {},
    )) !== false
  );
}
