import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { metrics } from '../contracts/metrics.ts';
import { checkoutDirectory } from '../lab/context.ts';

export const rulesFile = join(checkoutDirectory, 'deploy/alerts/drover.yaml');
const dashboardFile = join(checkoutDirectory, 'deploy/grafana/drover.json');

export interface AlertRule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: Record<string, string>;
}

export interface Panel {
  title: string;
  description: string;
  targets: { expr: string }[];
}

export const readRules = (): AlertRule[] =>
  (parse(readFileSync(rulesFile, 'utf8')) as { groups: { rules: AlertRule[] }[] }).groups.flatMap(({ rules }) => rules);
export const readPanels = (): Panel[] =>
  (JSON.parse(readFileSync(dashboardFile, 'utf8')) as { panels: Panel[] }).panels;

/** The series that an expression asks for, as they are called on a page. */
export const seriesIn = (expression: string): string[] => [
  ...new Set(expression.match(/\b(?:drover|temporal|process|nodejs)_[a-z_]+/gu) ?? []),
];

/** What a row of the table is called on a page; histograms are three series. */
export const seriesOfTable: ReadonlyMap<string, readonly string[]> = new Map(
  Object.values(metrics).flatMap(({ name, kind, labels }): [string, readonly string[]][] =>
    kind === 'histogram'
      ? [
          [`${name}_bucket`, [...labels, 'le']],
          [`${name}_sum`, labels],
          [`${name}_count`, labels],
        ]
      : [[name, labels]],
  ),
);
