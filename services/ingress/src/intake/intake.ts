/**
 * What ingress does with one notification, without HTTP: authenticate it, make it durable, say what became of it. The
 * whole of the promise "nothing unauthenticated reaches a topic" is that `publish` is called in one place, below.
 */
import { randomBytes } from 'node:crypto'
import type { ProviderKind } from '@backstop/contracts'
import { type MeasuredClock, type MessageCodec, Secret } from '@backstop/kit'
import { type InboundCredential, type MalformedReason, PROVIDERS, type RefusalReason } from '@backstop/providers'
import type { Connections } from '../connections/connections.ts'
import { chooseCredentials } from '../connections/rules/credentials.ts'
import type { MicroBatcher, PublishResult } from '../publish/micro-batcher.ts'
import { newTraceIds } from './random-ids.ts'
import { inboundMessage } from './rules/inbound-message.ts'
import { type ParsedEvent, parseEvent } from './rules/parse-event.ts'
import { type Bucket, type RateLimit, takeToken } from './rules/rate-limit.ts'
import { traceparentOf } from './rules/traceparent.ts'

export interface Notification {
  readonly provider: ProviderKind
  /** As it stands in the path: any text. */
  readonly connectionId: string
  /** Every value of every header that may carry the provider's credential. */
  readonly headerValues: readonly string[]
  readonly traceparent: string | undefined
  /** The bytes as they came. */
  readonly body: Buffer
}

export interface ReceivedEvent {
  readonly projectId: string
  readonly eventId: string
  readonly eventType: string
  readonly subject: string | null
  readonly traceparent: string
  /** Index of the secret that fits, among those that are good now and can be read. */
  readonly secretIndex: number
  /** Whether that secret has an end: it is being rotated out. */
  readonly byOldSecret: boolean
  /** Age of the signature in seconds; null where none is signed. */
  readonly ageS: number | null
}

export type Outcome =
  | { readonly kind: 'received'; readonly event: ReceivedEvent }
  | {
      readonly kind: 'not_authentic'
      readonly reason: RefusalReason | 'unknown_connection' | 'wrong_provider' | 'no_usable_secret'
    }
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

/** Why no notification can be judged or stored yet. */
export type Unready = 'clock_not_measured' | 'connections_not_loaded' | 'schema_id_unknown'

export interface IntakePorts {
  readonly connections: Connections
  /** Throws `unavailable` while the schema id is not known. */
  readonly codec: Pick<MessageCodec, 'schemaId'>
  readonly batcher: Pick<MicroBatcher, 'publish'>
  readonly clock: Pick<MeasuredClock, 'now' | 'isMeasured'>
  readonly rateLimit: RateLimit
}

export class Intake {
  readonly #ports: IntakePorts
  /** Compared where there is nothing to compare with, so that an unknown connection costs what a known one costs. */
  readonly #dummies: Readonly<Record<ProviderKind, readonly InboundCredential[]>>
  /** Of connections that sent something authentic: nobody else can add to it. */
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

  /** Asked before a body is read: an ingress that was never ready must not hold a caller's socket. */
  unready(): Unready | undefined {
    if (!this.#ports.clock.isMeasured()) return 'clock_not_measured'
    if (!this.#ports.connections.isLoaded()) return 'connections_not_loaded'
    try {
      this.#schemaId ??= this.#ports.codec.schemaId('inbound-event')
    } catch {
      return 'schema_id_unknown'
    }
    return undefined
  }

  /** Resolves with `received` only once every in-sync replica of the broker has the event. Call it only when ready. */
  async take(notification: Notification): Promise<Outcome> {
    const nowMs = this.#ports.clock.now()
    const authentic = this.#authenticate(notification, nowMs)
    if (authentic.kind === 'not_authentic') return authentic
    // Behind the authentication, so that a flood of forgeries uses up nobody's limit.
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
      traceparent: traceparentOf(notification.traceparent, newTraceIds),
      secretIndex: authentic.secretIndex,
      byOldSecret: authentic.byOldSecret,
      ageS: authentic.ageS,
    }
    const { provider, connectionId, body } = notification
    const facts = { ...event, provider, connectionId, receivedAtMs: nowMs }
    this.#schemaId ??= this.#ports.codec.schemaId('inbound-event')
    const result = await this.#ports.batcher.publish(inboundMessage(this.#schemaId, facts, body))
    return result.kind === 'acknowledged' ? { kind: 'received', event } : { kind: 'not_stored', result, event }
  }

  #authenticate(notification: Notification, nowMs: number) {
    const { provider, connectionId, headerValues, body } = notification
    const connection = this.#ports.connections.find(connectionId)
    const choice = chooseCredentials(connection, provider, nowMs)
    const credentials = choice.kind === 'usable' ? choice.credentials : this.#dummies[provider]
    const result = PROVIDERS[provider].authenticate({ headerValues, body, nowMs }, credentials)
    if (choice.kind === 'none' || connection === undefined) {
      return { kind: 'not_authentic', reason: choice.kind === 'none' ? choice.reason : 'unknown_connection' } as const
    }
    if (result.kind === 'refused') return { kind: 'not_authentic', reason: result.reason } as const
    const byOldSecret = choice.ends[result.secretIndex] === true
    return { ...result, byOldSecret, projectId: connection.projectId }
  }
}

/** Made from random bytes that nobody keeps: nobody can sign with it, and what fits it is refused all the same. */
function dummyCredential(provider: ProviderKind): InboundCredential {
  const prepared = PROVIDERS[provider].prepareSecret(new Secret(randomBytes(32).toString('hex')))
  if (prepared.kind === 'unusable') throw new Error(`The dummy secret of ${provider} is unusable: ${prepared.reason}`)
  return prepared.credential
}
