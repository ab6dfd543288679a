import type { AppError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { createAddressPolicy } from './address-policy.ts'
import { type ConnectorOptions, checkName, createGuardedConnector } from './connector.ts'
import { Deadline } from './deadline.ts'
import { exchange } from './exchange.ts'
import { egressBlocked, egressFailed, toEgressError } from './failure.ts'
import { Lanes } from './lanes.ts'
import { createResolver, type Resolve } from './resolver.ts'
import { bareHost, createUrlJudge, type UrlPolicyOptions } from './url-policy.ts'

/** The one way to call a URL that a user can set (R1.1): addresses are guarded, redirects are answers, sizes are bounded. */
export interface Egress {
  /**
   * The policy for the moment at which a URL is stored: no DNS, so a private name may still fail at the request.
   * @returns `egress_blocked` with the remedy, or undefined when the URL may be stored
   */
  checkUrl(url: string): AppError | undefined
  /**
   * Sends one request and reads its answer. Any status is an answer, 3xx too: redirects are never followed.
   * @throws AppError `egress_blocked` where the URL leads to may not be reached; `unavailable` (retryable) when there is
   *   no answer. `egressReason` tells why, as a metric label.
   */
  request(request: EgressRequest): Promise<EgressResponse>
  /** Aborts what is in flight and closes every connection. */
  stop(): Promise<void>
}

export interface EgressRequest {
  readonly url: string
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer | string
  /** Deadline for everything from DNS to the last byte read, in milliseconds. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Requests of different lanes never share connections: the id of the channel, for one. Default: one lane for all. */
  readonly lane?: string
  /**
   * What an answer that is too large, or breaks off, is worth once its status is known: `refuse` (the default, for
   * callers who read the body) throws; `accept` gives the part that was read (for callers who live by the status).
   */
  readonly partialBody?: 'refuse' | 'accept'
  /** Bytes of the body that are read at most; 64 KiB when left out. */
  readonly maxBodyBytes?: number
}

export interface EgressResponse {
  readonly status: number
  /** By lower-case name; repeated ones joined with a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** As it came: never decompressed, so that nothing small can grow large. */
  readonly body: Buffer
  /** Whether `body` is all of it. */
  readonly complete: boolean
}

export interface EgressOptions {
  /** Networks beyond the public ones that may be reached, by any scheme, port and name (EGRESS_ALLOW_CIDRS). */
  readonly allowCidrs: readonly string[]
  /** Networks that may not be reached even where they are public or allowed (EGRESS_DENY_CIDRS). */
  readonly denyCidrs: readonly string[]
  readonly logger: Logger
  /** Ports of public URLs. */
  readonly allowedPorts?: readonly number[]
  /** Ports that this process listens on: nobody who sets a URL reaches them, whatever networks are allowed. */
  readonly ownPorts?: readonly number[]
  /** A CONNECT proxy that everything goes through. The proxy of the environment is never used. */
  readonly proxyUrl?: string
  readonly connectionsPerHost?: number
  readonly maxSockets?: number
  /** Accepts any certificate, for the whole process. Never outside a laboratory; the start log warns of it. */
  readonly dangerouslySkipTlsVerification?: boolean
}

/** What tests replace: DNS, and the connector's checks one at a time. */
export interface EgressSeams {
  readonly resolve?: Resolve
  readonly checks?: ConnectorOptions['checks']
  readonly dial?: ConnectorOptions['dial']
}

const CONNECT_TIMEOUT_MS = 5_000
const HEADERS_TIMEOUT_MS = 15_000
const DEADLINE_MS = 20_000

/** The guarded client (R1.1–R1.9). Logs once, as warnings, what the operator opened up. */
export function createEgress(options: EgressOptions): Egress {
  return buildEgress(options, {})
}

/** createEgress with its seams: for tests of this folder only. */
export function buildEgress(options: EgressOptions, seams: EgressSeams): Egress {
  const policy: UrlPolicyOptions = {
    addresses: createAddressPolicy(options),
    allowedPorts: options.allowedPorts ?? [443, 8443],
  }
  const verifyTls = options.dangerouslySkipTlsVerification !== true
  const resolve = seams.resolve ?? createResolver({ hostsFile: policy.addresses.allowsAny })
  const lanes = new Lanes({
    connector: createGuardedConnector({
      policy,
      resolve,
      ownPorts: new Set(options.ownPorts),
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      maxSockets: options.maxSockets ?? 2_048,
      verifyTls,
      ...(seams.checks === undefined ? {} : { checks: seams.checks }),
      ...(seams.dial === undefined ? {} : { dial: seams.dial }),
    }),
    connectionsPerHost: options.connectionsPerHost ?? 4,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    headersTimeoutMs: HEADERS_TIMEOUT_MS,
    proxyUrl: options.proxyUrl,
    verifyTls,
  })
  const judge = createUrlJudge(policy)
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
      // A test that leaves the literal check out wants to see how far such a URL gets without it.
      if (verdict.kind === 'refused' && policyRuns) throw egressBlocked(verdict.reason, verdict.message)
      const url = verdict.kind === 'refused' ? new URL(request.url) : verdict.url
      const deadline = new Deadline(request.timeoutMs ?? DEADLINE_MS, request.signal)
      inFlight.add(deadline)
      try {
        if (options.proxyUrl !== undefined && verdict.kind === 'acceptable' && !isLiteral(url)) {
          const block = await deadline.race(
            checkName(bareHost(url.hostname), resolve, policy.addresses, verdict.demand),
          )
          if (block !== undefined) throw egressBlocked(block)
        }
        return await lanes.run(request.lane ?? '', url.origin, dispatcher =>
          exchange(dispatcher, url, request, deadline),
        )
      } catch (error) {
        throw toEgressError(error, options.proxyUrl !== undefined)
      } finally {
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
