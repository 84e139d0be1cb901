/**
 * Settings of the demo: what takes minutes on a real cloud takes seconds here. What they mean
 * is in drover.example.yaml.
 *
 * @param checks those of hypervisors
 */
export const demoSettings = (checks: object): object => ({
  modes: { Eviction: 'act', Hypervisor: 'act' },
  hypervisor: { recheckMs: 2_000, lingerMs: 500, registrationMs: 60_000, testRetryDelayMs: 1_000, ...checks },
  eviction: {
    retryDelayMs: 1_000,
    stuck: { msPerGiB: 6_000, floorMs: 8_000, noProgressMs: 5_000, startMs: 60_000 },
    poll: { minMs: 200, maxMs: 1_000 },
    emptyRecheckMs: 2_000,
    publishMinMs: 1_000,
    publishMaxMs: 5_000,
    perTarget: 4,
  },
});
