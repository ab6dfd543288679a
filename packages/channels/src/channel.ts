import type {
  Branding,
  ChannelKind,
  DeliveryRequest,
  EndedAddress,
  StoredChannel,
  SuppressionReason,
} from '@backstop/contracts'
import type { Clock, Egress, SecretBox } from '@backstop/kit'
import type { Answer } from './answer.ts'
import type { Mailer } from './mailer.ts'

/** The limit of one attempt, from DNS to the last byte of the answer, in milliseconds. */
export const ATTEMPT_MS = 20_000

/** The outside world, as far as a delivery uses it. */
export interface ChannelPorts {
  readonly egress: Egress
  readonly mailer: Mailer
  readonly secretBox: SecretBox
  readonly clock: Clock
  /** Base of links to the console, without a trailing slash; null: messages have no such links. */
  readonly publicUrl: string | null
  /** The name of this installation in messages. */
  readonly brandName: string
  /** Base of links to the management API, without a trailing slash; null: mails have no unsubscribe link. */
  readonly apiPublicUrl: string | null
  /** The limit of the attempt, in milliseconds. All requests of an attempt share it. */
  readonly attemptMs: number
}

/** The settings of a channel's project that change its messages. Read together with the channel. */
export interface ProjectFacts {
  /** Empty: Backstop's own look. */
  readonly branding: Branding
  /** The channel's addresses, in lower case, to which this project sends no mail, with the reason. */
  readonly suppressed: ReadonlyMap<string, SuppressionReason>
}

type AnyConfig = { readonly kind: ChannelKind }

/** The delivery of one kind of channel: `deliver.ts` in its folder. `registry.ts` lists them all. */
export interface ChannelModule<Config extends AnyConfig> {
  readonly kind: Config['kind']
  /** How many deliveries of one channel may be in flight at once. */
  readonly concurrency: number
  /**
   * Makes one attempt and returns the answer without judging it. It throws for nothing that a receiver does. Every attempt of a
   * delivery sends the same bytes.
   * @param ended the addresses for which an earlier attempt ended the delivery; none if left out
   */
  deliver(
    channel: StoredChannel<Config>,
    request: DeliveryRequest,
    ports: ChannelPorts,
    project: ProjectFacts,
    ended?: readonly EndedAddress[],
  ): Promise<Answer>
  /** The rate that the receiver accepts; left out if it sets no limit. */
  readonly pace?: ChannelPace<Config>
  /** If more than `above` deliveries wait, one message reports up to `most` of them; left out if the kind has no digests. */
  readonly digest?: ChannelDigest<Config>
}

export interface ChannelPace<Config extends AnyConfig> {
  /** The minimum time between two attempts, in milliseconds. */
  readonly intervalMs: number
  /** Identifies the receiver: channels with the same value share its rate. A keyed fingerprint, because the URL may be a secret. */
  targetOf(config: Config): string
}

export interface ChannelDigest<Config extends AnyConfig> {
  readonly above: number
  readonly most: number
  /** Like `deliver`, with one message that names the alert of every request. */
  deliver(channel: StoredChannel<Config>, requests: readonly DeliveryRequest[], ports: ChannelPorts): Promise<Answer>
}
