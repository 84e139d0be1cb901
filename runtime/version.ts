import { readFileSync } from 'node:fs';

/** drover's own, from package.json. */
export const readVersion = (): string =>
  (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version;
