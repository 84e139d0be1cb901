import { type Kind, kindTable } from '../../contracts/kinds/table.ts';
import { messages } from '../../contracts/messages.ts';
import { signalWithStart } from '../../runtime/temporal/signal-runs.ts';
import { exitCodes } from './exit-codes.ts';
import { explainError } from './explain-error.ts';
import { updateRun } from './give-command.ts';
import { fullName } from './object-reference.ts';
import type { TemporalAccess } from './temporal-access.ts';

/** An object of a namespace whose run is told to observe it. */
export interface RetriedObject {
  kind: Kind;
  namespace: string;
  name: string;
  uid: string;
  generation: number;
  resourceVersion: string;
}

/** Whether a run is open; it observes at once, or as soon as there is a worker. */
export async function observeNow(temporal: TemporalAccess, object: RetriedObject, by: string): Promise<boolean> {
  const { terminal } = temporal.context;
  const workflowId = kindTable[object.kind].workflowId(fullName(object), temporal.config.cluster);
  try {
    terminal.print(`${await updateRun(temporal, workflowId, messages.retryNow, { by })}.`);
    return true;
  } catch (error) {
    const { exitCode } = explainError(error);
    if (exitCode === exitCodes.notFound) return false;
    if (exitCode !== exitCodes.unreachable) throw error;
    await signalRun(temporal, object, by);
    terminal.print(`No worker answers now. ${fullName(object)} is observed as soon as one does.`);
    return true;
  }
}

/**
 * Signals the run that something changed, starting it if none is open. The bridge does the same; twice does no harm.
 */
export const signalRun = (
  { context: { clock }, client, config }: TemporalAccess,
  { kind, namespace, name, uid, generation, resourceVersion }: RetriedObject,
  by: string,
): Promise<string> => {
  const signal = { uid, generation, resourceVersion, cause: 'retry' };
  const target = { subject: `${namespace}/${name}`, cluster: config.cluster, startedBy: by };
  return signalWithStart(client, kindTable[kind], { ...target, signal }, { clock });
};
