/**
 * The port of a billing provider: it authenticates notifications, normalises events and objects, and opens readers of the API.
 * Everything except the readers is pure: it takes bytes, header values, prepared secrets and the time, and returns a result with
 * its reason. Bad input never throws. The registry lists the providers, and each provider has a folder with the same files.
 */
import type { ProviderKind } from '@backstop/contracts'
import type { Secret } from '@backstop/kit/config'
import type { ReadBack } from './read-back.ts'
import type { NormaliseEvent, NormaliseObject } from './sighting.ts'
import type { Signer } from './signer.ts'

/** One billing provider. */
export interface Provider {
  readonly kind: ProviderKind
  /**
   * The default names of the header with the credential, in lower case: first the neutral name, then the name that the real
   * provider sends.
   */
  readonly credentialHeaders: readonly string[]
  /** The types of events that users should subscribe to. Other events are accepted, and ignored with a reason. */
  readonly subscribedEvents: readonly string[]
  /**
   * The types of notifications without an object that may arrive instead of `subscribedEvents`. They have ids of their own, so the
   * provider's list of events does not name them. Absent if the provider sends none.
   */
  readonly thinEvents?: readonly string[]
  /** The fields of a notification that name who of the team made the request: only of its top, or anywhere in its body. */
  readonly requesterFields: { readonly names: readonly string[]; readonly within: 'top' | 'body' }
  /**
   * Prepares a secret for `authenticate`. Call it once for each secret and keep the result, because an HMAC with a prepared key
   * costs a quarter of an HMAC with a string.
   */
  prepareSecret(secret: Secret): PreparedSecret
  /**
   * Decides whether a notification is authentic. Every secret is tried, also after a match, so that the duration does not reveal
   * the matching secret.
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

/** A secret that is prepared for comparison. It does not contain the clear text. */
export type InboundCredential =
  | { readonly kind: 'signing_key'; readonly sign: Signer }
  | { readonly kind: 'password'; readonly digest: Buffer }

/** A prepared secret, or the reason why it is unusable. */
export type PreparedSecret =
  | { readonly kind: 'prepared'; readonly credential: InboundCredential }
  | { readonly kind: 'unusable'; readonly reason: UnusableSecretReason }

/** The reasons why a stored secret is unusable. */
export type UnusableSecretReason =
  /** The secret is empty. node:crypto accepts an empty HMAC key, so anyone could sign. */
  | 'secret_empty'
  /**
   * The secret has a line break or a blank, usually from pasting. Every notification would be refused without a visible reason.
   */
  | 'secret_has_whitespace'
  /** The secret has fewer than 16 bytes, so the key could be found by search from one signature. */
  | 'secret_too_short'

/** The parts of a request that authenticate it. */
export interface AuthenticationRequest {
  /**
   * All values of all headers that may have the credential, in the order of the request. More than one value is refused, because
   * two programs could use different values.
   */
  readonly headerValues: readonly string[]
  /** The raw bytes of the body. */
  readonly body: Buffer
  /** Milliseconds since the epoch. */
  readonly nowMs: number
}

/** The result of authenticating a notification. */
export type AuthenticationResult =
  | {
      readonly kind: 'authentic'
      /** Index of the first matching secret. It shows when an old secret is not used any more. */
      readonly secretIndex: number
      /** Age of the signed time in seconds. Negative for a time in the future, null if no time is signed. */
      readonly ageS: number | null
    }
  | { readonly kind: 'refused'; readonly reason: RefusalReason }

/** The reasons why a notification is not authentic. They go to the log and the metric, never to the sender. */
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

/** The id, type and subject of an event, or the reason why the JSON is no event. */
export type Identification =
  | {
      readonly kind: 'identified'
      readonly eventId: string
      readonly eventType: string
      /** The id of the payment or subscription; null if the event names none. */
      readonly subject: string | null
    }
  | { readonly kind: 'malformed'; readonly reason: MalformedReason }

/** The reasons why an authentic JSON object is no event of its provider. */
export type MalformedReason = 'not_an_event' | 'id_unusable' | 'type_unusable'

/** The longest accepted header value, in characters. Node accepts 16 KiB of headers. */
export const MAX_CREDENTIAL_LENGTH = 4096
