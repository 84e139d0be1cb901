import type { MachineDeployment, MachineSet } from '../crds/machine-set.ts';

/**
 * How the replaced manager, and drover, mark what is frozen as it has too many Machines
 * (docs/machine-safety.md#overshoot).
 */

export type Freezable = MachineSet | MachineDeployment;

/** Its value is `True`. machine-controller-manager makes no Machine for a MachineSet with it. */
export const freezeLabel = 'freeze';
export const unfreezeAnnotation = 'safety.machine.sapcloud.io/unfreeze';
export const frozenCondition = 'Frozen';

/** They have two names. */
export const conditionsOf = (object: Freezable) =>
  (object.kind === 'MachineSet' ? object.status?.machineSetCondition : object.status?.conditions) ?? [];

export const isLabelledFrozen = ({ metadata }: Freezable): boolean => metadata.labels?.[freezeLabel] === 'True';

export const hasFrozenCondition = (object: Freezable): boolean =>
  conditionsOf(object).some(({ type }) => type === frozenCondition);

/** A label without the condition, or the other way round, is half a freeze: it counts. */
export const isFrozen = (object: Freezable): boolean => isLabelledFrozen(object) || hasFrozenCondition(object);
