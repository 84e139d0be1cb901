/**
 * Where a run is shown in Temporal's Web UI; null when no setting says where that is. Neither Temporal's profiles nor
 * its variables name the Web UI, so drover has a variable of its own.
 *
 * @see DROVER_WEB_UI in docs/commands.md
 */
export function webUiLink(
  namespace: string,
  workflowId: string,
  runId: string | null,
  env: NodeJS.ProcessEnv,
): string | null {
  const base = env['DROVER_WEB_UI'] ?? '';
  if (base === '') return null;
  const path = ['namespaces', namespace, 'workflows', workflowId, ...(runId === null ? [] : [runId, 'history'])];
  return `${base.replace(/\/+$/, '')}/${path.map(encodeURIComponent).join('/')}`;
}
