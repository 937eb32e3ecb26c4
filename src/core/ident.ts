/** The two parts of an `ident`. */
export interface Ident {
  /** The vendor's environment, such as `com.acme`; may hold periods. */
  environment: string;
  /** The vendor's customer, such as `customer-7`; holds no period. */
  tenant: string;
}

/**
 * Splits `com.acme.customer-7` into environment `com.acme` and tenant `customer-7`, at the last period.
 * @throws TypeError when there is no period or nothing before or after the last one.
 */
export function parseIdent(ident: string): Ident {
  const period = ident.lastIndexOf('.');
  if (period < 1 || period === ident.length - 1) {
    throw new TypeError('ident must be an environment, a period and a tenant, such as com.acme.customer-7');
  }
  return { environment: ident.slice(0, period), tenant: ident.slice(period + 1) };
}

/**
 * The inverse of `parseIdent`.
 * @throws TypeError when a part is empty or the tenant holds a period.
 */
export function joinIdent({ environment, tenant }: Ident): string {
  if (!environment || !tenant || tenant.includes('.')) {
    throw new TypeError('environment and tenant must not be empty, and the tenant must hold no period');
  }
  return `${environment}.${tenant}`;
}
