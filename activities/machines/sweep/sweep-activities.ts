import { machineClass } from '../../../contracts/kinds/resources.ts';
import type { SweepActivities } from '../../../contracts/machine-safety/sweep.ts';
import { writeEvent } from '../../kubernetes/lib/write-event.ts';
import { contextOf } from '../../lib/context.ts';
import { deleteLeftover } from './delete-leftover.ts';
import { deleteOrphan } from './delete-orphan.ts';
import { observeSweep } from './observe-sweep.ts';
import { foundClasses } from './open-class.ts';
import type { SweepDependencies, SweepTools } from './sweep-tools.ts';

/** The activities of the sweep of orphan VMs, queue `machines`. */
export function createSweepActivities(dependencies: SweepDependencies): SweepActivities {
  const tools = (): SweepTools => contextOf(dependencies);
  return {
    observeSweep: (request) => observeSweep(tools(), request),
    deleteOrphan: (request) => deleteOrphan(tools(), request),
    deleteLeftover: (request) => deleteLeftover(tools(), request),
    publishSweep: (request) => publish(tools(), request),
  };
}

/** The same again is left as it is. */
async function publish(
  tools: SweepTools,
  { namespace, notices }: Parameters<SweepActivities['publishSweep']>[0],
): Promise<void> {
  const found = await tools.client.list(foundClasses, { namespace }, tools.scope.signal);
  const uids = new Map(found.map(({ metadata: { name, uid } }) => [name, uid]));
  for (const { machineClass: name, type, reason, message } of notices) {
    const uid = uids.get(name);
    if (uid === undefined) continue;
    const regarding = { resource: machineClass, namespace, name, uid };
    await writeEvent(tools, { regarding, type, reason, message }, [uid, reason, message]);
  }
}
