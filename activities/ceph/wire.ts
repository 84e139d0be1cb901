import { z } from 'zod';

/** Answer to `POST /api/auth`, as far as drover reads it. @see https://docs.ceph.com/en/latest/mgr/ceph_api/ */
export const tokenAnswer = z.object({ token: z.string().min(1), pwdUpdateRequired: z.boolean().optional() });

/** Answer to `GET /api/health/minimal`. All else in it depends on what the user may read. */
export const healthAnswer = z.object({
  health: z.object({
    status: z.string(),
    checks: z.array(
      z.object({
        type: z.string(),
        severity: z.string(),
        summary: z.object({ message: z.string() }),
        muted: z.boolean().optional(),
      }),
    ),
  }),
});

/** Answer to `GET /api/pool`. */
export const poolsAnswer = z.array(z.object({ pool_name: z.string(), application_metadata: z.array(z.string()) }));

/** An answer that says no. */
export const refusalAnswer = z.object({
  detail: z.string(),
  code: z.string().optional(),
  request_id: z.string().optional(),
});
