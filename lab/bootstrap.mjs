// Makes a checkout ready to run: installs the packages of the lockfile where the installed tree does not match it, and
// makes sure of Node 24. Plain JavaScript without dependencies, for Node 20 and newer: npm runs it on its own Node, before
// every script (`prestart`, `pretest` …), and bin/drover.mjs runs it when nothing is installed yet.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = fileURLToPath(new URL('..', import.meta.url));
const modules = join(checkout, 'node_modules');
const stampFile = join(modules, '.drover-installed');

const LOWEST_NODE_FOR_THIS = 20;
const NODE_OF_DROVER = 24;
const TICK_MS = 15_000;
const INSTALL_TIMEOUT_MS = 20 * 60_000;

/** A reason to stop, shown as one sentence without a stack trace. */
class Unready extends Error {}

/**
 * Variables that would change what is installed: with NODE_ENV=production or omit=optional the compiler, the tests or
 * Node itself would be missing. Everything else the caller has set (registry, proxy, cache …) holds.
 */
const MISLEADING =
  /^(node_env|npm_config_(omit|include|only|production|optional|also|loglevel|silent|quiet|dry_run|global|location|package_lock|package_lock_only|lockfile_version|save\w*|install_strategy|legacy_peer_deps|strict_peer_deps|workspaces?|force|json))$/i;

/** Has git check the subjects of commits, in a work tree of this repository whose hooks are not set yet. */
function setHooks() {
  const git = (...args) => spawnSync('git', args, { cwd: checkout, encoding: 'utf8', timeout: 10_000 });
  // A checkout that is unpacked in the work tree of another repository has no `.git` of its own.
  if (!existsSync(join(checkout, '.git')) || git('config', 'core.hooksPath').status !== 1) return;
  git('config', '--local', 'core.hooksPath', '.githooks');
}

/** Brings the checkout into a state in which drover runs. @returns {Promise<void>} */
export async function bootstrap() {
  if (majorOf(process.version) < LOWEST_NODE_FOR_THIS)
    throw new Unready(
      `drover needs Node ${LOWEST_NODE_FOR_THIS} or newer to install itself; this is ${process.version}.`,
    );
  setHooks();
  if (readStamp() !== stampOf()) await install();
  if (nodeOfCheckout() < NODE_OF_DROVER) {
    // The stamp matches but Node is not there: something removed it (`npm prune --omit=optional`).
    rmSync(stampFile, { force: true });
    await install();
  }
  const major = nodeOfCheckout();
  if (major < NODE_OF_DROVER) {
    throw new Unready(
      `drover needs Node ${NODE_OF_DROVER}: it comes with the packages on Linux (x64 and arm64, glibc), on ${process.platform}-${process.arch} put a Node ${NODE_OF_DROVER} or newer first on PATH (found: ${major === 0 ? 'none' : major}).`,
    );
  }
}

const majorOf = (version) => Number(/^v(\d+)\./.exec(version)?.[1] ?? 0);

/** Major version of the `node` that npm's scripts will run on; 0 when there is none. */
function nodeOfCheckout() {
  const path = [join(modules, '.bin'), process.env.PATH ?? ''].join(delimiter);
  const { stdout } = spawnSync('node', ['--version'], {
    encoding: 'utf8',
    timeout: 10_000,
    env: { ...process.env, PATH: path },
  });
  return majorOf(stdout ?? '');
}

function readStamp() {
  return existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : undefined;
}

/** What is to be installed (the lockfile, for this platform) and when npm last changed the tree. */
function stampOf() {
  const lock = createHash('sha256')
    .update(readFileSync(join(checkout, 'package-lock.json')))
    .digest('hex');
  const tree = statSync(join(modules, '.package-lock.json'), { throwIfNoEntry: false })?.mtimeMs ?? 'none';
  return `${lock} ${process.platform} ${process.arch} ${tree}\n`;
}

async function install() {
  const say = (line) => process.stderr.write(`drover: ${line}\n`);
  const startMs = performance.now();
  const seconds = () => `${Math.round((performance.now() - startMs) / 1000)} s`;
  say(`installing the packages of package-lock.json (usually 30 s the first time)`);
  const ticks = setInterval(() => say(`still installing, ${seconds()} so far`), TICK_MS);
  try {
    await runNpm();
  } finally {
    clearInterval(ticks);
  }
  writeFileSync(stampFile, stampOf());
  say(`packages are installed, after ${seconds()}`);
}

/** `npm install`, not `npm ci`: the lockfile names packages of other platforms that a registry may lack, which `ci` refuses. */
function runNpm() {
  const args = [
    'install',
    '--no-save',
    '--include=dev',
    '--include=optional',
    '--include=peer',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  // npm passes its own path to its scripts; outside of a script it is the npm on PATH.
  const npm = process.env.npm_execpath;
  const [command, first] = npm !== undefined && /\bnpm-cli\.c?js$/.test(npm) ? [process.execPath, [npm]] : ['npm', []];
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !MISLEADING.test(name)));
  const child = spawn(command, [...first, ...args], {
    cwd: checkout,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: INSTALL_TIMEOUT_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.on('error', (error) =>
      reject(
        new Unready(
          `npm cannot be started (${error.message}); install Node ${LOWEST_NODE_FOR_THIS} or newer with npm.`,
        ),
      ),
    );
    child.on('close', (code, signal) =>
      code === 0 ? resolve() : reject(new Unready(`npm install failed (${signal ?? code}):\n${output.trim()}`)),
    );
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runAsMain();

async function runAsMain() {
  try {
    await bootstrap();
  } catch (error) {
    if (!(error instanceof Unready)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
