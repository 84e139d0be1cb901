import { figuresOf } from '../harness/benchmark.ts';
import { usualCounts } from './figures.ts';
import { vmsSuite } from './main.ts';

test('each figure has an id of its own, with the number of VMs that it is about', () => {
  const ids = (counts: typeof usualCounts): string[] => figuresOf(vmsSuite(counts)).figures.map(({ id }) => id);
  const usual = ids(usualCounts);
  expect(new Set(usual).size).toBe(usual.length);
  expect(usual).toEqual(
    expect.arrayContaining([
      'vms-200-create.ratio',
      'vms-200-instant.ratio',
      'vms-idle-2000.bridge',
      'vms-outside.off',
    ]),
  );
  // What was measured with other numbers is another figure.
  expect(ids({ vms: 10, idle: 30 }).filter((id) => usual.includes(id))).toEqual([
    'vms-outside.off',
    'vms-outside.govc',
  ]);
});
