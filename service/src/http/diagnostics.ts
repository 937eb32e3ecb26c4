import * as z from 'zod';

/** Something that a build found in the user's source. */
export const diagnosticSchema = z
  .object({
    line: z.int().min(1),
    column: z.int().min(1).meta({ description: 'In UTF-16 code units.' }),
    message: z.string(),
    severity: z.enum(['error', 'warning', 'information']),
  })
  .meta({ id: 'Diagnostic' });
