import * as z from 'zod';

/** After how many faults an array is not looked at any further. */
const maxIssues = 10;

/**
 * A schema of arrays that may be long and are given by strangers. Its items are checked one by one, and no further once there
 * are more faults than anybody is told; and none of them where there are more than `most`. What the items are read to is
 * dropped: they stay as they were given.
 */
export function boundedArray<Item extends z.ZodType>(
  item: Item,
  most: number,
  what: string,
): z.ZodType<z.output<Item>[], z.input<Item>[]> {
  const { $schema: _, ...items } = z.toJSONSchema(item, { io: 'input' });
  const schema = z
    .array(z.unknown())
    .superRefine((given, context) => {
      if (given.length > most) {
        const message = `expected at most ${most} ${what}, received ${given.length}`;
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
    .meta({ items, maxItems: most });
  return schema as unknown as z.ZodType<z.output<Item>[], z.input<Item>[]>;
}
