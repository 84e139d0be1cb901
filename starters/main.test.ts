import { definitions } from '../contracts/crds/definitions.ts';
import type { Kubernetes, KubernetesRequest } from '../runtime/kubernetes/kubernetes.ts';
import { tableError } from './command/error.ts';
import { exitCodes } from './command/exit-codes.ts';
import { exitCodeOfClosedOutput, main } from './main.ts';
import type { Paper } from '../test/fixtures/starters/context.ts';
import { paper, sampleContext } from '../test/fixtures/starters/context.ts';

/**
 * Bad usage, refused before anything is loaded that could reach a system. What needs systems
 * is in test/flows/commands.test.ts.
 */

async function run(...args: string[]): Promise<{ code: number; text: string }> {
  const terminal = paper();
  const code = await main(args, sampleContext(terminal));
  return { code, text: terminal.written };
}

const evict = (...args: string[]): string[] => ['evict', 'node-1', '--reason', 'x', ...args];

const maintain = (...args: string[]): string[] => ['maintain', 'node-1', '--reason', 'x', ...args];

test.each<[why: string, args: string[], words: RegExp]>([
  ['no command', [], /Usage: drover/],
  ['a command that is none', ['evit', 'node-1'], /Did you mean evict/],
  ['no host', ['evict', '--reason', 'x'], /missing required argument 'host'/],
  ['a host that is none', ['watch', '../node'], /host name/],
  ['one host too many', ['watch', 'node-1', 'node-2'], /too many arguments/],
  ['no reason', ['evict', 'node-1'], /required option '--reason/],
  ['an empty reason', ['evict', 'node-1', '--reason', ' '], /Say why/],
  ['absurd parallelism', evict('--parallelism', '1000'), /1 to 64/],
  ['an unknown cause', evict('--cause', 'boredom'), /admin, decommission/],
  ['a deadline that has passed', evict('--deadline', '2020-01-01T00:00:00Z'), /a deadline lies ahead/],
  ['an obstacle that is none', evict('--accept', 'everything'), /not the id of an obstacle/],
  ['a consent that is none', evict('--consent', 'anything'), /cold-migrate, force-complete/],
  ['an option that is none', evict('--force'), /unknown option '--force'/],
  ['options that contradict each other', evict('--wait', '--watch'), /cannot be used with/],
  ['an id of nothing', ['confirm', 'node-1', '--incident', ' '], /An id as/],
  ['disks of no server', ['abandon-disks', 'node-1', '--incident', 'x'], /missing required argument 'instance'/],
  ['disks given up for no failure', ['abandon-disks', 'node-1', 'web-3'], /required option '--incident/],
  ['maintenance without reason', ['maintain', 'node-1'], /required option '--reason/],
  ['a maintenance that is none', maintain('--mode', 'coffee'), /manual, auto, ha/],
  ['decommissioning by maintenance', maintain('--mode', 'termination'), /drover decommission/],
  ['a wait of nothing', maintain('--timeout', '0m'), /A duration/],
  ['a wait until a time', maintain('--timeout', '2126-01-01T00:00:00Z'), /A duration/],
  ['decommissioning without reason', ['decommission', 'node-1'], /required option '--reason/],
  [
    'an eviction’s consent',
    ['decommission', 'node-1', '--reason', 'x', '--consent', 'cold-migrate'],
    /One of: delete-allocations/,
  ],
  ['activating nothing', ['activate'], /missing required argument 'host'/],
  ['onboarding a path', ['onboard', '../node'], /host name/],
  ['a state that is none', ['hosts', '--state', 'tired'], /Initial, Onboarding, Testing/],
  ['hosts as something else', ['hosts', '--output', 'xml'], /Allowed choices are json/],
  ['a state of no virtual machine', ['vms', '--state', 'Active'], /Reconciled, Paused/],
  ['one namespace and all', ['vms', '-n', 'team', '--all-namespaces'], /cannot be used with/],
  ['a namespace that is none', ['vms', '-n', 'Team'], /lower-case letters/],
  ['Machines of no namespace', ['safety', '-n', 'Team'], /lower-case letters/],
  ['a virtual machine that is none', ['describe', 'vm', 'a/b/c'], /names no virtual machine.*drover vms/su],
  ['two namespaces', ['retry', 'vm', 'team/web', '-n', 'other'], /not in the namespace other/],
  ['a pool that is none', ['describe', 'pool', 'a/b/c'], /names no agent pool.*drover pools/su],
  ['an agent of two namespaces', ['retry', 'agent', 'team/a', '-n', 'other'], /not in the namespace other/],
  ['a DataVolume that is none', ['describe', 'dv', 'a/b/c'], /names no DataVolume.*drover clones/su],
  ['clones of a namespace that is none', ['clones', '-n', 'Team'], /lower-case letters/],
  ['the ISO of no pool', ['pools', 'refresh-iso'], /missing required argument 'pool'/],
  ['an approval of a path', ['pools', 'approve', 'a/b/c'], /names no agent pool/],
  [
    'an approval in the namespace of the list',
    ['pools', '-n', 'team', 'approve', 'gpu'],
    /--namespace stands before "approve".* Nothing was done\.\n.*`drover pools approve --namespace`/u,
  ],
  ['a list as JSON, said of another', ['pools', '--json', 'ls'], /Say it after that word: `drover pools ls --json`/u],
  ['a dry run of an approval', ['sweep', '--dry-run', 'approve'], /--dry-run.*\n.*`drover sweep approve` has no such/u],
  ['a user who sweeps', ['sweep', '--as', 'jane', 'keep', 'x'], /`drover sweep keep --as`/u],
  ['an adoption as JSON', ['hosts', '--adopt', '--json'], /'--adopt \[hosts\]' cannot be used with option '--json'/u],
  ['an adoption in a state', ['hosts', '--adopt', '--consent', '--state', 'Active'], /cannot be used with/u],
  ['pools of a namespace that is none', ['pools', '-n', 'Team'], /lower-case letters/],
  ['pools of one namespace and all', ['pools', 'ls', '-n', 'team', '-A'], /cannot be used with/],
  ['the namespace of a host', ['retry', 'node-1', '-n', 'team'], /Hosts have no namespace.*vm NAME -n team/su],
  ['two hosts', ['describe', 'node-1', 'node-2'], /One host is described.*describe vm/su],
  ['a sweep of a namespace that is none', ['sweep', '-n', 'Team'], /lower-case letters/],
  ['a word after sweep that is none', ['sweep', 'everything'], /unknown command|too many arguments/],
  ['nothing to keep', ['sweep', 'keep'], /missing required argument 'id'/],
  ['a keep that is lifted for a reason', ['sweep', 'keep', 'x', '--lift', '--reason', 'y'], /cannot be used with/],
  ['an approval of one VM', ['sweep', 'approve', 'x'], /too many arguments/],
  ['a stop without reason', ['stop'], /needs a reason/],
  ['two stops at once', ['stop', '--kind', 'Eviction', '--region', 'a', '--reason', 'x'], /stops of their own/],
  ['a stop of a kind that is none', ['stop', '--kind', 'Pod', '--reason', 'x'], /Allowed choices are Eviction/],
  ['a stop that is lifted and shown', ['stop', '--lift', '--show'], /cannot be used with/],
  ['nothing to accept', ['accept', 'node-1'], /Say what you accept/],
  ['parallelism of nothing', ['parallelism', 'node-1'], /missing required argument 'number'/],
  ['an instance without a name', ['skip', 'node-1', ' '], /name or the id of a server/],
  ['a system that is none', ['doctor', '--only', 'vcenter'], /Allowed choices/],
])('%s is bad usage', async (_why, args, words) => {
  const { code, text } = await run(...args);
  expect(text).toMatch(words);
  expect(code).toBe(exitCodes.usage);
});

test.each([
  'evict',
  'ls',
  'describe',
  'watch',
  'cancel',
  'retry',
  'accept',
  'pause',
  'resume',
  'skip',
  'parallelism',
  'hosts',
  'onboard',
  'maintain',
  'activate',
  'decommission',
  'vms',
  'sweep',
  'pools',
  'clones',
  'limits',
  'stop',
  'worker',
  'bridge',
  'copy-volume',
  'doctor',
  'crds',
])('%s --help has examples, and the overview lists it', async (name) => {
  const { code, text } = await run(name, '--help');
  expect(code).toBe(exitCodes.ok);
  expect(text).toMatch(new RegExp(`\\nExamples:\\n {2}.*${name}`));
  expect((await run('help')).text).toMatch(new RegExp(`^ {2}${name} +\\S`, 'm'));
});

test('every exit code is in the overview', async () => {
  const { text } = await run('--help');
  for (const code of Object.values(exitCodes)) expect(text).toMatch(new RegExp(`\\b${String(code)} `));
});

test('crds prints what kubectl takes', async () => {
  const { code, text } = await run('crds');
  expect(code).toBe(exitCodes.ok);
  expect(text.match(/^kind: CustomResourceDefinition$/gm)).toHaveLength(definitions.length);
  expect(text.match(/^---$/gm)).toHaveLength(definitions.length - 1);
});

test('where Temporal is away, vms and hosts show what Kubernetes has', async () => {
  const metadata = { uid: 'u', generation: 1, resourceVersion: '1', creationTimestamp: '2026-01-31T12:00:00Z' };
  const items: Record<string, object> = {
    virtualmachines: {
      apiVersion: 'vmoperator.vmware.com/v1alpha6',
      kind: 'VirtualMachine',
      metadata: { ...metadata, namespace: 'team', name: 'web' },
      spec: { className: 'small' },
    },
    hypervisors: {
      apiVersion: 'kvm.cloud.sap/v1',
      kind: 'Hypervisor',
      metadata: { ...metadata, name: 'node-1' },
      spec: {},
    },
  };
  const kubernetes = {
    request: async ({ path }: KubernetesRequest) => ({ items: [items[path.split('/').at(-1) ?? '']] }),
    close: async () => undefined,
  } as unknown as Kubernetes;
  const away = tableError('TemporalUnavailable', 'Temporal is away.');
  const list = async (command: string): Promise<Paper> => {
    const terminal = paper();
    const context = { openTemporal: () => Promise.reject(away), openKubernetes: async () => kubernetes };
    expect(await main([command], { ...sampleContext(terminal), ...context })).toBe(exitCodes.ok);
    return terminal;
  };
  expect(await list('vms')).toMatchObject({ stdout: expect.stringMatching(/^team\/web /mu), stderr: '' });
  const hosts = await list('hosts');
  expect(hosts.stdout).toMatch(/^node-1 /mu);
  expect(hosts.stderr).toMatch(/^How far evictions are is not shown: Temporal is away\.$/mu);
});

test('what there is and cannot be shown is there', async () => {
  const metadata = { uid: 'u', generation: 1, resourceVersion: '1', creationTimestamp: '2026-01-31T12:00:00Z' };
  const odd = { metadata: { ...metadata, namespace: 'team', name: 'odd' }, spec: 'none' };
  const kubernetes = {
    request: async () => ({ items: [odd] }),
    close: async () => undefined,
  } as unknown as Kubernetes;
  for (const command of ['vms', 'hosts', 'pools', 'clones']) {
    const terminal = paper();
    const openTemporal = () => Promise.reject(new Error('away'));
    await main([command], { ...sampleContext(terminal), openTemporal, openKubernetes: async () => kubernetes });
    expect(terminal.stdout).toBe('');
    expect(terminal.stderr).toContain('Not as their schema says, and not shown: team/odd.');
  }
});

test.each([
  ['ls', exitCodes.ok],
  ['ls --all --json', exitCodes.ok],
  ['describe vm team/web', exitCodes.ok],
  ['hosts --attention', exitCodes.ok],
  ['hosts --adopt --consent', exitCodes.interrupted],
  ['pools -A', exitCodes.ok],
  ['pools approve team/gpu', exitCodes.interrupted],
  ['pools -n team approve gpu', exitCodes.interrupted],
  ['sweep ls', exitCodes.ok],
  ['sweep -n shoot ls', exitCodes.ok],
  ['sweep', exitCodes.interrupted],
  ['stop --show', exitCodes.ok],
  ['stop --reason fire', exitCodes.interrupted],
  ['evict node-1 --reason x --wait', exitCodes.interrupted],
  ['evict --help', exitCodes.ok],
  ['watch node-1', exitCodes.interrupted],
  ['doctor', exitCodes.interrupted],
  ['', exitCodes.ok],
])('`drover %s`, whose output nobody reads to its end, exits with %i', (line, code) => {
  expect(exitCodeOfClosedOutput(line === '' ? [] : line.split(' '))).toBe(code);
});
