/** A number from 0 up to, but not including, 1. Injected, so that a simulation is the same again for the same seed. */
export type Random = () => number;
