import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

import type { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';

/**
 * `tokenFile` of users, which the client library does not know: without a word its requests would be anonymous. As for
 * kubectl, the file wins over a token beside it. It is read for each request, as its issuer renews such tokens.
 *
 * @param files the kubeconfigs that `config` was read from; paths in each are relative to its folder
 */
export function useTokenFiles(config: KubeConfig, files: readonly string[]): void {
  const paths = new Map(files.flatMap(tokenFilesIn));
  if (paths.size === 0) return;
  config.users = config.users.map(({ token, ...user }) =>
    token === undefined || paths.has(user.name) ? user : { ...user, token },
  );
  let last: { path: string; token: string } | null = null;
  config.addAuthenticator({
    isAuthProvider: ({ name }) => paths.has(name),
    async applyAuthentication({ name }, options) {
      const path = paths.get(name) ?? '';
      const token = (await readFile(path, 'utf8')).trim();
      // It may be read in the middle of being written.
      if (token !== '') last = { path, token };
      else if (last?.path !== path) throw new Error(`the token file ${path} is empty`);
      options.headers = { ...options.headers, Authorization: `Bearer ${last.token}` };
    },
  });
}

interface UserEntry {
  name?: unknown;
  user?: { tokenFile?: unknown } | null;
}

/** Of a file that the client library has read already: what is wrong with the rest of it, that has said. */
function tokenFilesIn(file: string): [user: string, path: string][] {
  const { users } = Object(parse(readFileSync(file, 'utf8'), { merge: true })) as { users?: (UserEntry | null)[] };
  if (!Array.isArray(users)) return [];
  return users.flatMap((entry) => {
    const path = entry?.user?.tokenFile;
    return typeof entry?.name === 'string' && typeof path === 'string' && path !== ''
      ? [[entry.name, resolve(dirname(file), path)]]
      : [];
  });
}
