// A flow runs a dozen real processes on however few cores there are. One that fails is run once more; test/run.ts
// names each that was, and fails when it was more than one. A search for rare failures is never repeated: its
// failure is what it was to find.
const { expect, jest } = globalThis;

const neverAgain = /\/(?:chaos|matrix[^/]*)\.test\.ts$/u;

// A machine that is busy with something else takes twice as long.
jest.setTimeout(150_000);
// In virtual time a second attempt is the first one again.
if (process.env.DROVER_SIMULATED === undefined && !neverAgain.test(expect.getState().testPath ?? ''))
  jest.retryTimes(1, { logErrorsBeforeRetry: true });
