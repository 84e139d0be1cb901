import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkoutDirectory } from '../../lab/context.ts';

/** What comments and documents cite is in the repository, and charts name functions and tests that are there. */

const read = (path: string): string => readFileSync(join(checkoutDirectory, path), 'utf8');

const folders =
  '{contracts,workflows,activities,runtime,workers,k8s-bridge,starters,lab,bench,deploy,test,bin,docs,evidence}';
const files = globSync([`${folders}/**/*.{ts,mjs,yaml,md}`, '*.{md,mjs,cjs,yaml,yml}'], {
  cwd: checkoutDirectory,
  exclude: ['**/node_modules/**', 'test/replay/histories/**', 'test/unit/documents.test.ts'],
});
const documents = files.filter((path) => path.endsWith('.md'));
const sources = files.filter((path) => !path.endsWith('.md'));

/** As GitHub makes them of headings; those of `id="…"` too. */
function anchorsIn(markdown: string): Set<string> {
  const prose = markdown.replaceAll(/^```.*?^```/gmsu, '');
  const slugs = [...prose.matchAll(/^#+ (?<heading>.+)$/gmu)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  );
  const ids = [...prose.matchAll(/id="(?<id>[^"]+)"/gu)].map(([, id = '']) => id);
  return new Set([...slugs, ...ids]);
}

/** What is wrong with a link to `path#anchor`; null: nothing. */
function brokenLink(path: string, anchor: string | undefined): string | null {
  if (!existsSync(join(checkoutDirectory, path))) return `${path} does not exist`;
  if (anchor === undefined || !path.endsWith('.md')) return null;
  return anchorsIn(read(path)).has(anchor) ? null : `${path} has no heading #${anchor}`;
}

const complaints = (paths: readonly string[], check: (path: string, text: string) => (string | null)[]): string[] =>
  paths.flatMap((path) =>
    check(path, read(path)).flatMap((complaint) => (complaint === null ? [] : [`${path}: ${complaint}`])),
  );

test('documents link to files and headings that exist', () => {
  const links = /(?:\]\(|^\[[^\]]+\]: )(?<target>[^)\s]+)/gmu;
  const broken = complaints(documents, (document, text) =>
    [...text.matchAll(links)].map(([, target = '']) => {
      if (/^(?:[a-z]+:|<)/u.test(target)) return null;
      const [path = '', anchor] = target.split('#');
      return brokenLink(path === '' ? document : join(dirname(document), path), anchor);
    }),
  );
  expect(broken).toEqual([]);
});

/** The comments of a source, and what it says of `docs/…` elsewhere. */
const prose = (line: string): string =>
  line.includes('docs/')
    ? line
    : (/(?:^\s*(?:\/?\*|#)|\/\/|\/\*)(?<comment>.*)/u.exec(line)?.groups?.['comment'] ?? '');

test('comments and messages cite documents that exist, by their path from the top of the repository', () => {
  const citation = /(?<!\]\()(?:\.\.\/)*\b(?<path>[\w-]+(?:\/[\w.-]+)*\.md)(?:#(?<anchor>[\w-]+))?/gu;
  const broken = complaints(sources, (_path, text) =>
    text
      .split('\n')
      .flatMap((line) => [...prose(line).matchAll(citation)].map(([, path = '', anchor]) => brokenLink(path, anchor))),
  );
  expect(broken).toEqual([]);
});

test('documents name files that exist', () => {
  // Decisions and records describe the past.
  const current = documents.filter((path) => !/^(?:docs\/adr|evidence)\/|track-record/u.test(path));
  const named =
    /`(?<path>(?:contracts|workflows|activities|runtime|workers|k8s-bridge|starters|lab|test|bench|deploy|docs)\/[\w./-]+\.\w+)`/gu;
  expect(
    complaints(current, (_path, text) => [...text.matchAll(named)].map(([, path = '']) => brokenLink(path, undefined))),
  ).toEqual([]);
});

test('nothing cites a document that a reader does not have', () => {
  const unknown = /\b(?:design section|seed 00\d\b|the seed[’']s (?:chart|order))/iu;
  expect(complaints(files, (_path, text) => [unknown.exec(text)?.[0] ?? null])).toEqual([]);
});

test('documents are wrapped at 120 columns, but for tables, code and what a command writes', () => {
  const written = documents.filter(
    (path) => /^(?:docs\/|[^/]+$)/u.test(path) && !read(path).startsWith('<!-- Written by'),
  );
  const wrapped = (text: string): string =>
    text
      .replaceAll(/^ *```.*?^ *```/gmsu, '')
      .replaceAll(/^<!-- written by .*?^<!-- end -->/gmsu, '')
      .replaceAll(/^ *\|.*/gmu, '')
      // A line has no place to break in them.
      .replaceAll(/`[^`\n]*`|\[[^\]\n]*\]\([^)\n]*\)/gu, 'x');
  expect(
    complaints(written, (_path, text) =>
      wrapped(text)
        .split('\n')
        .map((line) => (line.length > 120 ? line : null)),
    ),
  ).toEqual([]);
});

const charts = documents.filter((path) => path.startsWith('docs/charts/'));

test.each(charts)('%s names functions and rows of tests that are there', (chart) => {
  const text = read(chart);
  const targets = new Map(
    [...text.matchAll(/^\[(?<name>[\w-]+)\]: (?<path>\S+)$/gmu)].map(([, name = '', path = '']) => [
      name,
      join(dirname(chart), path),
    ]),
  );
  const used = [...text.matchAll(/\[(?<what>[^\]]+)\]\[(?<name>[\w-]+)\]/gu)].map(
    ([, what = '', name = '']) => [what.replaceAll('`', ''), name] as const,
  );
  const wrong = used.flatMap(([what, name]) => {
    const path = targets.get(name);
    if (path === undefined) return [`[${name}] is not defined at the end of the page`];
    if (!existsSync(join(checkoutDirectory, path))) return [`${what}: there is no ${path}`];
    if (path.endsWith(what) || read(path).includes(what)) return [];
    const now = sources.filter((source) => read(source).includes(`function ${what}(`));
    return [`“${what}” is not in ${path}${now.length > 0 ? `, but in ${now.join(', ')}` : ''}`];
  });
  expect([...new Set(wrong)]).toEqual([]);
  expect([...targets.keys()].filter((name) => used.every(([, one]) => one !== name))).toEqual([]);
});
