/** `npm start`: a cloud's control plane on this machine, and an eviction in it to watch. `-- --once` ends by itself. */
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
import { startLab } from '../lab.ts';
import { openSession } from '../openstack/session.ts';
import { formatDuration } from '../progress.ts';
import type { DemoLab } from './scene.ts';
import { host, setTheScene } from './scene.ts';
import { demoSettings } from './settings.ts';
import { judge } from './verdict.ts';

const isOnce = process.argv.includes('--once');
const startedMs = performance.now();
const say = (line = ''): void => void process.stdout.write(`${line}\n`);
const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => interrupted.abort());

/** A step of the story, with the time it took. */
async function step<Result>(title: string, action: () => Promise<Result>): Promise<Result> {
  const beganMs = performance.now();
  const result = await action();
  say(`${'demo'.padEnd(12)}${title}: ${formatDuration(performance.now() - beganMs)}`);
  return result;
}

/** The live table that everybody gets with `drover watch`. */
async function watch({ env }: Drover, lab: DemoLab): Promise<void> {
  const child = spawn(process.execPath, [join(checkoutDirectory, 'bin/drover.mjs'), 'watch', host], {
    env: { ...process.env, ...env, KUBECONFIG: lab.handles.kubernetes.kubeconfig },
    stdio: ['ignore', 'inherit', 'inherit'],
    signal: interrupted.signal,
  });
  await once(child, 'exit');
}

function whereToLook(lab: DemoLab): void {
  say(`
Where to look:
  Web UI    ${lab.handles.temporal.uiUrl}/namespaces/default/workflows/${encodeURIComponent(`eviction/${host}`)}
  kubectl   kubectl get evictions; kubectl describe eviction ${host}; kubectl get migrations -A
  drover    npm run --silent drover -- describe ${host}
In another terminal: eval "$(npm run --silent lab -- status)"`);
}

say(`drover empties a compute host: real Temporal, Kubernetes and Nova on this machine. The first time they are built, which takes
a quarter of an hour; then it is seconds.
`);
const lab: DemoLab = await startLab({ parts: ['temporal', 'tctl', 'kubernetes', 'openstack'], report: say, signal: interrupted.signal });
let drover: Drover | null = null;
let summary = '';
try {
  const servers = await step('24 servers on node-1, one of six hosts', () => setTheScene(lab));
  drover = await step('a drover worker and a drover bridge', () => startDrover(lab, { dir: join(lab.dir, 'drover'), settings: demoSettings, signal: interrupted.signal }));
  const manifest = fileURLToPath(new URL('eviction.yaml', import.meta.url));
  say(`\n$ kubectl create -f lab/demo/eviction.yaml\n${(await kubectl(lab.handles.kubernetes, ['create', '-f', '-'], readFileSync(manifest, 'utf8'))).trim()}\n$ drover watch ${host}`);
  const evictionMs = performance.now();
  await watch(drover, lab);
  const client = await connectClient(readTemporalSettings(lab.exports));
  const verdict = await judge(client, await openSession(lab.handles.openstack), servers);
  const tookMs = performance.now() - evictionMs;
  await client.connection.close();
  whereToLook(lab);
  for (const line of verdict.wrong) say(`WRONG: ${line}`);
  if (verdict.wrong.length > 0) process.exitCode = 1;
  if (!isOnce) {
    say('\nAll of it stays up. Ctrl-C stops it.');
    await new Promise((resolve) => interrupted.signal.addEventListener('abort', resolve));
  }
  summary =
    `${verdict.wrong.length === 0 ? 'As it should be' : 'Not as it should be'}: ${verdict.moved} of 24 servers left ${host} in ${formatDuration(tookMs)}, the one that hung in ${verdict.attemptsOfHanging} attempts; ` +
    `${verdict.notMoved.join(', ') || 'none'} cannot move and was named; ${formatDuration(performance.now() - startedMs)} in all.`;
} catch (error) {
  if (!interrupted.signal.aborted) throw error;
  summary = 'Interrupted.';
  process.exitCode = 130;
} finally {
  await drover?.stop();
  await lab.stop();
}
say(`\n${summary}`);
