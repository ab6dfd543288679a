/**
 * Receives one notification, without HTTP: authenticates it, publishes it and returns the outcome. `publish` is called in only one place,
 * after the authentication, so that nothing unauthenticated reaches a topic.
 */
import { randomBytes } from 'node:crypto'
import { INBOUND_TOPICS, type ProviderKind } from '@backstop/contracts'
import type { MeasuredClock } from '@backstop/kit/clock'
import { Secret } from '@backstop/kit/config'
import type { MessageCodec } from '@backstop/kit/registry'
import { type Span, type Tracing, traceIdOf } from '@backstop/kit/tracing'
import { type InboundCredential, type MalformedReason, PROVIDERS, type RefusalReason } from '@backstop/providers'
import type { Connections } from '../connections/connections.ts'
import { chooseCredentials, hasUnusableSecret } from '../connections/rules/credentials.ts'
import type { MicroBatcher } from '../publish/micro-batcher.ts'
import type { PublishResult } from '../publish/topic-queue.ts'
import { type Bucket, type RateLimit, takeToken } from './rules/connection-rate-limit.ts'
import { inboundMessage } from './rules/inbound-message.ts'
import { type ParsedEvent, parseEvent } from './rules/parse-event.ts'

export interface Notification {
  readonly provider: ProviderKind
  /** The connection id in the path, which may be any text. */
  readonly connectionId: string
  /** All values of all headers that may carry the provider's credential. */
  readonly headerValues: readonly string[]
  /** The sender's traceparent, which is not trusted. */
  readonly traceparent: string | undefined
  /** The bytes of the body, unchanged. */
  readonly body: Buffer
}

export interface ReceivedEvent {
  readonly projectId: string
  readonly eventId: string
  readonly eventType: string
  readonly subject: string | null
  /** Undefined if traces are off. */
  readonly traceId: string | undefined
  /** Index of the matching secret among the readable secrets that are valid now. */
  readonly secretIndex: number
  /** True if the matching secret expires, because it is being rotated out. */
  readonly byOldSecret: boolean
  /** Age of the signature in seconds; null if the provider's notifications are not signed. */
  readonly ageS: number | null
}

export type IntakeOutcome =
  | { readonly kind: 'received'; readonly event: ReceivedEvent }
  | {
      readonly kind: 'not_authentic'
      readonly reason: RefusalReason | 'unknown_connection' | 'wrong_provider' | 'no_usable_secret'
    }
  /** The connection has a secret that this process cannot use, so the notification may be authentic. */
  | { readonly kind: 'not_checked'; readonly reason: 'secret_unusable' }
  | { readonly kind: 'rate_limited'; readonly retryAfterS: number; readonly projectId: string }
  | {
      readonly kind: 'malformed'
      readonly reason: MalformedReason | Extract<ParsedEvent, { kind: 'malformed' }>['reason']
    }
  | {
      readonly kind: 'not_stored'
      readonly result: Exclude<PublishResult, { kind: 'acknowledged' }>
      readonly event: ReceivedEvent
    }

/** Why ingress cannot yet authenticate or store notifications. */
export type UnreadyReason = 'clock_not_measured' | 'connections_not_loaded' | 'schema_id_unknown'

export interface IntakePorts {
  readonly connections: Connections
  /** Throws `unavailable` until the schema id is known. */
  readonly codec: Pick<MessageCodec, 'schemaId'>
  readonly batcher: Pick<MicroBatcher, 'publish'>
  readonly clock: Pick<MeasuredClock, 'now' | 'isMeasured'>
  readonly rateLimit: RateLimit
  /** Undefined if traces are off. */
  readonly tracing?: Tracing | undefined
}

export class Intake {
  readonly #ports: IntakePorts
  /** Credentials for checking notifications to unknown connections, so that they take as long as notifications to known connections. */
  readonly #dummies: Readonly<Record<ProviderKind, readonly InboundCredential[]>>
  /** Rate limits of the connections that sent authentic notifications. Nobody else can add an entry. */
  readonly #buckets = new Map<string, Bucket>()
  #schemaId: number | undefined

