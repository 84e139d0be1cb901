import type { VcenterCredential } from '../../runtime/config/vsphere-settings.ts';
import { registerSecret } from '../../runtime/redaction.ts';
import { openSessions, type SessionOptions, type Sessions } from '../lib/session.ts';

/** vCenter locks users, by default after five refused logins. */
const refusalHoldsMs = 60_000;

/** Logins at one vCenter, by SOAP or by REST: what a request is sent with is the cookie. */
export const openVcenterSessions = <Session extends { cookie: string }>({
  logIn,
  ...options
}: Pick<SessionOptions<VcenterCredential, Session>, 'credential' | 'logIn' | 'clock'>): Sessions<Session> =>
  openSessions({
    ...options,
    logIn: (credential, signal) => {
      registerSecret(credential.password);
      return logIn(credential, signal);
    },
    secretOf: ({ cookie }) => cookie.slice(cookie.indexOf('=') + 1).replaceAll('"', ''),
    holdRefusal: { code: 'VsphereCredentialRefused', forMs: refusalHoldsMs },
  });
