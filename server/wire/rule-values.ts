// The values in a sentence about a broken rule.
import { z } from 'zod';

/** Limits, and names. Other text from the caller may be a secret. */
export const ruleValues = z
  .object({
    min: z.number(),
    max: z.number(),
    got: z.number(),
    line: z.number(),
    choices: z.array(z.string()),
    fields: z.array(z.string()),
    /** Such as `U+200B`. */
    character: z.string(),
    plan: z.string(),
    product: z.string(),
    /** A file or folder on the server. */
    path: z.string(),
    /** With its port, if it is about both. */
    address: z.string(),
    /** The host and name of a database. */
    database: z.string(),
    /** Of the operating system or a library, such as `EIO`. */
    code: z.string(),
    /** The subject of a certificate. */
    certificate: z.string(),
    /** Such as `EC P-384`. */
    key_type: z.string(),
    /** A timestamp. */
    time: z.string(),
  })
  .partial();

export type RuleValues = z.infer<typeof ruleValues>;
