import * as z from 'zod';

/** After how many problems the rest of an array is not validated. */
const maxIssues = 10;

/**
 * A schema of arrays from clients, which may be long. Where there are more than `max` items, none is validated; otherwise
 * validation stops once there are more problems than a response names. Parsing returns the items as they were sent: transforms
 * and defaults of their schema have no effect.
 */
export function boundedArray<Item extends z.ZodType>(
  item: Item,
  max: number,
  itemsLabel: string,
): z.ZodType<z.output<Item>[], z.input<Item>[]> {
  const { $schema: _, ...items } = z.toJSONSchema(item, { io: 'input' });
  const schema = z
    .array(z.unknown())
    .superRefine((given, context) => {
      if (given.length > max) {
        const message = `expected at most ${max} ${itemsLabel}, received ${given.length}`;
        context.addIssue({ code: 'custom', message });
        return;
      }
      let found = 0;
      for (const [i, one] of given.entries()) {
        const { error } = item.safeParse(one);
        for (const { path, message } of error?.issues ?? []) {
          context.addIssue({ code: 'custom', path: [i, ...path], message });
          found += 1;
        }
        if (found > maxIssues) return;
      }
    })
    .meta({ items, maxItems: max });
  return schema as unknown as z.ZodType<z.output<Item>[], z.input<Item>[]>;
}
