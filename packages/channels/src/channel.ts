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

/** How long one attempt may take, from DNS to the last byte of the answer, in milliseconds (DESIGN, "Delivering"). */
export const ATTEMPT_MS = 20_000

/** What channels may use of the outside. */
export interface ChannelPorts {
  readonly egress: Egress
  readonly mailer: Mailer
  readonly secretBox: SecretBox
  readonly clock: Clock
  /** Base of links to the console, without a slash at its end; null where there is none. */
  readonly publicUrl: string | null
  /** The name that messages carry. */
  readonly brandName: string
  /** Base of links to the management API, without a slash at its end; null where mails carry no unsubscribe link. */
  readonly apiPublicUrl: string | null
  /** How long the attempt may take, in milliseconds; a channel that asks twice shares it out. */
  readonly attemptMs: number
}

/** What a channel's project says about its messages. Read together with the channel. */
export interface ProjectFacts {
  /** Empty for Backstop's own look. */
  readonly branding: Branding
  /** Addresses of the channel, in lower case, that get no mail of this project, and why. */
  readonly suppressed: ReadonlyMap<string, SuppressionReason>
}

type AnyConfig = { readonly kind: ChannelKind }

/** One kind of channel. Its folder holds `config.ts`, `payload.ts` and `deliver.ts`; `registry.ts` lists them all. */
export interface ChannelModule<Config extends AnyConfig> {
  readonly kind: Config['kind']
  /** How many deliveries of one channel may be under way at once. */
  readonly concurrency: number
  /**
   * Makes one attempt and reports what came of it. It judges nothing and never throws for what a receiver does; the same
   * delivery gives the same bytes at every attempt.
   * @param ended the addresses that an earlier attempt ended the delivery for; none when left out
   */
  deliver(
    channel: StoredChannel<Config>,
    request: DeliveryRequest,
    ports: ChannelPorts,
    project: ProjectFacts,
    ended?: readonly EndedAddress[],
  ): Promise<Answer>
  /** How fast the place takes attempts that a channel posts to; left out where any number is taken. */
  readonly pace?: ChannelPace<Config>
  /** How a flood is told: with more than `above` deliveries waiting, up to `most` of them in one message. */
  readonly digest?: ChannelDigest<Config>
}

export interface ChannelPace<Config extends AnyConfig> {
  /** The least time between two attempts, in milliseconds. */
  readonly intervalMs: number
  /** Which place it is: channels with the same word share its pace. A keyed fingerprint, never the place itself, which may be a secret. */
  targetOf(config: Config): string
}

export interface ChannelDigest<Config extends AnyConfig> {
  readonly above: number
  readonly most: number
  /** As `deliver`, of one message that names every alert of these requests. */
  deliver(channel: StoredChannel<Config>, requests: readonly DeliveryRequest[], ports: ChannelPorts): Promise<Answer>
}
