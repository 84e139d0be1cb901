import * as onLabs from '../faults/scenarios.ts';
import type { Scenario } from '../faults/scenario.ts';
import { evictionScenarios } from './scenarios/eviction-scenarios.ts';
import { machineScenarios } from './scenarios/machine-scenarios.ts';
import { hostScenarios } from './scenarios/host-scenarios.ts';

/** All scenarios of the matrix: those that a lab has too, and those that only the simulator runs. */
export const scenarios: readonly Scenario[] = [
  ...onLabs.scenarios,
  ...evictionScenarios,
  ...hostScenarios,
  ...machineScenarios,
];

export function findScenario(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found === undefined)
    throw new Error(`no scenario ${name}; there are ${scenarios.map((one) => one.name).join(', ')}`);
  return found;
}
