import { describeExpiry, describeKeystone } from '../contracts/keystone.ts';
import { describeMachines } from '../contracts/nova-machines.ts';
import { describeNova } from '../contracts/nova.ts';
import { describePlacement } from '../contracts/placement.ts';
import { describeOnLab } from './contract-openstack/on-lab.ts';

/**
 * The suites of OpenStack take a quarter of an hour: those of drover's activities are in a file of their own, beside
 * this one.
 */

describeOnLab('the lab', {}, (test) => {
  describe('Keystone', () => {
    describeKeystone(test);
  });
  describe('Nova', () => {
    describeNova(test);
  });
  describe('machines', () => {
    describeMachines(test);
  });
  describe('Placement', () => {
    describePlacement(test);
  });
});

describeOnLab(
  'a lab whose tokens live for six seconds',
  { hosts: { 'node-1': {} }, tokenTtlSeconds: 6 },
  describeExpiry,
);
