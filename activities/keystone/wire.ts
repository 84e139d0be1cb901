import { z } from 'zod';

import type { Credential } from '../../runtime/config/openstack-settings.ts';

/** Body of `POST /v3/auth/tokens`. An application credential carries its project and takes no scope. */
export function loginBody(credential: Credential): unknown {
  if (credential.method === 'password') {
    const { user, password, project } = credential;
    return {
      auth: { identity: { methods: ['password'], password: { user: { ...user, password } } }, scope: { project } },
    };
  }
  const { secret } = credential;
  const which = 'id' in credential ? { id: credential.id } : { name: credential.name, user: credential.user };
  return { auth: { identity: { methods: ['application_credential'], application_credential: { ...which, secret } } } };
}

/** The answer, as far as drover reads it. @see Identity API v3, "Password authentication with scoped authorization" */
export const tokenAnswer = z.object({
  token: z.looseObject({
    issued_at: z.iso.datetime({ offset: true }),
    expires_at: z.iso.datetime({ offset: true }),
    user: z.looseObject({ name: z.string() }),
    project: z.looseObject({ id: z.string().optional(), name: z.string() }).optional(),
    roles: z.array(z.looseObject({ name: z.string() })).optional(),
    catalog: z
      .array(
        z.looseObject({
          type: z.string(),
          endpoints: z.array(
            z.looseObject({
              interface: z.string(),
              region_id: z.string().nullish(),
              region: z.string().nullish(),
              url: z.string(),
            }),
          ),
        }),
      )
      .optional(),
  }),
});
export type WireToken = z.infer<typeof tokenAnswer>['token'];
