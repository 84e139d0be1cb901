import { figuresOf } from '../harness/benchmark.ts';
import { type MachineCounts, usualCounts } from './figures.ts';
import { machinesSuite } from './main.ts';

test('each figure has an id of its own, with the number of VMs that it is about', () => {
  const ids = (counts: MachineCounts): string[] => figuresOf(machinesSuite(counts)).figures.map(({ id }) => id);
  const usual = ids(usualCounts);
  expect(new Set(usual).size).toBe(usual.length);
  expect(usual).toEqual(
    expect.arrayContaining(['machines-10000-vsphere.events', 'machines-500-openstack.calls', 'machines-outage.ratio']),
  );
  // What was measured with other numbers is another figure.
  const shared = ids({ vms: 20, servers: 3 }).filter((id) => usual.includes(id));
  expect(shared.every((id) => /^machines-(?:outage|orphan)\./u.test(id))).toBe(true);
});

test('a page more of VMs is a call more', () => {
  const goalOf = (vms: number) =>
    figuresOf(machinesSuite({ ...usualCounts, vms })).figures.find(({ id }) => id === `machines-${vms}-vsphere.calls`)
      ?.goal;
  expect(goalOf(10_000)).toBe(54);
  expect(goalOf(10_001)).toBe(55);
});
