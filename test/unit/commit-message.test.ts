import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const hook = fileURLToPath(new URL('../../.githooks/commit-msg', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'commit-msg-'));
afterAll(() => rmSync(folder, { recursive: true }));

test.each<[message: string, refusal: RegExp | null]>([
  ['bridge: start no run for what has not changed', null],
  ['bridge: start no run\n\nIt has not changed, and this says why.', null],
  ['bridge, runtime/kubernetes: type objects', null],
  ['k8s-bridge/routes: derive them from the table\n# what git adds', null],
  ["Merge branch 'main'", null],
  ['fixup! bridge: start no run', null],
  [`a: ${'x'.repeat(69)}`, null],
  [`a: ${'ü'.repeat(69)}`, null],
  [`a: ${'x'.repeat(70)}`, /more than 72 characters/u],
  ['start no run', /not "scope: what"/u],
  ['Bridge: start no run', /not "scope: what"/u],
  ['bridge:start no run', /not "scope: what"/u],
  ['', /not "scope: what"/u],
  ['bridge: start no run.', /ends in a period/u],
  ['bridge: added a route', /not imperative/u],
  ['bridge: adding a route', /not imperative/u],
  ['bridge: string every bead', null],
  ['bridge: start no run\nfor what has not changed', /second line is not blank/u],
])('%j', (message, refusal) => {
  const file = join(folder, 'message');
  writeFileSync(file, `${message}\n`);
  const { status, stderr } = spawnSync(hook, [file], { encoding: 'utf8' });
  expect(status).toBe(refusal === null ? 0 : 1);
  if (refusal === null) expect(stderr).toBe('');
  else expect(stderr).toMatch(refusal);
});
