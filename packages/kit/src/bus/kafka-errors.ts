import { findRefusal } from '../credentials/refusal.ts'
import { AppError, missingRight, unavailable } from '../errors.ts'
import type { KafkaConnection } from './kafkajs/client.ts'

/** The fields of kafkajs's errors. Classify errors by name, because some wrap their cause and some copy its message. */
interface KafkajsError extends Error {
  readonly type?: string
  readonly code?: unknown
  readonly retriable?: boolean
  /** The failures of a request about several topics. */
  readonly errors?: readonly unknown[]
}

/** The error and its causes, outermost first. */
function causeChainOf(error: unknown): KafkajsError[] {
  const chain: KafkajsError[] = []
  for (let next = error; next instanceof Error && chain.length < 8; next = next.cause) chain.push(next as KafkajsError)
  return chain
}

/** True if the same request may succeed later: an election, a lost connection or no answer in time. */
export function mayBeRepeated(error: unknown): boolean {
  const { errors, retriable } = causeChainOf(error).at(-1) ?? {}
  return errors === undefined ? retriable === true : errors.every(mayBeRepeated)
}

const TOO_LARGE = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'])

/** The AppError of a failed request: it names the missing right, or says that Kafka is unavailable. */
export function kafkaFailure(error: unknown, needed: NeededRights): AppError {
  const missing = describeMissingKafkaRight(error, needed)
  return missing === undefined ? unavailable('Kafka', error) : missingRight(missing, error)
}

/** The AppError of a failed send. Every failure is retryable, except for a message that is too large. */
export function classifySendError(error: unknown, needed: NeededRights): AppError {
  if (error instanceof AppError) return error
  const chain = causeChainOf(error)
  if (chain.some(({ type }) => type !== undefined && TOO_LARGE.has(type))) {
    return new AppError('message_invalid', 'A message is larger than its topic allows', { cause: error })
  }
  return kafkaFailure(error, needed)
}

/** The rights that a refused request needed. */
export interface NeededRights {
  /** As whom the request was sent, such as `user reconciler`. */
  readonly principal: string
  /** With the prefix, if there is one. */
  readonly topics: readonly string[]
  readonly operation: 'read' | 'write'
  readonly group?: string
}

/** What Kafka did not let the user do, and with which topic or group; undefined if the error has another reason. */
export function describeMissingKafkaRight(error: unknown, needed: NeededRights): string | undefined {
  const type = causeChainOf(error).find(({ type }) => type?.endsWith('_AUTHORIZATION_FAILED'))?.type
  if (type === undefined) return undefined
  const { principal, topics, operation, group } = needed
  if (type.startsWith('GROUP_'))
    return kafkaSentence(principal, `use the consumer group ${group ?? 'of its consumers'}`)
  if (type.startsWith('TOPIC_')) {
    return kafkaSentence(principal, `${operation} ${topics.length > 1 ? 'one of ' : ''}${topics.join(', ')}`)
  }
  return kafkaSentence(principal, `do what it must (${type})`)
}

export function kafkaSentence(principal: string, access: string): string {
  return `Kafka does not let the ${principal} ${access}: give it this right (docs/rights.md)`
}

/** As whom a connection sends its requests. */
export function principalOf({ sasl, tls }: Pick<KafkaConnection, 'sasl' | 'tls'>): string {
  if (sasl !== undefined) return `user ${sasl.username.revealLatest()}`
  const certificate = tls?.describeCertificate()
  return certificate === undefined ? 'user ANONYMOUS' : `user of the certificate ${certificate}`
}

/** Errors that a retry does not fix: missing permissions, an unsupported codec or protocol. */
const FATAL_NAMES = new Set([
  'KafkaJSNotImplemented',
  'KafkaJSServerDoesNotSupportApiKey',
  'KafkaJSUnsupportedMagicByteInMessageSet',
])
const FATAL_TYPES = new Set([
  'TOPIC_AUTHORIZATION_FAILED',
  'GROUP_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
  'INCONSISTENT_GROUP_PROTOCOL',
  'INVALID_GROUP_ID',
  'INVALID_SESSION_TIMEOUT',
  'UNSUPPORTED_VERSION',
])

/** `refused`: the broker and this process do not accept each other's credentials. */
export type ConsumerFault = { kind: 'fatal' | 'refused' | 'transient' | 'unknown'; reason: string }

/**
 * Decides whether a failed consumer can be replaced by a new one. `unknown` is an error that kafkajs did not intend
 * (for example while a broker shuts down); it is retried a limited number of times.
 */
export function classifyConsumerError(error: unknown): ConsumerFault {
  const refusal = findRefusal(error)
  if (refusal !== undefined) return { kind: 'refused', reason: refusal }
  const chain = causeChainOf(error)
  const fatal = chain.find(({ name, type }) => FATAL_NAMES.has(name) || (type !== undefined && FATAL_TYPES.has(type)))
  if (fatal !== undefined) return { kind: 'fatal', reason: fatal.type ?? fatal.name }
  const known = chain.find(({ name }) => name.startsWith('KafkaJS'))
  if (known !== undefined && !chain.some(({ name }) => UNINTENDED.has(name))) {
    const last = chain.at(-1)!
    return { kind: 'transient', reason: last.type ?? last.name }
  }
  return { kind: 'unknown', reason: chain.at(-1)?.name ?? typeof error }
}

const UNINTENDED = new Set(['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError'])

const REJOIN_TYPES = new Set(['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID'])

/**
 * True if a failed heartbeat or commit means that a rebalance has begun or that this member was removed from the group.
 */
export function meansRejoin(error: unknown): boolean {
  return causeChainOf(error).some(({ type }) => type !== undefined && REJOIN_TYPES.has(type))
}

/** The error and its causes in one line, without kafkajs's stack traces. */
export function describeKafkaError(error: unknown): string {
  return causeChainOf(error)
    .map(({ name, message }) => `${name}: ${message}`)
    .filter((line, index, lines) => lines.indexOf(line) === index)
    .join('; caused by ')
}
