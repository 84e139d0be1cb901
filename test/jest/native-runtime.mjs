// Jest gives every test file its own copy of every module, linked anew: hundreds of them, which took most of the time of
// the tests. Here Node itself loads the sources, as in production, once for each of jest's processes. What a file leaves
// in the process is put back by the environment; the rest of jest (circus, its workers, its reports) is as it comes.
import { createRequire, enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cacheDirectory } from '../../runtime/cache.ts';

const require = createRequire(import.meta.url);
// What was compiled once is not compiled again, neither here nor in the processes that tests start.
process.env.NODE_COMPILE_CACHE ??= join(cacheDirectory(), 'compiled');
enableCompileCache(process.env.NODE_COMPILE_CACHE);

/** How often a file was asked for: a set-up file runs once for each test file, not once for each process. */
let loads = 0;

/** What jest-runner and jest-circus ask of a runtime, without a registry of modules. */
export default class NativeRuntime {
  #testPath;

  constructor(_config, environment, _resolver, _transformer, _cacheFs, _coverage, testPath) {
    this.#testPath = testPath;
    environment.global.jest = settingsOf(environment.global);
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  async unstable_importModule(path) {
    const { href } = pathToFileURL(path);
    loads += 1;
    return import(path === this.#testPath ? href : `${href}?load=${loads}`);
  }

  /** Jest-circus keeps the tests of a file in its module, which therefore is a new one for each. */
  requireInternalModule(path) {
    delete require.cache[require.resolve(path)];
    return require(path);
  }

  requireModule(path) {
    return require(path);
  }

  setGlobalsForRuntime() {}
  enterTestCode() {}
  leaveTestCode() {}
  resetModules() {}
  teardown() {}

  getSourceMaps() {
    return new Map();
  }

  getAllCoverageInfoCopy() {
    return undefined;
  }
}

/** The part of `jest` that set-up files use: jest-circus reads it from these symbols. */
function settingsOf(global) {
  return {
    setTimeout: (timeoutMs) => {
      global[Symbol.for('TEST_TIMEOUT_SYMBOL')] = timeoutMs;
    },
    retryTimes: (times, { logErrorsBeforeRetry = false } = {}) => {
      global[Symbol.for('RETRY_TIMES')] = times;
      global[Symbol.for('LOG_ERRORS_BEFORE_RETRY')] = logErrorsBeforeRetry;
    },
  };
}
