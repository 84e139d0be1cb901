import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../runtime/clock.ts';
import { systemClock } from '../runtime/clock.ts';

const storage = new AsyncLocalStorage<Clock>();

/** Of a whole test file, where its world is a simulation. */
let ofThisFile: Clock | null = null;

/** The clock of what runs here: the machine's, or a simulation's. */
export const labClock = (): Clock => storage.getStore() ?? ofThisFile ?? systemClock;

/** From now on everything in this program takes its time from `clock`; null: from the machine again. */
export const setLabClock = (clock: Clock | null): void => void (ofThisFile = clock);

/**
 * Whatever `action` does, and waits for, takes its time from `clock`: the same scenario runs on a lab and
 * in a simulation.
 */
export const withClock = <Result>(clock: Clock, action: () => Result): Result => storage.run(clock, action);
