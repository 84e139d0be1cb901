import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** A checkout that counts as installed; its command prints its arguments. */
let checkout: string;
let launcher: ChildProcess | undefined;
beforeAll(() => {
  checkout = realpathSync(mkdtempSync(join(tmpdir(), 'drover-launcher-')));
  for (const folder of ['bin', 'starters', 'node_modules']) mkdirSync(join(checkout, folder));
  for (const file of ['drover.mjs', 'node.json'])
    copyFileSync(new URL(`../../bin/${file}`, import.meta.url), join(checkout, 'bin', file));
  writeFileSync(join(checkout, 'node_modules', '.drover-installed'), '');
  writeFileSync(join(checkout, 'package.json'), '{"type":"module"}');
  writeFileSync(
    join(checkout, 'starters', 'main.ts'),
    `const [mode = '', ...rest]: string[] = process.argv.slice(2);
     if (mode === 'exit') { console.log(JSON.stringify(rest)); process.exit(Number(rest[0])); }
     if (mode === 'graceful') process.on('SIGTERM', () => { console.log('bye'); process.exit(7); });
     if (mode === 'echo') process.stdin.pipe(process.stdout);
     else { console.log('waiting'); setTimeout(() => {}, 60_000); }`,
  );
});
afterEach(() => launcher?.kill('SIGKILL'));
afterAll(() => rmSync(checkout, { recursive: true }));

function drover(...args: string[]) {
  const child = spawn(process.execPath, [join(checkout, 'bin', 'drover.mjs'), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  launcher = child;
  return { child, ended: once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]> };
}

test('passes arguments and the exit code', async () => {
  const { child, ended } = drover('exit', '3', 'a b', '--json');
  expect(JSON.parse(await text(child.stdout))).toEqual(['3', 'a b', '--json']);
  expect(await ended).toEqual([3, null]);
});

test('passes standard input', async () => {
  const { child, ended } = drover('echo');
  child.stdin.end('kvm-1\n');
  expect(await text(child.stdout)).toBe('kvm-1\n');
  expect(await ended).toEqual([0, null]);
});

test('passes a signal, and lets the command end in its own way', async () => {
  const { child, ended } = drover('graceful');
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await ended).toEqual([7, null]);
});

test('ends by the signal that ended the command', async () => {
  const { child, ended } = drover('wait');
  await once(child.stdout, 'data');
  child.kill('SIGHUP');
  expect(await ended).toEqual([null, 'SIGHUP']);
});