  constructor(ports: IntakePorts) {
    this.#ports = ports
    this.#dummies = {
      processor: [dummyCredential('processor')],
      reseller: [dummyCredential('reseller')],
      subscription: [dummyCredential('subscription')],
    }
  }

  /**
   * Returns why notifications cannot be received yet. Call it before reading a body, so that an ingress that was never ready does not
   * hold a caller's socket.
   */
  unready(): UnreadyReason | undefined {
    if (!this.#ports.clock.isMeasured()) return 'clock_not_measured'
    if (!this.#ports.connections.isLoaded()) return 'connections_not_loaded'
    try {
      this.#schemaId ??= this.#ports.codec.schemaId('inbound-event')
    } catch {
      return 'schema_id_unknown'
    }
    return undefined
  }

  /**
   * Receives a notification. Resolves with `received` only after every in-sync replica of the broker has the event. Call it only if
   * `unready` returns undefined.
   */
  async receive(notification: Notification): Promise<IntakeOutcome> {
    const nowMs = this.#ports.clock.now()
    // Never ended, and so never sent, unless the notification is authentic: a stranger cannot make ingress send spans.
    const span = startWebhookSpan(this.#ports.tracing, notification)
    const authentic = this.#authenticate(notification, nowMs)
    if (authentic.kind === 'not_authentic' || authentic.kind === 'not_checked') return authentic
    // Checked after the authentication, so that forged notifications never use up a connection's limit.
    const { connectionId: id } = notification
    const rate = takeToken(this.#buckets.get(id), this.#ports.rateLimit, nowMs)
    if (rate.kind === 'exceeded') {
      return { kind: 'rate_limited', retryAfterS: rate.retryAfterS, projectId: authentic.projectId }
    }
    this.#buckets.set(id, rate.bucket)

    const parsed = parseEvent(notification.body)
    if (parsed.kind === 'malformed') return parsed
    const identified = PROVIDERS[notification.provider].identify(parsed.event)
    if (identified.kind === 'malformed') return identified

    const event: ReceivedEvent = {
      projectId: authentic.projectId,
      eventId: identified.eventId,
      eventType: identified.eventType,
      subject: identified.subject,
      traceId: span && traceIdOf(span.traceparent),
      secretIndex: authentic.secretIndex,
      byOldSecret: authentic.byOldSecret,
      ageS: authentic.ageS,
    }
    const { provider, connectionId, body } = notification
    this.#schemaId ??= this.#ports.codec.schemaId('inbound-event')
    const sending =
      span && this.#ports.tracing?.start(`send ${INBOUND_TOPICS[provider]}`, { kind: 'producer', parent: span })
    const facts = { ...event, provider, connectionId, receivedAtMs: nowMs, traceparent: sending?.traceparent }
    const result = await this.#ports.batcher.publish(inboundMessage(this.#schemaId, facts, body))
    if (span?.isSampled) endWebhookSpan(span, sending, notification, event, result)
    return result.kind === 'acknowledged' ? { kind: 'received', event } : { kind: 'not_stored', result, event }
  }

  #authenticate(notification: Notification, nowMs: number) {
    const { provider, connectionId, headerValues, body } = notification
    const connection = this.#ports.connections.find(connectionId)
    const choice = chooseCredentials(connection, provider, nowMs)
    const credentials = choice.kind === 'usable' ? choice.credentials : this.#dummies[provider]
    const result = PROVIDERS[provider].authenticate({ headerValues, body, nowMs }, credentials)
    const isKnown = connection !== undefined && connection.provider === provider
    if (
      isKnown &&
      MISMATCHES.has(result.kind === 'refused' ? result.reason : '') &&
      hasUnusableSecret(connection, nowMs)
    ) {
      return { kind: 'not_checked', reason: 'secret_unusable' } as const
    }
    if (choice.kind === 'none' || connection === undefined) {
      return { kind: 'not_authentic', reason: choice.kind === 'none' ? choice.reason : 'unknown_connection' } as const
    }
    if (result.kind === 'refused') return { kind: 'not_authentic', reason: result.reason } as const
    const byOldSecret = choice.isExpiring[result.secretIndex] === true
    return { ...result, byOldSecret, projectId: connection.projectId }
  }
}

/** The refusals that another secret could have prevented. */
const MISMATCHES: ReadonlySet<string> = new Set<RefusalReason>(['signature_mismatch', 'password_mismatch'])

/** A credential of random bytes that are not kept, so nobody can sign with it. A match would be refused in any case. */
function dummyCredential(provider: ProviderKind): InboundCredential {
  const prepared = PROVIDERS[provider].prepareSecret(new Secret(randomBytes(32).toString('hex')))
  if (prepared.kind === 'unusable') throw new Error(`The dummy secret of ${provider} is unusable: ${prepared.reason}`)
  return prepared.credential
}

const ROUTE = '/v1/webhooks/{provider}/{connection_id}'

function startWebhookSpan(tracing: Tracing | undefined, { traceparent }: Notification): Span | undefined {
  return tracing?.start(`POST ${ROUTE}`, { kind: 'server', sender: traceparent })
}

function endWebhookSpan(
  span: Span,
  sending: Span | undefined,
  { provider, connectionId }: Notification,
  { projectId, eventId, eventType }: ReceivedEvent,
  result: PublishResult,
): void {
  const failure = result.kind === 'acknowledged' ? undefined : result.kind === 'failed' ? 'failed' : result.reason
  sending?.set({
    'messaging.system': 'kafka',
    'messaging.operation.type': 'send',
    'messaging.destination.name': INBOUND_TOPICS[provider],
  })
  sending?.end(failure)
  span.set({
    'http.request.method': 'POST',
    'http.route': ROUTE,
    'backstop.provider': provider,
    'backstop.project_id': projectId,
    'backstop.connection_id': connectionId,
    'backstop.event_id': eventId,
    'backstop.event_type': eventType,
    'backstop.result': result.kind,
  })
  span.end(failure)
}
