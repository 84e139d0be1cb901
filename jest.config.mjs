const project = (displayName, testMatch, more = {}) => ({
  displayName,
  testMatch,
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.lab/'],
  moduleNameMapper: { '^fast-check$': '<rootDir>/test/seeded-fast-check.mjs' },
  transform: {
    '\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'es6' } }],
  },
  ...more,
});

/** Unit tests stand next to the nouns they test; everything that needs a counterpart is a flow. */
export default {
  testTimeout: 60_000,
  testSequencer: '<rootDir>/test/longest-first.mjs',
  projects: [
    project('unit', [
      '<rootDir>/{contracts,workflows,activities,runtime,workers,k8s-bridge,starters,lab,bench,deploy}/**/*.test.ts',
      '<rootDir>/test/{unit,budgets,chaos,contracts,evidence,fakes,faults,ladder,models,replay,simulator}/**/*.test.ts',
    ]),
    project('flows', ['<rootDir>/test/flows/**/*.test.ts'], {
      setupFiles: ['<rootDir>/test/assign-lab.mjs'],
      setupFilesAfterEnv: ['<rootDir>/test/retry-once.mjs'],
    }),
  ],
};
