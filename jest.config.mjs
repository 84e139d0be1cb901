const project = (displayName, testMatch, more = {}) => ({
  displayName,
  testMatch,
  testEnvironment: '<rootDir>/test/jest/native-environment.mjs',
  runtime: '<rootDir>/test/jest/native-runtime.mjs',
  transform: {},
  setupFiles: ['<rootDir>/test/seed-fast-check.mjs'],
  modulePathIgnorePatterns: ['<rootDir>/.lab/'],
  ...more,
});

/** Unit tests stand next to the nouns they test; everything that needs a counterpart is a flow. */
export default {
  // A guard against what hangs, not a measure: the machine may do much else.
  testTimeout: 300_000,
  testSequencer: '<rootDir>/test/ladder/longest-first.ts',
  projects: [
    project('unit', [
      '<rootDir>/{contracts,workflows,activities,runtime,workers,k8s-bridge,starters,lab,bench,deploy}/**/*.test.ts',
      '<rootDir>/test/{unit,budgets,chaos,contracts,evidence,fakes,faults,jest,ladder,models,replay,simulator}/**/*.test.ts',
    ]),
    project('flows', ['<rootDir>/test/flows/**/*.test.ts'], {
      setupFiles: ['<rootDir>/test/assign-lab.mjs', '<rootDir>/test/seed-fast-check.mjs'],
      setupFilesAfterEnv: ['<rootDir>/test/retry-once.mjs'],
    }),
  ],
};
