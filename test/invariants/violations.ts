import { agentsKeepTheirVms, noVmIsLost, oneVmPerAgent } from './agents.ts';
import { runsHeed } from './conduct.ts';
import { effectsHappenOnce } from './effects.ts';
import { disablesAreSigned, listShrinks, migrationsAreOwned, reconciledIsReleased } from './evictions.ts';
import { evacuatedOnEvidence, evacuatedWithoutPower } from './fencing.ts';
import { frozenMachinesStay, machinesKeepTheirVms, orphansGoOnce } from './machines.ts';
import { limitIsKept, ownAreConfirmed } from './migrations.ts';
import type { Check } from './objects.ts';
import { historyBudgets, oneRunPerObject } from './runs.ts';
import { noSecrets } from './secrets.ts';
import { everyServerOnce, movedOnce, noneToDisabledHosts, succeededMeansEmpty } from './servers.ts';
import type { Snapshot } from './snapshot.ts';
import { generationsAreReported, statusOnlyAdvances } from './status.ts';
import { clonesAreTheirSources, noVolumeIsBereft, nothingTemporaryStays, policiesAreAsBefore } from './volumes.ts';
import { oneVmPerObject, strangersStay, vmsAreHeld } from './virtual-machines.ts';

/** docs/invariants.md as code: one check for each row of that table. `../read-world.ts` takes the snapshot of a lab. */

/** In the order of docs/invariants.md. */
const checks: readonly Check[] = [
  oneRunPerObject,
  everyServerOnce,
  movedOnce,
  noneToDisabledHosts,
  succeededMeansEmpty,
  reconciledIsReleased,
  disablesAreSigned,
  listShrinks,
  historyBudgets,
  noSecrets,
  migrationsAreOwned,
  evacuatedOnEvidence,
  oneVmPerObject,
  vmsAreHeld,
  strangersStay,
  effectsHappenOnce,
  generationsAreReported,
  statusOnlyAdvances,
  runsHeed,
  limitIsKept,
  ownAreConfirmed,
  machinesKeepTheirVms,
  frozenMachinesStay,
  orphansGoOnce,
  agentsKeepTheirVms,
  oneVmPerAgent,
  noVmIsLost,
  noVolumeIsBereft,
  clonesAreTheirSources,
  nothingTemporaryStays,
  policiesAreAsBefore,
  evacuatedWithoutPower,
];

/** `invariant 3: server x … (evidence)`; empty when all holds. Pure. */
export const violations = (world: Snapshot): string[] =>
  checks.flatMap((check, index) => check(world).map((violation) => `invariant ${index + 1}: ${violation}`));
