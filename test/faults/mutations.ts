import { openBlindClone } from './blind-clone.ts';
import { openBlindStart } from './blind-start.ts';
import type { Mutation } from './gate.ts';

/** Ensure verbs broken on purpose: what shows that the matrix can fail. */
const mutations = { blindStart: openBlindStart, blindClone: openBlindClone } as const satisfies Record<
  string,
  () => Mutation
>;

export const mutationNames = Object.keys(mutations) as (keyof typeof mutations)[];

/** @throws when there is no such mutation */
export function openMutation(name: string): Mutation {
  const known = mutationNames.find((one) => one === name);
  if (known === undefined) throw new Error(`no mutation ${name}; there are ${mutationNames.join(', ')}`);
  return mutations[known]();
}
