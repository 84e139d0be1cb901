import { webUiLink } from './web-ui.ts';

test.each<[why: string, base: string | undefined, runId: string | null, link: string | null]>([
  [
    'a run',
    'http://127.0.0.1:8233',
    'r-1',
    'http://127.0.0.1:8233/namespaces/default/workflows/eviction%2Fnode-1/r-1/history',
  ],
  ['all runs of the id', 'http://ui/', null, 'http://ui/namespaces/default/workflows/eviction%2Fnode-1'],
  ['no address is set', undefined, 'r-1', null],
  ['an empty variable', '', 'r-1', null],
])('%s', (_why, base, runId, link) => {
  expect(webUiLink('default', 'eviction/node-1', runId, base === undefined ? {} : { DROVER_WEB_UI: base })).toBe(link);
});
