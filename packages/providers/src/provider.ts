/**
 * A billing provider as Backstop sees it: how its notifications are authenticated and what an event of it names.
 * Everything here is pure: bytes, header values, prepared secrets and the time go in, a result with its reason comes
 * out, and bad input never throws. The registry lists the providers; each has one folder with the same files.
 */
import type { KeyObject } from 'node:crypto'
import type { ProviderKind } from '@backstop/contracts'
import type { Secret } from '@backstop/kit'
import type { ReadBack } from './read-back.ts'
import type { NormaliseEvent, NormaliseObject } from './sighting.ts'

export interface Provider {
  readonly kind: ProviderKind
  /**
   * Header names that carry the credential when nothing else is configured, in lower case: our neutral name first, then
   * the one that the real provider sends.
   */
  readonly credentialHeaders: readonly string[]
  /** The events that the provider's endpoint is to have (interface §6). Others are taken in too, and ignored with a reason. */
  readonly subscribedEvents: readonly string[]
  /**
   * Makes a secret ready for `authenticate`. To be done once per secret: a KeyObject makes the HMAC of a request four
   * times cheaper than a string key.
   */
  prepareSecret(secret: Secret): PreparedSecret
  /**
   * Decides whether a notification is authentic. Every secret is tried, none is skipped once one fits, so the time taken
   * tells nothing about which one fits.
   */
  authenticate(request: AuthenticationRequest, secrets: readonly InboundCredential[]): AuthenticationResult
  /** Finds what an authentic event is called and what it is about. */
  identify(event: Readonly<Record<string, unknown>>): Identification
  /** What an authentic event means. */
  normaliseEvent: NormaliseEvent
  /** What an object of the provider means, wherever it was read. */
  normaliseObject: NormaliseObject
  /** How the provider's own data is read. */
  readonly readBack: ReadBack
}

/** A secret in the form that comparing needs. It holds no clear text and prints none. */
export type InboundCredential =
  | { readonly kind: 'signing_key'; readonly key: KeyObject }
  | { readonly kind: 'password'; readonly digest: Buffer }

export type PreparedSecret =
  | { readonly kind: 'prepared'; readonly credential: InboundCredential }
  | { readonly kind: 'unusable'; readonly reason: UnusableSecretReason }

/** Why a stored secret can authenticate nothing. */
export type UnusableSecretReason =
  /** An empty HMAC key is valid to node:crypto: whoever knows that a secret is blank could sign. */
  | 'secret_empty'
  /** Pasted with a line break or a blank: it would refuse every notification without saying why. */
  | 'secret_has_whitespace'
  /** Fewer than 16 bytes: a signature that was seen once could be searched for its key. */
  | 'secret_too_short'

export interface AuthenticationRequest {
  /**
   * Every value of every header that may carry the credential, in order of arrival. More than one is refused: which one
   * counts would otherwise depend on who reads it.
   */
  readonly headerValues: readonly string[]
  /** The body's bytes as they came over the wire. */
  readonly body: Buffer
  /** Milliseconds since the epoch. */
  readonly nowMs: number
}

export type AuthenticationResult =
  | {
      readonly kind: 'authentic'
      /** Index of the first secret that fits, to tell when an old one is no longer in use. */
      readonly secretIndex: number
      /** Seconds between the signed time and ours, negative when it lies ahead; null where nothing signs a time. */
      readonly ageS: number | null
    }
  | { readonly kind: 'refused'; readonly reason: RefusalReason }

/** Why a notification is not authentic: for the log and the metric, never for the caller. */
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

export type Identification =
  | {
      readonly kind: 'identified'
      readonly eventId: string
      readonly eventType: string
      /** The payment or subscription that the event is about, as far as its body tells; null when it names none. */
      readonly subject: string | null
    }
  | { readonly kind: 'malformed'; readonly reason: MalformedReason }

/** Why an authentic JSON object is no event of its provider. */
export type MalformedReason = 'not_an_event' | 'thin_event' | 'id_unusable' | 'type_unusable'

/** Longest header value that is looked at, in characters. Node lets 16 KiB of headers through. */
export const MAX_CREDENTIAL_LENGTH = 4096
