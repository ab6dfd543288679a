import type { AppError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { type AddressPolicy, createAddressPolicy } from './address-policy.ts'
import { type ConnectorOptions, checkName, createGuardedConnector } from './connector.ts'
import { Deadline } from './deadline.ts'
import { type EgressRequest, type EgressResponse, exchange } from './exchange.ts'
import { egressBlocked, egressFailed, toEgressError } from './failure.ts'
import { ConnectionLanes, type Lane } from './lanes.ts'
import { createResolver, type Resolve } from './resolver.ts'
import { createUrlJudge, hostWithoutBrackets } from './url-policy.ts'

/** The only client for URLs that users can set. It checks addresses, follows no redirects and limits sizes. */
export interface Egress {
  /**
   * Checks a URL before it is stored. Does not use DNS, so a request to a private name may still fail later.
   * @returns `egress_blocked` with the remedy; undefined if the URL may be stored
   */
  checkUrl(url: string): AppError | undefined
  /**
   * Sends one request and reads the answer. An answer with any status is returned, including 3xx: redirects are never
   * followed.
   * @throws AppError `egress_blocked` if the target may not be reached; `unavailable` (retryable) if there is no
   * answer. `egressReason` returns the reason as a metric label
   */
  request(request: EgressRequest): Promise<EgressResponse>
  /** Aborts the requests in flight and closes all connections. */
  stop(): Promise<void>
}

export interface EgressOptions {
  /** Private networks that may be reached with any scheme, port and name (EGRESS_ALLOW_CIDRS). */
  readonly allowCidrs: readonly string[]
  /** Networks that may not be reached, even if they are public or allowed (EGRESS_DENY_CIDRS). */
  readonly denyCidrs: readonly string[]
  readonly logger: Logger
  /** Ports on which this process listens. No URL reaches them, even in an allowed network. */
  readonly ownPorts?: readonly number[]
  /** A CONNECT proxy for all requests. Proxy settings of the environment are never used. */
  readonly proxyUrl?: string
  readonly maxSockets?: number
  /** Accepts any certificate, for the whole process. Only for tests; the service logs a warning at its start. */
  readonly dangerouslySkipTlsVerification?: boolean
}

/** Parts that tests replace: DNS, and single checks of the connector. */
export interface EgressTestParts {
  readonly resolve?: Resolve
  readonly checks?: ConnectorOptions['checks']
  readonly dial?: ConnectorOptions['dial']
}

const CONNECT_TIMEOUT_MS = 5_000
const HEADERS_TIMEOUT_MS = 15_000
const DEADLINE_MS = 20_000

/** Creates the guarded HTTP client. Logs one warning for each guard that the operator disabled. */
export function createEgress(options: EgressOptions): Egress {
  return createEgressWith(options, {})
}

/** Like createEgress, with replaceable parts for the tests of this folder. */
export function createEgressWith(options: EgressOptions, seams: EgressTestParts): Egress {
  const addresses = createAddressPolicy(options)
  const resolve = seams.resolve ?? createResolver({ hostsFile: addresses.allowsAny })
  const lanes = createLanes(options, seams, addresses, resolve)
  const judge = createUrlJudge(addresses)
  warnOfRisks(options)
  const inFlight = new Set<Deadline>()
  let stopped = false
  const policyRuns = seams.checks === undefined || seams.checks.includes('literal')

  return {
    checkUrl(url) {
      const verdict = judge(url)
      return verdict.kind === 'refused' ? egressBlocked(verdict.reason, verdict.message) : undefined
    },

    async request(request) {
      if (stopped) throw egressFailed('stopped')
      const verdict = judge(request.url)
      // In tests without the literal check, such a URL is requested anyway.
      if (verdict.kind === 'refused' && policyRuns) throw egressBlocked(verdict.reason, verdict.message)
      const url = verdict.kind === 'refused' ? new URL(request.url) : verdict.url
      const deadline = new Deadline(request.timeoutMs ?? DEADLINE_MS, request.signal)
      inFlight.add(deadline)
      let lane: Lane | undefined
      try {
        if (options.proxyUrl !== undefined && verdict.kind === 'acceptable' && !isLiteral(url)) {
          const block = await deadline.race(
            checkName(hostWithoutBrackets(url.hostname), resolve, addresses, verdict.demand),
          )
          if (block !== undefined) throw egressBlocked(block)
        }
        lane = lanes.enter(request.lane ?? '', url.origin)
        return await exchange(lane.dispatcher, url, request, deadline)
      } catch (error) {
        throw toEgressError(error, options.proxyUrl !== undefined)
      } finally {
        if (lane !== undefined) lanes.leave(lane)
        inFlight.delete(deadline)
        deadline.clear()
      }
    },

    async stop() {
      stopped = true
      for (const deadline of inFlight) deadline.end('stopped')
      await lanes.stop()
    },
  }
}

function createLanes(
  options: EgressOptions,
  seams: EgressTestParts,
  addresses: AddressPolicy,
  resolve: Resolve,
): ConnectionLanes {
  const verifyTls = options.dangerouslySkipTlsVerification !== true
  return new ConnectionLanes({
    connector: createGuardedConnector({
      addresses,
      resolve,
      ownPorts: new Set(options.ownPorts),
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      maxSockets: options.maxSockets ?? 2_048,
      verifyTls,
      ...(seams.checks === undefined ? {} : { checks: seams.checks }),
      ...(seams.dial === undefined ? {} : { dial: seams.dial }),
    }),
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    headersTimeoutMs: HEADERS_TIMEOUT_MS,
    proxyUrl: options.proxyUrl,
    verifyTls,
  })
}

function isLiteral(url: URL): boolean {
  return url.hostname.startsWith('[') || /^[\d.]+$/.test(url.hostname)
}

function warnOfRisks(options: EgressOptions): void {
  if (options.allowCidrs.length > 0) {
    options.logger.warn(
      { allow_cidrs: options.allowCidrs },
      'Outgoing requests may reach networks that are not public: every user who can set a URL can reach them',
    )
  }
  if (options.dangerouslySkipTlsVerification === true) {
    options.logger.warn(
      'Certificates of receivers are not verified: anyone on the network path can read and change what is sent',
    )
  }
}
