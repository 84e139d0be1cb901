import {
  conditionsOf,
  freezeLabel,
  frozenCondition,
  hasFrozenCondition,
  isFrozen,
  unfreezeAnnotation,
} from '../../../contracts/machine-safety/frozen-objects.ts';
import type { ObjectVersion } from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { mutate } from '../../lib/mutate.ts';
import { announce } from '../lib/write-event.ts';
import type { FreezeStep } from './plan-overshoot.ts';
import type { SafetyTools } from './tools.ts';

/**
 * Freezes or thaws on the version that was judged. The condition first, as the replaced manager does: half a freeze is
 * found, and made whole, by the next count.
 *
 * @throws ObjectConflict where another client was faster; Stopped
 */
export async function executeFreeze(tools: SafetyTools, step: FreezeStep): Promise<void> {
  const { change, object, message } = step;
  const { metadata } = object;
  const { namespace = '', name } = metadata;
  const mutation = (part: 'condition' | 'label') => ({
    action: `${change === 'freeze' ? 'freeze' : 'unfreeze'}${object.kind}`,
    cause: message,
    object: `${object.kind.toLowerCase()}/${namespace}/${name}`,
    before: { frozen: isFrozen(object) },
    after: { frozen: change === 'freeze', part },
  });
  const isInStatus = change === 'freeze' || hasFrozenCondition(object);
  const version = isInStatus ? await mutate(tools, mutation('condition'), () => writeCondition(tools, step)) : metadata;
  await mutate(tools, mutation('label'), () => writeLabel(tools, step, version));
  await announceFreeze(tools, step);
}

async function writeCondition(
  { control, scope, clock }: SafetyTools,
  { change, object, reason, message }: FreezeStep,
): Promise<ObjectVersion> {
  const now = new Date(clock.now()).toISOString().replace(/\.\d+Z$/u, 'Z');
  const conditions = [
    ...conditionsOf(object).filter(({ type }) => type !== frozenCondition),
    ...(change === 'thaw' ? [] : [{ type: frozenCondition, status: 'True', lastTransitionTime: now, reason, message }]),
  ];
  const { metadata } =
    object.kind === 'MachineSet'
      ? await control.patchStatus(
          resources.MachineSet,
          object.metadata,
          { machineSetCondition: conditions },
          scope.signal,
        )
      : await control.patchStatus(
          resources.MachineDeployment,
          object.metadata,
          {
            conditions: conditions.map((one) => (one.type === frozenCondition ? { ...one, lastUpdateTime: now } : one)),
          },
          scope.signal,
        );
  return metadata;
}

async function writeLabel(
  { control, scope }: SafetyTools,
  { change, object }: FreezeStep,
  version: ObjectVersion,
): Promise<void> {
  const metadata =
    change === 'freeze'
      ? { labels: { [freezeLabel]: 'True' } }
      : { labels: { [freezeLabel]: null }, annotations: { [unfreezeAnnotation]: null } };
  if (object.kind === 'MachineSet') await control.patch(resources.MachineSet, version, { metadata }, scope.signal);
  else await control.patch(resources.MachineDeployment, version, { metadata }, scope.signal);
}

/** Its reasons are the replaced manager's. */
async function announceFreeze(
  { control: client, scope, clock }: SafetyTools,
  { change, object, message }: FreezeStep,
): Promise<void> {
  const { namespace = '', name, uid, resourceVersion } = object.metadata;
  const reason = `${change === 'freeze' ? 'Froze' : 'Unfroze'}${object.kind}`;
  await announce(
    { client, scope, clock },
    {
      regarding: { resource: resources[object.kind], namespace, name, uid },
      type: change === 'freeze' ? 'Warning' : 'Normal',
      reason,
      message: `SAFETY: ${message}`,
    },
    [uid, reason, resourceVersion],
  );
}
