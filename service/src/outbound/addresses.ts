import ipaddr from 'ipaddr.js';

/** What IPv6 has assigned for addresses of the public network; all else, such as IPv4-compatible addresses, is not. */
const globalUnicast = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/** What is assigned for protocols, such as benchmarks and Teredo, which `range` knows in part. */
const ofProtocols = ipaddr.parseCIDR('2001::/23') as [ipaddr.IPv6, number];

/**
 * Whether an address is one of the public network: unicast, and not private, local, reserved or for documentation. IPv4 that is
 * mapped into IPv6 is judged as IPv4; other forms of IPv4 within IPv6 (NAT64, 6to4, Teredo) are not public, because they may lead
 * to a private address.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address) || address.includes('%')) return false;
  const ip = ipaddr.process(address);
  if (ip.range() !== 'unicast') return false;
  return ip instanceof ipaddr.IPv4 || (ip.match(globalUnicast) && !ip.match(ofProtocols));
}
