import { pool, poolSpec } from '../../test/fixtures/activities/agent-pool.ts';
import { nameAgent, nameVm, templateDigest } from './name-agents.ts';

const never = () => false;
const isDnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/u;
const long = `${'a'.repeat(60)}.${'b'.repeat(190)}`;

test('a VsphereAgent has the name of its AgentMachine, or the first free one that only this pool makes', () => {
  const of = { namespace: 'ns', pool: 'p', agentMachineNamespace: 'cp', agentMachine: 'am' };
  const taken = new Set<string>();
  const next = (): string => {
    const name = nameAgent(of, (one) => taken.has(one));
    taken.add(name);
    return name;
  };
  const made = [next(), next(), next()];
  expect(made[0]).toBe('am');
  expect(made[1]).toMatch(/^am-[0-9a-f]{10}$/u);
  expect(new Set(made).size).toBe(3);
  expect(nameAgent({ ...of, pool: 'q' }, (one) => one === 'am')).not.toBe(made[1]);
  expect(nameAgent({ ...of, agentMachine: long }, (one) => one === long).length).toBeLessThanOrEqual(253);
});

test.each([
  ['am', '', 'am'],
  ['am.example', '', /^am-example-[0-9a-f]{10}$/u],
  [long, '', /^a{52}-[0-9a-f]{10}$/u],
  ['am', 'worker', /^worker-[0-9a-f]{5}$/u],
  ['am', 'w'.repeat(58), /^w{57}-[0-9a-f]{5}$/u],
  [`${'a'.repeat(51)}.b${'c'.repeat(30)}`, '', /^a{51}-[0-9a-f]{10}$/u],
])('the VM of %s with the prefix %j is a host name', (name, prefix, expected) => {
  const vmName = nameVm(name, prefix, never);
  expect(vmName).toMatch(isDnsLabel);
  expect(vmName).toMatch(expected);
  expect(nameVm(name, prefix, (one) => one === vmName)).not.toBe(vmName);
});

test.each([
  [{ template: { numCPUs: 8 } }, true],
  [{ vsphere: { ...poolSpec.vsphere, network: 'other' } }, true],
  [{ vsphere: { ...poolSpec.vsphere, folder: 'other' } }, true],
  [{ vsphere: { ...poolSpec.vsphere, folder: 'demo' } }, false],
  [{ vsphere: { ...poolSpec.vsphere, diskEagerlyScrub: false } }, false],
  [{ vsphere: { ...poolSpec.vsphere, credentialsSecretRef: { name: 'other' } } }, false],
  [{ vsphere: { ...poolSpec.vsphere, isoDatastore: 'other' } }, false],
  [{ vsphere: { ...poolSpec.vsphere, vmTags: ['tag'] } }, false],
  [{ template: { namePrefix: 'x' } }, false],
  [{ agent: { labels: { team: 'b' } } }, false],
])('VMs of %j are other ones: %s', (spec, differs) => {
  expect(templateDigest(pool({ spec }).spec) !== templateDigest(pool().spec)).toBe(differs);
});
