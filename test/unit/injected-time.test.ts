import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow } from '../../runtime/cache.ts';

/**
 * Whose time is injected. `.oxlintrc.json` refuses the other ways to the machine's clock; it has no rule for this one.
 */
const folders = ['activities', 'k8s-bridge', 'runtime', 'workers'];

test.each(folders)('no file of %s takes the present from the machine by `new Date()`', (folder) => {
  const files = filesBelow(folder).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  expect(files).not.toEqual([]);
  expect(files.filter((file) => /new Date\(\s*\)/u.test(readFileSync(join(folder, file), 'utf8')))).toEqual([]);
});
