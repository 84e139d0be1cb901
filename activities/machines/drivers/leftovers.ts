import type { MachineDriver } from '../../../contracts/machine-safety/driver.ts';
import { droverFailure } from '../../../runtime/failure.ts';

/** Of a provider at which nothing that is left can be found with certainty (docs/machine-safety.md#drivers). */
export const noLeftovers: Pick<MachineDriver, 'listLeftovers' | 'deleteLeftover'> = {
  listLeftovers: () => Promise.resolve([]),
  deleteLeftover: ({ kind, id }) =>
    Promise.reject(droverFailure('InvalidInput', `${kind} ${id} is nothing that drover has listed as left over`)),
};
