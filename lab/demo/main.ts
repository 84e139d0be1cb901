/** `npm start`: a cloud's control plane on this machine; a new host is brought into service, another one is emptied. `-- --once` ends by itself. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectClient, readTemporalSettings } from '../../runtime/temporal.ts';
import { checkoutDirectory } from '../context.ts';
import type { Drover } from '../drover.ts';
import { startDrover } from '../drover.ts';
import { kubectl } from '../kubectl.ts';
import type { CheckedParts } from '../host-check-settings.ts';
import { hostCheckSettings } from '../host-check-settings.ts';
import { untilInterrupted } from '../interruption.ts';
import { startLab, stopLab } from '../lab.ts';
import { listServers } from '../openstack/seed.ts';
import { openSession } from '../openstack/session.ts';
import { formatDuration } from '../progress.ts';
import { hostParts, startHostParts } from './host-parts.ts';
import { addHost, describeChecks, judgeNewHost, readNewHost, reportNewHost } from './new-host.ts';
import type { DemoLab } from './scene.ts';
import { countInstances, host, newHost, setTheScene } from './scene.ts';
import { demoSettings } from './settings.ts';
import { judge } from './verdict.ts';

const isOnce = process.argv.includes('--once');
const startedMs = performance.now();
const say = (line = ''): void => void process.stdout.write(`${line}\n`);
const interrupted = untilInterrupted(new Error('interrupted'));

/** A step of the story, with the time it took. */
async function step<Result>(title: string, action: () => Promise<Result>): Promise<Result> {
  const beganMs = performance.now();
  const result = await action();
  say(`${'demo'.padEnd(12)}${title}: ${formatDuration(performance.now() - beganMs)}`);
  return result;
}

/** `drover`, as everybody types it. */
async function command({ env }: Drover, lab: DemoLab, ...args: string[]): Promise<void> {
  say(`$ drover ${args.join(' ')}`);
  const child = spawn(process.execPath, [join(checkoutDirectory, 'bin/drover.mjs'), ...args], {
    env: { ...process.env, ...env, KUBECONFIG: lab.handles.kubernetes.kubeconfig },
    stdio: ['ignore', 'inherit', 'inherit'],
    signal: interrupted,
  });
  await once(child, 'exit');
}

/** A seventh host comes, and is put into service through its checks. @returns what is wrong with it */
async function onboard(drover: Drover, lab: DemoLab, parts: CheckedParts): Promise<string[]> {
  say(`\nA seventh host has been racked. It takes servers when it has shown that it can run them.\n\n$ kubectl create -f lab/demo/node.yaml\n${await addHost(lab, parts)}`);
  await command(drover, lab, 'onboard', newHost, '--wait', '--timeout', '3m');
  const hypervisor = await readNewHost(lab);
  await reportNewHost(lab, hypervisor);
  say(`\nIts checks:\n${describeChecks(hypervisor).join('\n')}\n`);
  await command(drover, lab, 'hosts');
  return await judgeNewHost(hypervisor, await openSession(lab.handles.openstack), parts);
}

function whereToLook(lab: DemoLab): void {
  say(`
Where to look:
  Web UI    ${lab.handles.temporal.uiUrl}/namespaces/default/workflows/${encodeURIComponent(`eviction/${host}`)}
            ${lab.handles.temporal.uiUrl}/namespaces/default/workflows/${encodeURIComponent(`hypervisor/${newHost}`)}
  kubectl   kubectl get hypervisors,evictions; kubectl describe eviction ${host}; kubectl get migrations -A
  drover    npm run --silent drover -- describe ${host}; npm run --silent drover -- maintain ${newHost} --reason 'new disks'
In another terminal: eval "$(npm run --silent lab -- status)"`);
}

say(`drover brings a new compute host into service and empties another one: real Temporal, Kubernetes, Nova, libvirt, Open vSwitch and
Ceph on this machine. The first time they are built, which takes a quarter of an hour; then it is seconds.
`);
const options = { report: say, signal: interrupted };
const core = ['temporal', 'tctl', 'kubernetes', 'openstack'] as const;
const lab: DemoLab = await startLab({ parts: core, ...options });
let drover: Drover | null = null;
let summary = '';
try {
  const { handles: parts, remarks } = await startHostParts(lab.dir, newHost, options);
  for (const remark of remarks) say(`${'demo'.padEnd(12)}${remark}`);
  const servers = await step('24 servers on node-1, one of six hosts', () => setTheScene(lab));
  const settings = demoSettings(hostCheckSettings(newHost, lab.handles.openstack, parts));
  drover = await step('a drover worker and a drover bridge', () => startDrover(lab, { dir: join(lab.dir, 'drover'), settings, signal: interrupted }));
  const onboardingMs = performance.now();
  const wrong = await onboard(drover, lab, parts);
  const onboardedMs = performance.now() - onboardingMs;
  const manifest = fileURLToPath(new URL('eviction.yaml', import.meta.url));
  say(`\nAnd ${host} gets new firmware, so all that runs on it goes elsewhere.\n\n$ kubectl create -f lab/demo/eviction.yaml\n${(await kubectl(lab.handles.kubernetes, ['create', '-f', '-'], readFileSync(manifest, 'utf8'))).trim()}`);
  const evictionMs = performance.now();
  await command(drover, lab, 'watch', host);
  const client = await connectClient(readTemporalSettings(lab.exports));
  const session = await openSession(lab.handles.openstack);
  const verdict = await judge(client, session, servers);
  const tookMs = performance.now() - evictionMs;
  await client.connection.close();
  await countInstances(lab.handles.kubernetes, await listServers(session));
  say();
  await command(drover, lab, 'hosts');
  whereToLook(lab);
  wrong.push(...verdict.wrong);
  for (const line of wrong) say(`WRONG: ${line}`);
  if (wrong.length > 0) process.exitCode = 1;
  if (!isOnce) {
    say('\nAll of it stays up. Ctrl-C stops it.');
    await new Promise((resolve) => interrupted.addEventListener('abort', resolve));
  }
  summary =
    `${wrong.length === 0 ? 'As it should be' : 'Not as it should be'}: ${newHost} came into service in ${formatDuration(onboardedMs)}; ${verdict.moved} of 24 servers left ${host} in ${formatDuration(tookMs)}, the one that hung in ${verdict.attemptsOfHanging} attempts; ` +
    `${verdict.notMoved.join(', ') || 'none'} cannot move and was named; ${formatDuration(performance.now() - startedMs)} in all.`;
} catch (error) {
  if (!interrupted.aborted) throw error;
  summary = 'Interrupted.';
  process.exitCode = 130;
} finally {
  await drover?.stop();
  await stopLab({ dir: lab.dir, parts: [...core, ...hostParts], report: say });
}
say(`\n${summary}`);
