import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { OpenStackHandle } from '../../lab/openstack/handle.ts';
import { writePrivateFile } from '../../lab/private-files.ts';

interface Cloud {
  auth: Record<string, string>;
}

/** Writes a clouds.yaml with the lab's cloud, changed. Resolves to the variable that makes drover take it. */
export function writeOwnCloud(
  { cloudsFile }: Pick<OpenStackHandle, 'cloudsFile'>,
  dir: string,
  change: (cloud: Cloud) => object,
): { OS_CLIENT_CONFIG_FILE: string } {
  const { clouds } = parse(readFileSync(cloudsFile, 'utf8')) as { clouds: { lab: Cloud } };
  const file = join(dir, 'clouds.yaml');
  writePrivateFile(file, stringify({ clouds: { lab: change(clouds.lab) } }));
  return { OS_CLIENT_CONFIG_FILE: file };
}

/** The lab's cloud, with another secret of its application credential. */
export const withSecret =
  (secret: string) =>
  ({ auth, ...cloud }: Cloud): object => ({ ...cloud, auth: { ...auth, application_credential_secret: secret } });
