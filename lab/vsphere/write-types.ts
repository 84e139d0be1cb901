import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, checkoutDirectory } from '../context.ts';
import { ensureGo } from '../go.ts';
import type { LabContext } from '../part.ts';
import { cacheDirectory } from '../../runtime/cache.ts';

/**
 * `npm run vim-types` writes what the codec knows of vim25 (activities/vsphere/wire/vim/) from the selection beside it,
 * and from the types of govmomi at the version that lab/tools/vsphere pins; with `--check` it compares, and exits 1
 * when they differ.
 */

const wire = join(checkoutDirectory, 'activities', 'vsphere', 'wire');
const module = join(checkoutDirectory, 'lab', 'tools', 'vsphere');
const TIMEOUT_MS = 30 * 60_000;

/** Writes the files into `output`. */
async function generate(context: LabContext, output: string): Promise<void> {
  const go = await ensureGo(context);
  const run = (...args: string[]): Promise<string> =>
    context.exec({
      command: go,
      args,
      cwd: module,
      env: { CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOFLAGS: '-buildvcs=false', GOWORK: 'off' },
      timeoutMs: TIMEOUT_MS,
    });
  await run('mod', 'download', 'github.com/vmware/govmomi');
  const types = (await run('list', '-m', '-f', '{{.Dir}}', 'github.com/vmware/govmomi')).trim();
  // The same flags as the lab's programs are built with: what is compiled once serves both.
  await run('run', '-trimpath', './cmd/vimtypes', join(types, 'vim25', 'types'), join(wire, 'selection.txt'), output);
}

/** What differs from what is checked in; empty: nothing. */
export async function typesThatDrifted(report: (line: string) => void = () => undefined): Promise<string[]> {
  return inScratch(report, async (context, scratch) => {
    await generate(context, scratch);
    const read = (folder: string, file: string): string | null =>
      existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : null;
    const files = new Set([...readdirSync(scratch), ...readdirSync(join(wire, 'vim'))]);
    return [...files].filter((file) => read(scratch, file) !== read(join(wire, 'vim'), file));
  });
}

async function inScratch<Result>(
  report: (line: string) => void,
  work: (context: LabContext, scratch: string) => Promise<Result>,
): Promise<Result> {
  const dir = mkdtempSync(join(tmpdir(), 'drover-vim-types-'));
  const scratch = mkdtempSync(join(dir, 'out-'));
  try {
    return await work(
      createContext({
        part: 'vsphere',
        labDir: join(dir, 'lab'),
        cacheDir: cacheDirectory(),
        signal: new AbortController().signal,
        report,
      }),
      scratch,
    );
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const report = (line: string): void => void process.stderr.write(`${line}\n`);
  if (process.argv.includes('--check')) {
    const drifted = await typesThatDrifted(report);
    for (const file of drifted)
      report(`activities/vsphere/wire/vim/${file} is not what its selection and govmomi make of it.`);
    if (drifted.length > 0) {
      report('Run `npm run vim-types` and commit the result.');
      process.exitCode = 1;
    }
  } else {
    await inScratch(report, (context) => generate(context, join(wire, 'vim')));
  }
}
