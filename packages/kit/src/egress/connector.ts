import type { LookupAddress } from 'node:dns'
import { isIP, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import type { AddressPolicy } from './address-policy.ts'
import { type EgressBlock, egressBlocked, egressFailed } from './failure.ts'
import { isOwnAddress } from './own-address.ts'
import type { Resolve } from './resolver.ts'
import { type AddressDemand, hostWithoutBrackets, judgeTarget } from './url-policy.ts'

/**
 * The three points at which an address is checked. Each covers a gap of the others: Node.js does not look up a literal,
 * a name may resolve to any address, and only the connected socket shows its real peer.
 */
export const CONNECTION_CHECKS = ['literal', 'resolved', 'socket'] as const
export type ConnectionCheck = (typeof CONNECTION_CHECKS)[number]

export type Connector = ReturnType<typeof buildConnector>

export interface ConnectorOptions {
  readonly addresses: AddressPolicy
  readonly resolve: Resolve
  /** Replaced only by tests, to show which requests a missing check lets through. */
  readonly checks?: readonly ConnectionCheck[]
  /** Replaced only by tests, to simulate a network that connects to another address. */
  readonly dial?: (options: buildConnector.BuildOptions) => Connector
  /**
   * Ports on which this process listens. They are refused on all addresses of this machine, even if the policy permits
   * the address.
   */
  readonly ownPorts?: ReadonlySet<number>
  readonly connectTimeoutMs: number
  /** Maximum number of open sockets of the whole process. */
  readonly maxSockets: number
  readonly verifyTls: boolean
}

/**
 * Time after which the next address is tried, in milliseconds, with the other family first. The last address gets all
 * remaining time. A shorter time would cut off slow receivers, because Node.js ends one attempt before it starts
 * another.
 */
const NEXT_ADDRESS_AFTER_MS = 500

/**
 * Creates a connector for undici that connects only to addresses permitted by the policy. If a check fails or throws,
 * the connection is refused.
 */
export function createGuardedConnector(options: ConnectorOptions): Connector {
  const checks = new Set<ConnectionCheck>(options.checks ?? CONNECTION_CHECKS)
  const { addresses } = options
  const mayReach = (demand: AddressDemand, isOwnPort: boolean, address: string) =>
    permits(addresses, demand, address) && !(isOwnPort && isOwnAddress(address))
  const dialFor = (demand: AddressDemand, isOwnPort: boolean): Connector =>
    (options.dial ?? buildConnector)({
      // undici 8 offers HTTP/2 by default, which would put many streams on one socket and bypass the limit of requests
      // per host.
      allowH2: false,
      timeout: options.connectTimeoutMs,
      minVersion: 'TLSv1.2',
      rejectUnauthorized: options.verifyTls,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
      lookup: guardedLookup(
        options.resolve,
        address => !checks.has('resolved') || mayReach(demand, isOwnPort, address),
      ),
    } as buildConnector.BuildOptions)
  const dials = { public: dialFor('public', false), allowed: dialFor('allowed', false) }
  const dialsToOwnPorts = { public: dialFor('public', true), allowed: dialFor('allowed', true) }
  let openSockets = 0

  return (target, callback) => {
    const fail = (error: Error) => callback(error, null)
    const host = hostWithoutBrackets(target.hostname)
    const isLiteral = isIP(host) !== 0
    const isOwnPort = options.ownPorts?.has(portOf(target)) ?? false
    let demand: AddressDemand = 'public'
    if (!isLiteral || checks.has('literal')) {
      const verdict = judgeTarget(
        { protocol: target.protocol, hostname: target.hostname, port: target.port },
        addresses,
      )
      if (verdict.kind === 'refused') return fail(egressBlocked(verdict.reason, verdict.message))
      demand = verdict.demand
      if (isLiteral && !mayReach(demand, isOwnPort, host)) return fail(egressBlocked('literal_address'))
    }
    if (openSockets >= options.maxSockets) return fail(egressFailed('too_many_connections'))
    const socketPermitted = (socket: Socket) =>
      !checks.has('socket') || mayReach(demand, isOwnPort, socket.remoteAddress ?? '')

    const socket = (isOwnPort ? dialsToOwnPorts : dials)[demand](target, (error, connected) => {
      if (error !== null) return fail(error)
      if (socketPermitted(connected)) return callback(null, connected)
      connected.destroy()
      fail(egressBlocked('socket_address'))
    }) as unknown as Socket | undefined
    if (socket === undefined) return
    openSockets++
    socket.once('close', () => openSockets--)
    // Check after the TCP connection and before TLS, because the first TLS message would reveal the host name.
    socket.prependOnceListener('connect', () => {
      if (!socketPermitted(socket)) socket.destroy(egressBlocked('socket_address'))
    })
  }
}

function portOf({ port, protocol }: { port: string; protocol: string }): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

/** True if an address meets the demand. Text that is not an address is refused. */
function permits(addresses: AddressPolicy, demand: AddressDemand, address: string): boolean {
  const verdict = addresses.classify(address)
  return verdict.kind === 'allowed' || (demand === 'public' && verdict.kind === 'public')
}

/** Checks the addresses of a name, for connections through a proxy. */
export async function checkName(
  host: string,
  resolve: Resolve,
  addresses: AddressPolicy,
  demand: AddressDemand,
): Promise<EgressBlock | undefined> {
  const answers = await resolve(host)
  return answers.length > 0 && answers.every(answer => permits(addresses, demand, answer.address))
    ? undefined
    : 'resolved_address'
}

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void

/**
 * A `lookup` for net.connect that returns addresses only if all are permitted, because a name with a public and a
 * private address is an attack. It returns the checked addresses themselves, so a second, different answer of the DNS
 * server (rebinding) has no effect.
 */
function guardedLookup(resolve: Resolve, permitted: (address: string) => boolean) {
  return (host: string, options: { all?: boolean }, callback: LookupCallback): void => {
    resolve(hostWithoutBrackets(host)).then(
      answers => {
        const first = answers[0]
        if (first === undefined) return callback(egressFailed('dns_failed'), '')
        if (!answers.every(answer => permitted(answer.address))) return callback(egressBlocked('resolved_address'), '')
        if (options.all)
          callback(
            null,
            answers.map(answer => ({ ...answer })),
          )
        else callback(null, first.address, first.family)
      },
      error => callback(error instanceof Error ? error : new Error('The host name cannot be resolved'), ''),
    )
  }
}
