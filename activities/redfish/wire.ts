import { z } from 'zod';

/** What a BMC answers, as far as drover reads it. Unknown fields are ignored; OData allows null for almost everything. */

const link = z.looseObject({ '@odata.id': z.string() });

export const serviceRoot = z.looseObject({
  Systems: link.optional(),
  Links: z.looseObject({ Sessions: link.optional() }).optional(),
});

export const collection = z.looseObject({ Members: z.array(link), 'Members@odata.nextLink': z.string().optional() });

export const computerSystem = z.looseObject({
  UUID: z.string().nullish(),
  SerialNumber: z.string().nullish(),
  PowerState: z.string().nullish(),
  Actions: z
    .looseObject({
      '#ComputerSystem.Reset': z
        .looseObject({ target: z.string(), 'ResetType@Redfish.AllowableValues': z.array(z.string()).nullish() })
        .optional(),
    })
    .nullish(),
});
export type WireSystem = z.infer<typeof computerSystem>;

/** `{ "error": { "message": "…", "@Message.ExtendedInfo": [{ "Message": "…" }] } }`; the extended ones say what is the matter. */
export const errorAnswer = z.looseObject({
  error: z.looseObject({
    message: z.string().optional(),
    '@Message.ExtendedInfo': z.array(z.looseObject({ Message: z.string().optional() })).optional(),
  }),
});
