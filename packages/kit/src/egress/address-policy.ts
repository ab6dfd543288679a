import ipaddr from 'ipaddr.js'
import { AppError } from '../errors.ts'

/** The reason why an address may not be reached, from a closed list: each word is a metric label. */
type AddressBlock = 'not_an_address' | 'denied_by_operator' | 'metadata_service' | 'not_public'

/** `public`: anyone may use the address. `allowed`: only because the operator allowed its network. */
type AddressVerdict =
  | { kind: 'public' }
  | { kind: 'allowed' }
  | { kind: 'blocked'; reason: AddressBlock; detail: string }

export interface AddressPolicy {
  /** Classifies an IP literal without brackets. Blocks text that is not an IP address. */
  classify(address: string): AddressVerdict
  /** True if the operator allowed a network that is not public. */
  readonly allowsAny: boolean
}

type Address = ipaddr.IPv4 | ipaddr.IPv6
export type Network = [Address, number]

/**
 * Addresses that return credentials to any client. They stay blocked inside an allowed network, because an
 * operator who allows 169.254.0.0/16, or the NAT64 prefix of a cluster, does not intend to allow these addresses.
 * 168.63.129.16 (Azure) is in public address space.
 */
const METADATA_SERVICES: readonly Network[] = [
  '169.254.169.254/32',
  '169.254.170.2/32',
  '169.254.170.23/32',
  '168.63.129.16/32',
  '100.100.100.200/32',
  '192.0.0.192/32',
  'fd00:ec2::254/128',
  'fd00:ec2::23/128',
  'fd20:ce::254/128',
].map(cidr => ipaddr.parseCIDR(cidr))

/**
 * The only IPv6 space that is routed publicly. ipaddr.js classifies IPv4-compatible addresses (::a.b.c.d) as unicast,
 * but they are not in this space.
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Creates the policy for addresses that requests may reach: deny lists first, then the operator's allow list, then
 * public unicast only.
 * @param lists CIDRs (`10.0.0.0/8`, `fd00::/8`) or single addresses
 * @throws AppError `config_invalid` for an entry that is neither
 */
export function createAddressPolicy(lists: {
  allowCidrs: readonly string[]
  denyCidrs: readonly string[]
}): AddressPolicy {
  const allowed = lists.allowCidrs.map(parseNetwork)
  const denied = lists.denyCidrs.map(parseNetwork)
  return {
    allowsAny: allowed.length > 0,
    classify(text) {
      const address = parseAddress(text)
      if (address === undefined) return { kind: 'blocked', reason: 'not_an_address', detail: 'unparsable' }
      const places = [address, ...embeddedAddress(address)]
      if (places.some(place => contains(denied, place))) {
        return { kind: 'blocked', reason: 'denied_by_operator', detail: 'deny list' }
      }
      if (places.some(place => contains(METADATA_SERVICES, place))) {
        return { kind: 'blocked', reason: 'metadata_service', detail: 'metadata service' }
      }
      if (contains(allowed, address)) return { kind: 'allowed' }
      const range = publicRange(address)
      return range === 'unicast' ? { kind: 'public' } : { kind: 'blocked', reason: 'not_public', detail: range }
    },
  }
}

/**
 * Returns a function that checks whether an address is in one of these networks.
 * @param cidrs as for createAddressPolicy
 * @throws AppError `config_invalid`
 */
export function createNetworkMatcher(cidrs: readonly string[]): (address: string) => boolean {
  const networks = cidrs.map(parseNetwork)
  return text => {
    const address = networks.length === 0 ? undefined : parseAddress(text)
    return address !== undefined && contains(networks, address)
  }
}

/**
 * Parses an address and converts an IPv4-mapped IPv6 address to IPv4. Undefined if the text is not an address or names
 * an interface (`%eth0`).
 */
export function parseAddress(text: string): Address | undefined {
  if (text.includes('%') || !ipaddr.isValid(text)) return undefined
  // ipaddr.js accepts 127.1 and 0x7f.1 as IPv4. The operating system never returns such text, so it is refused.
  if (!text.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(text)) return undefined
  return ipaddr.process(text)
}

/**
 * Prefixes whose addresses a translator maps to an embedded IPv4 address, with the index of the 16-bit part at which
 * that address starts.
 */
const TRANSLATED = (
  [
    ['64:ff9b::/96', 6], // NAT64 (RFC 6052)
    ['2002::/16', 1], // 6to4 (RFC 3056)
    ['::ffff:0:0:0/96', 6], // IPv4-translated (RFC 2765)
    ['::/96', 6], // IPv4-compatible (RFC 4291)
  ] as const
).map(([prefix, part]) => ({ network: ipaddr.IPv6.parseCIDR(prefix), part }))

/** The IPv4 addresses to which a translator would map this IPv6 address. */
function embeddedAddress(address: Address): ipaddr.IPv4[] {
  if (address.kind() === 'ipv4') return []
  const v6 = address as ipaddr.IPv6
  return TRANSLATED.filter(({ network }) => v6.match(network)).map(({ part }) => {
    const [high = 0, low = 0] = v6.parts.slice(part)
    return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff])
  })
}

/** The range name from ipaddr.js, or our own name for ranges that ipaddr.js wrongly classifies as unicast. */
function publicRange(address: Address): string {
  if (address.kind() === 'ipv4') return address.range()
  const v6 = address as ipaddr.IPv6
  if (!v6.match(GLOBAL_UNICAST)) return v6.range() === 'unicast' ? 'outside 2000::/3' : v6.range()
  // ISATAP (RFC 5214) embeds an IPv4 address after this interface id, so an address with a public prefix may lead to a
  // private network.
  const [, , , , high, low] = v6.parts
  if (low === 0x5efe && (high === 0 || high === 0x200)) return 'isatap'
  return v6.range()
}

export function contains(networks: readonly Network[], address: Address): boolean {
  return networks.some(([base, bits]) => base.kind() === address.kind() && address.match(base as never, bits))
}

/** Strict, because ipaddr.js parses 10/8 as 0.0.0.10 and 010.0.0.0/8 as octal. */
export function parseNetwork(text: string): Network {
  try {
    const [base = '', bits] = text.split('/')
    if (!base.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(base)) throw new Error('Not four decimal numbers')
    const address = ipaddr.parse(base)
    const network: Network =
      bits === undefined ? [address, address.kind() === 'ipv4' ? 32 : 128] : ipaddr.parseCIDR(text)
    // Addresses are compared in IPv4 form, so an IPv4-mapped network is converted, too.
    const isMapped = address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress() && network[1] >= 96
    return isMapped ? [(address as ipaddr.IPv6).toIPv4Address(), network[1] - 96] : network
  } catch (cause) {
    throw new AppError('config_invalid', `${JSON.stringify(text)} is not a network; write it like 10.0.0.0/8`, {
      cause,
    })
  }
}
