import ipaddr from 'ipaddr.js'
import { AppError } from '../errors.ts'

/** Why an address may not be connected to. One closed list: the word becomes a metric label. */
export type AddressBlock = 'not_an_address' | 'denied_by_operator' | 'metadata_service' | 'not_public'

/** `public`: anyone may point here. `allowed`: only because the operator named its network. */
export type AddressVerdict =
  | { kind: 'public' }
  | { kind: 'allowed' }
  | { kind: 'blocked'; reason: AddressBlock; detail: string }

export interface AddressPolicy {
  /** Judges one IP literal without brackets. Anything that does not parse is blocked. */
  classify(address: string): AddressVerdict
  /** Whether the operator allowed any network that is not public. */
  readonly allowsAny: boolean
}

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = [Address, number]

/**
 * Addresses that hand out credentials to whoever asks. They stay blocked even inside an allowed network, because an
 * operator who allows 169.254.0.0/16 or 100.64.0.0/10 hardly means these. 168.63.129.16 (Azure) lies in public space.
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

/** The only IPv6 space that is routed publicly. ipaddr.js calls IPv4-compatible addresses (::a.b.c.d) unicast; this does not. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * The rule that decides which addresses deliveries may reach (R1.4): deny lists first, then the operator's allow list,
 * then public unicast only.
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
      if (contains(denied, address)) return { kind: 'blocked', reason: 'denied_by_operator', detail: 'deny list' }
      if (contains(METADATA_SERVICES, address)) {
        return { kind: 'blocked', reason: 'metadata_service', detail: 'metadata service' }
      }
      if (contains(allowed, address)) return { kind: 'allowed' }
      const range = publicRange(address)
      return range === 'unicast' ? { kind: 'public' } : { kind: 'blocked', reason: 'not_public', detail: range }
    },
  }
}

/** The address with an IPv4-mapped one unmapped; undefined when it does not parse or names an interface (`%eth0`). */
function parseAddress(text: string): Address | undefined {
  if (text.includes('%') || !ipaddr.isValid(text)) return undefined
  // ipaddr.js reads 127.1 and 0x7f.1 as IPv4; the operating system never hands those out, so they are refused.
  if (!text.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(text)) return undefined
  return ipaddr.process(text)
}

/** ipaddr.js's name of the range, or one of ours for what it would call unicast by mistake. */
function publicRange(address: Address): string {
  if (address.kind() === 'ipv4') return address.range()
  const v6 = address as ipaddr.IPv6
  if (!v6.match(GLOBAL_UNICAST)) return v6.range() === 'unicast' ? 'outside 2000::/3' : v6.range()
  // ISATAP (RFC 5214) carries an IPv4 address behind this interface id, so a public prefix may lead inside.
  const [, , , , high, low] = v6.parts
  if (low === 0x5efe && (high === 0 || high === 0x200)) return 'isatap'
  return v6.range()
}

function contains(networks: readonly Network[], address: Address): boolean {
  return networks.some(([base, bits]) => base.kind() === address.kind() && address.match(base as never, bits))
}

function parseNetwork(text: string): Network {
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text)
    const address = ipaddr.parse(text)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  } catch (cause) {
    throw new AppError('config_invalid', `${JSON.stringify(text)} is no network; write it like 10.0.0.0/8`, { cause })
  }
}
