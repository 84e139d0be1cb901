#!/usr/bin/env node
// Starts the drover command on the checkout's Node 24, whichever Node (20 or newer) the caller has.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

if (!existsSync(at('node_modules/.drover-installed'))) {
  const { bootstrap } = await import('../lab/bootstrap.mjs');
  await bootstrap().catch((error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  });
}

const installed = at('node_modules/.bin/node');
const ownMajor = Number(process.versions.node.split('.')[0]);
// Elsewhere than on Linux no Node comes with the packages; bootstrap made sure of one on PATH.
const node = existsSync(installed) ? installed : ownMajor >= 24 ? process.execPath : 'node';
// What was compiled once is not compiled again: a third of the time of a short command.
const compiled =
  process.env.NODE_COMPILE_CACHE ??
  join(process.env.DROVER_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'drover'), 'compiled');
// For few pages of memory rather than for speed, as drover waits more than it computes: docs/limits.md#memory.
const settings = JSON.parse(readFileSync(at('bin/node.json'), 'utf8'));
const child = spawn(node, [...settings.arguments, at('starters/main.ts'), ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...settings.environment, ...process.env, NODE_COMPILE_CACHE: compiled },
});

// A terminal signals its whole foreground group, the command included; passed on once more, a first Ctrl-C would count as
// the second. Without a terminal nothing else signals the command.
const fromTerminal = process.stdin.isTTY === true;
const signals = ['SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGTERM', 'SIGUSR2'];
for (const signal of signals) {
  process.on(signal, () => {
    if (!fromTerminal || signal === 'SIGTERM' || signal === 'SIGUSR2') child.kill(signal);
  });
}

child.on('error', (error) => {
  process.stderr.write(`drover cannot be started on ${node}: ${error.message}\n`);
  process.exitCode = 1;
});
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  // Ended by a signal: end the same way, so that the caller sees what happened.
  for (const name of signals) process.removeAllListeners(name);
  process.kill(process.pid, signal);
});
