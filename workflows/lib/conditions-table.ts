import type { ConditionUpdate } from '../../contracts/conditions.ts';

/** Conditions as a table of the Web UI's Markdown, line by line; no message breaks it. Pure. */
export const conditionsTable = (conditions: readonly ConditionUpdate[]): string[] => [
  '| condition | status | reason | message |',
  '| --- | --- | --- | --- |',
  ...conditions.map(
    ({ type, status, reason, message }) =>
      `| ${type} | ${status} | ${reason} | ${message.replaceAll('|', '\\|').replaceAll('\n', ' ')} |`,
  ),
];
