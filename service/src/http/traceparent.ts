/**
 * The trace context of a request, as W3C Trace Context says, if its header can be used. It is logged, recorded and passed on as it is,
 * because the service has no spans; another value starts no trace.
 */
export const readTraceparent = (header: string | undefined): string | undefined =>
  header !== undefined && pattern.test(header) ? header : undefined;

/** Version, trace, parent and flags. The version `ff` and ids of zeros alone are invalid. */
const pattern = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;
