/**
 * The port of a billing provider: how its notifications are authenticated, and what its events mean. All of it is pure: bytes,
 * header values, prepared secrets and the time go in, a result with its reason comes out, and bad input never throws. The
 * registry lists the providers; each has one folder with the same files.
 */
import type { KeyObject } from 'node:crypto'
import type { ProviderKind } from '@backstop/contracts'
import type { Secret } from '@backstop/kit'
import type { ReadBack } from './read-back.ts'
import type { NormaliseEvent, NormaliseObject } from './sighting.ts'

/** One billing provider. */
export interface Provider {
  readonly kind: ProviderKind
  /**
   * Header names with the credential unless others are configured, in lower case: first the neutral name, then the name that
   * the real provider sends.
   */
  readonly credentialHeaders: readonly string[]
  /** The events that the provider should send. Others are accepted and ignored with a reason. */
  readonly subscribedEvents: readonly string[]
  /**
   * Prepares a secret for `authenticate`. Do it once per secret: an HMAC with a KeyObject costs a quarter of one with a string
   * key.
   */
  prepareSecret(secret: Secret): PreparedSecret
  /**
   * Decides whether a notification is authentic. Every secret is tried, also after a match, so that the time does not show
   * which one matches.
   */
  authenticate(request: AuthenticationRequest, secrets: readonly InboundCredential[]): AuthenticationResult
  /** Finds the id, the type and the subject of an authentic event. */
  identify(event: Readonly<Record<string, unknown>>): Identification
  /** Normalises an authentic event. */
  normaliseEvent: NormaliseEvent
  /** Normalises an object of the provider, from an event or from its API. */
  normaliseObject: NormaliseObject
  /** Reads the provider's own data. */
  readonly readBack: ReadBack
}

/** A secret prepared for comparison. It holds and prints no clear text. */
export type InboundCredential =
  | { readonly kind: 'signing_key'; readonly key: KeyObject }
  | { readonly kind: 'password'; readonly digest: Buffer }

/** A prepared secret, or why it is unusable. */
export type PreparedSecret =
  | { readonly kind: 'prepared'; readonly credential: InboundCredential }
  | { readonly kind: 'unusable'; readonly reason: UnusableSecretReason }

/** Why a stored secret is unusable. */
export type UnusableSecretReason =
  /** node:crypto accepts an empty HMAC key, so anyone could sign. */
  | 'secret_empty'
  /** Pasted with a line break or a blank: every notification would be refused without a visible reason. */
  | 'secret_has_whitespace'
  /** Fewer than 16 bytes: one signature would suffice to search for the key. */
  | 'secret_too_short'

/** The parts of a request that authenticate it. */
export interface AuthenticationRequest {
  /**
   * Every value of every header that may carry the credential, in their order. More than one is refused, because two programs
   * could choose different ones.
   */
  readonly headerValues: readonly string[]
  /** The raw bytes of the body. */
  readonly body: Buffer
  /** Milliseconds since the epoch. */
  readonly nowMs: number
}

/** Whether a notification is authentic. */
export type AuthenticationResult =
  | {
      readonly kind: 'authentic'
      /** Index of the first matching secret: shows when an old one is no longer used. */
      readonly secretIndex: number
      /** Age of the signed time in seconds, negative for a time in the future; null if no time is signed. */
      readonly ageS: number | null
    }
  | { readonly kind: 'refused'; readonly reason: RefusalReason }

/** Why a notification is not authentic: for the log and the metric, never for the sender. */
export type RefusalReason =
  | 'credential_missing'
  | 'credential_repeated'
  | 'credential_too_long'
  | 'credential_malformed'
  | 'timestamp_missing'
  | 'timestamp_repeated'
  | 'timestamp_malformed'
  | 'timestamp_too_old'
  | 'timestamp_in_future'
  | 'signature_missing'
  | 'too_many_signatures'
  | 'signature_mismatch'
  | 'password_mismatch'

/** The id, type and subject of an event, or why it is none. */
export type Identification =
  | {
      readonly kind: 'identified'
      readonly eventId: string
      readonly eventType: string
      /** The id of the payment or subscription; null if the event names none. */
      readonly subject: string | null
    }
  | { readonly kind: 'malformed'; readonly reason: MalformedReason }

/** Why an authentic JSON object is no event of its provider. */
export type MalformedReason = 'not_an_event' | 'thin_event' | 'id_unusable' | 'type_unusable'

/** The longest accepted header value, in characters. Node accepts 16 KiB of headers. */
export const MAX_CREDENTIAL_LENGTH = 4096
