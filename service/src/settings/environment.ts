/** Variables of the environment, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;
