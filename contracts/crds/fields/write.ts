import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { toCustomResourceDefinition } from '../custom-resource-definition.ts';
import { definitions } from '../definitions.ts';
import { leavesOf, problemsOf, rowOf, type World } from './check.ts';
import type { FieldRow } from './field.ts';
import { fieldTable, refusedByKind } from './table.ts';

/**
 * `npm run crds` writes docs/fields.md from the rows beside this file; `npm run crds:check` compares, and exits 1 where
 * they differ, where a field has no row, and where a row claims what is not so. `--problems` only lists the latter.
 */
const root = new URL('../../../', import.meta.url);
const read = (path: string): string | null => {
  try {
    return readFileSync(fileURLToPath(new URL(path, root)), 'utf8');
  } catch {
    return null;
  }
};

const kinds = Object.keys(fieldTable);
const classified = definitions
  .map((definition) => ({
    kind: definition.kind,
    leaves: leavesOf(toCustomResourceDefinition(definition).spec.versions[0]?.schema.openAPIV3Schema ?? {}),
    rows: fieldTable[definition.kind] ?? {},
    refused: refusedByKind[definition.kind] ?? {},
  }))
  .toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind));

const world: World = { moduleText: read, limits: read('docs/limits.md') ?? '' };

function describe(row: FieldRow, refused: string): [state: string, how: string] {
  switch (row.is) {
    case 'implemented':
      return ['implemented', row.modules.map((module) => `\`${module}\``).join(', ')];
    case 'informational':
      return ['informational', row.note];
    case 'refused':
      return [
        'refused',
        refused === '' ? `\`${row.reason}\`: \`${row.module}\`` : `\`${row.reason}\`: drover does not ${refused}`,
      ];
    case 'notApplicable':
      return ['not written', row.note];
  }
}

const count = (is: FieldRow['is']): number =>
  classified.flatMap(({ leaves, rows }) => leaves.filter((leaf) => rowOf(rows, leaf)?.row.is === is)).length;

function renderKind({ kind, leaves, rows, refused }: (typeof classified)[number]): string {
  const keys = [...new Set(leaves.flatMap((leaf) => rowOf(rows, leaf)?.key ?? []))];
  const lines = keys.map((key) => {
    const row = rows[key];
    const why = Object.entries(refused).find(([path]) => key.startsWith(`spec.${path}`))?.[1].not ?? '';
    return row === undefined ? '' : `| \`${key}\` | ${describe(row, why).join(' | ')} |`;
  });
  return `## ${kind}\n\n| field | drover | where, or why |\n|---|---|---|\n${lines.join('\n')}\n`;
}

const page = `<!-- Written by contracts/crds/fields/write.ts. Do not edit; run: npm run crds -->

# What becomes of each field

Nothing that drover's definitions accept is passed over in silence. Each field of each custom resource that drover defines is

- **implemented**: drover reads it, or writes it, in the first of the modules; the others decide on it. \`npm run crds:check\` verifies that the
  field's name stands there;
- **informational**: it is for users, or for another controller;
- **refused**: drover does not do that. Where upstream's own definitions are installed, or the object was there before, the condition says so
  (\`SpecSupported\` of a VirtualMachine: \`NotSupported\`), and a new VM is not made; drover's own definitions have a rule on the field, by which
  kube-apiserver refuses it. A field that is set and is not changed stays;
- **not written**: a field of a status that is never there. [limits.md](limits.md#fields-of-a-status-that-are-not-written) lists them.

A row that ends in \`.**\` stands for all below it that has no row of its own. ${count('implemented')} fields are implemented,
${count('informational')} informational, ${count('refused')} refused, ${count('notApplicable')} not written.

${classified.map(renderKind).join('\n')}`;

const problems = classified.flatMap((one) => problemsOf(one, world));
const path = fileURLToPath(new URL('docs/fields.md', root));
if (process.argv.includes('--check') && read('docs/fields.md') !== page)
  problems.push('docs/fields.md differs from contracts/crds/fields. Run `npm run crds` and commit the result.');
else if (!process.argv.includes('--check') && !process.argv.includes('--problems')) writeFileSync(path, page);
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
}
