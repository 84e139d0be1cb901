import type { JudgedCandidate } from '../../contracts/machine-safety/sweep.ts';
import { findProviderId } from './kept-vm.ts';

const uuid = '4204cc2f-2f5c-bfb6-3d42-0c9e2f6a0b11';
const orphan = (machineName: string, providerId: string): JudgedCandidate => ({
  machineName,
  providerId,
  machineClass: 'small',
  why: 'MachineMissing',
  gates: [],
  firstMs: 0,
  sightings: 1,
});
const report = {
  candidates: [
    orphan('one', `vsphere://eu-1/${uuid}`),
    orphan('two', 'vsphere://eu-1/a'),
    orphan('two', 'vsphere://eu-1/b'),
  ],
};

test.each([
  ['a whole id, whatever was found', 'openstack:///RegionOne/x', null, 'openstack:///RegionOne/x'],
  ['a name', 'one', report, `vsphere://eu-1/${uuid}`],
  ['the last part of an id', uuid.toUpperCase(), report, `vsphere://eu-1/${uuid}`],
])('%s', (_what, text, found, providerId) => {
  expect(findProviderId(text, found)).toBe(providerId);
});

test.each([
  ['a name that is none', 'three', report, 4],
  ['nothing was found', 'one', null, 4],
  ['a name of two', 'two', report, 2],
])('%s', (_what, text, found, exitCode) => {
  expect(() => findProviderId(text, found)).toThrow(expect.objectContaining({ exitCode }));
});
