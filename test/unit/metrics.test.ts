import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { metrics } from '../../contracts/metrics.ts';
import { checkoutDirectory } from '../../lab/context.ts';
import { readPanels, readRules, rulesFile, seriesIn, seriesOfTable } from '../metric-names.ts';

const rules = readRules();
const panels = readPanels();
const guide = readFileSync(join(checkoutDirectory, 'docs/observability.md'), 'utf8');

const expressions: [where: string, expression: string][] = [
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }): [string, string] => [`panel ${title}`, expr])),
];

test.each(expressions)('%s asks for metrics that exist, by labels that they have', (_where, expression) => {
  const ours = seriesIn(expression).filter((name) => name.startsWith('drover_'));
  for (const name of ours) {
    const labels = seriesOfTable.get(name);
    expect([name, labels === undefined ? 'is not in contracts/metrics.ts' : 'exists']).toEqual([name, 'exists']);
    for (const [, matchers = ''] of expression.matchAll(new RegExp(`${name}\\{(?<matchers>[^}]*)\\}`, 'gu'))) {
      for (const [, label = ''] of matchers.matchAll(/(?<label>\w+)\s*[=!]/gu))
        expect([name, labels]).toEqual([name, expect.arrayContaining([label])]);
    }
  }
});

/** Prometheus adds the first three, the SDK the others. */
const foreignLabels = ['cluster', 'instance', 'job', 'task_queue', 'worker_type', 'le'];

test.each(expressions)('%s groups by labels that its metrics have', (_where, expression) => {
  const own = seriesIn(expression).flatMap((name) => [...(seriesOfTable.get(name) ?? [])]);
  for (const [, list = ''] of expression.matchAll(/\b(?:by|on)\s*\((?<list>[^)]*)\)/gu)) {
    for (const label of list.split(',').map((one) => one.trim())) expect([...own, ...foreignLabels]).toContain(label);
  }
});

test('every alert says what it means, what to type, and where more stands', () => {
  for (const { alert, labels, annotations } of rules) {
    expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(critical|warning|info)$/u)]);
    expect([alert, Object.keys(annotations).sort()]).toEqual([alert, ['description', 'runbook', 'summary', 'type']]);
    expect(annotations['runbook']).toBe(`docs/observability.md#${alert.toLowerCase()}`);
    expect(guide).toContain(`### ${alert}\n`);
  }
});

test('every panel says what it shows', () => {
  expect(panels.filter(({ description }) => description.length < 10).map(({ title }) => title)).toEqual([]);
});

test('docs/observability.md has the table of metrics', () => {
  const rows = Object.values(metrics).map(
    ({ name, kind, labels, from, help }) =>
      `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${from.join(', ')} | ${help} |`,
  );
  expect(guide.split('\n').filter((line) => line.startsWith('| `drover_'))).toEqual(rows);
});

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

/** Debian's package `prometheus` has it; where it is missing, `npm test` lists what is skipped. */
(hasPromtool ? describe : describe.skip)('Prometheus’ own promtool', () => {
  const promtool = (...args: string[]): { status: number | null; output: string } => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
    return { status, output: stdout + stderr };
  };

  test('takes the alert rules', () => {
    expect(promtool('check', 'rules', rulesFile)).toEqual({
      status: 0,
      output: expect.stringContaining(`SUCCESS: ${rules.length} rules found`),
    });
  });

  test('finds that they fire when they should, and not when they should not', () => {
    expect(promtool('test', 'rules', join(dirname(rulesFile), 'drover.test.yaml'))).toEqual({
      status: 0,
      output: expect.stringContaining('SUCCESS'),
    });
  });
});
