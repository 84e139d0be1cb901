import { join } from 'node:path';
import { stringify } from 'yaml';
import { writePrivateFile } from '../private-files.ts';
import type { CloudName } from './handle.ts';
import type { Settings } from './settings.ts';

export const REGION = 'RegionOne';

/** Files of mode 0600, by what they hold. */
export interface CredentialFiles {
  readonly cloudsFile: string;
  readonly openrcFile: string;
  readonly controlTokenFile: string;
}

export function writeCredentials(settings: Settings, authUrl: string): CredentialFiles {
  const files = {
    cloudsFile: join(settings.directory, 'clouds.yaml'),
    openrcFile: join(settings.directory, 'openrc'),
    controlTokenFile: join(settings.directory, 'control.token'),
  };
  writePrivateFile(files.cloudsFile, stringify({ clouds: describeClouds(settings, authUrl) }));
  writePrivateFile(files.openrcFile, openrc(settings, authUrl));
  writePrivateFile(files.controlTokenFile, settings.secrets.controlToken);
  return files;
}

function describeClouds({ secrets }: Settings, authUrl: string): Record<CloudName, object> {
  const common = { region_name: REGION, interface: 'public', identity_api_version: 3 };
  const password = (username: string, value: string) => ({
    ...common,
    auth_type: 'v3password',
    auth: {
      auth_url: authUrl,
      username,
      password: value,
      project_name: 'admin',
      user_domain_name: 'Default',
      project_domain_name: 'Default',
    },
  });
  return {
    lab: {
      ...common,
      auth_type: 'v3applicationcredential',
      auth: {
        auth_url: authUrl,
        application_credential_id: secrets.applicationCredentialId,
        application_credential_secret: secrets.applicationCredentialSecret,
      },
    },
    'lab-password': password('drover', secrets.droverPassword),
    'lab-admin': password('admin', secrets.adminPassword),
    'lab-member': password('member', secrets.memberPassword),
  };
}

function openrc({ secrets }: Settings, authUrl: string): string {
  const variables = {
    OS_AUTH_TYPE: 'v3applicationcredential',
    OS_AUTH_URL: authUrl,
    OS_APPLICATION_CREDENTIAL_ID: secrets.applicationCredentialId,
    OS_APPLICATION_CREDENTIAL_SECRET: secrets.applicationCredentialSecret,
    OS_REGION_NAME: REGION,
    OS_INTERFACE: 'public',
    OS_IDENTITY_API_VERSION: '3',
  };
  return `${Object.entries(variables)
    .map(([name, value]) => `export ${name}=${value}`)
    .join('\n')}\n`;
}
