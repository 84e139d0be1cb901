// A flow runs a dozen real processes on however few cores there are. One that fails is run once more; test/run.ts names each that was.
import { jest } from '@jest/globals';

// A machine that is busy with something else takes twice as long.
jest.setTimeout(150_000);
jest.retryTimes(1, { logErrorsBeforeRetry: true });
