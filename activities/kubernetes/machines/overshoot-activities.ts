import type { OvershootActivities } from '../../../contracts/machine-safety/overshoot.ts';
import { contextOf } from '../../lib/context.ts';
import { checkOvershoot } from './check-overshoot.ts';
import { named } from './safety-activities.ts';
import type { SafetyDependencies } from './tools.ts';

/** The activities of the overshoot freeze, on queue `machines`. */
export const createOvershootActivities = (dependencies: SafetyDependencies): OvershootActivities => ({
  checkOvershoot: async (request) => checkOvershoot(contextOf(dependencies), named(request)),
});
