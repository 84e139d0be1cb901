const ofDay = process.env['DROVER_SAMPLE_SEED'];

/**
 * Decides what a test that samples takes: the same on every push, so that a push fails for what it changes. `npm run
 * test:all` takes the day's, so that all of it is taken in time.
 */
export const pushSeed = 20_780;
export const sampleSeed = Number(ofDay ?? pushSeed);
export const isSampleOfDay = ofDay !== undefined;

/** Another one each day. */
export const seedOfDay = (): number => Math.floor(Date.now() / 86_400_000);
