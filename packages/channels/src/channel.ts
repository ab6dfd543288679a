import type {
  Branding,
  ChannelKind,
  DeliveryRequest,
  EndedAddress,
  StoredChannel,
  SuppressionReason,
} from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import type { Egress } from '@backstop/kit/egress'
import type { SecretBox } from '@backstop/kit/secret-box'
import type { Reader } from './alert-text/times.ts'
import type { AttemptAnswer } from './answer/answer.ts'
import type { Mailer } from './mailer.ts'

/** Time limit of one attempt, from DNS to the last byte of the answer, in milliseconds. */
export const ATTEMPT_MS = 20_000

/** The dependencies of a delivery. */
export interface ChannelPorts {
  readonly egress: Egress
  readonly mailer: Mailer
  readonly secretBox: SecretBox
  readonly clock: Clock
  /** Base URL of links to the console, without a trailing slash. Null: messages contain no such links. */
  readonly publicUrl: string | null
  /** The name of this installation in messages. */
  readonly brandName: string
  /** Base URL of the management API, without a trailing slash. Null: mails contain no unsubscribe link. */
  readonly apiPublicUrl: string | null
  /** Time limit of the attempt, in milliseconds. All requests of an attempt share it. */
  readonly attemptMs: number
}

/** The settings of a project that change the messages of its channels. They are read together with the channel. */
export interface ProjectFacts {
  /** An empty object selects Backstop's own branding. */
  readonly branding: Branding
  /** The time zone of the messages: a name of the IANA time zone database. */
  readonly timeZone: string
  /** The addresses to which this project sends no mail, in lower case, with the reason. */
  readonly suppressed: ReadonlyMap<string, SuppressionReason>
}

/**
 * Who reads the messages of a kind. A storm of unexplained actions becomes a few reports for people, while programs get
 * the alerts about each action.
 */
export type ChannelAudience = 'people' | 'programs'

type AnyConfig = { readonly kind: ChannelKind }

/** The delivery code of one channel kind: `deliver.ts` in its folder. `registry.ts` lists all modules. */
export interface ChannelModule<Config extends AnyConfig> {
  readonly kind: Config['kind']
  readonly audience: ChannelAudience
  /** Maximum number of concurrent deliveries for one channel. */
  readonly concurrency: number
  /**
   * Makes one attempt and returns the answer without judging it. Never throws because of a receiver's behaviour. Every
   * attempt of a delivery sends the same bytes, except for the words of how long ago something was.
   * @param ended the addresses that get no further mail of this delivery; none by default
   */
  deliver(
    channel: StoredChannel<Config>,
    request: DeliveryRequest,
    ports: ChannelPorts,
    project: ProjectFacts,
    ended?: readonly EndedAddress[],
  ): Promise<AttemptAnswer>
  /** The rate that the receiver accepts; absent if it sets no limit. */
  readonly pace?: ChannelPace<Config>
  /**
   * If more than `above` deliveries wait, one message reports up to `most` of them. Absent if the kind has no digests.
   */
  readonly digest?: ChannelDigest<Config>
}

interface ChannelPace<Config extends AnyConfig> {
  /** The minimum time between two attempts, in milliseconds. */
  readonly intervalMs: number
  /**
   * Identifies the receiver: channels with the same value share its rate. The value is a keyed fingerprint, because the
   * URL may be a secret.
   */
  targetOf(config: Config): string
}

interface ChannelDigest<Config extends AnyConfig> {
  readonly above: number
  readonly most: number
  /** Like `ChannelModule.deliver`, with one message that names the alerts of all requests. */
  deliver(
    channel: StoredChannel<Config>,
    digest: Digest,
    ports: ChannelPorts,
    project: ProjectFacts,
    ended: readonly EndedAddress[],
  ): Promise<AttemptAnswer>
}

/** Several deliveries of a channel in one message. */
export interface Digest {
  /** Derived from the deliveries, so that a repeated digest of the same deliveries has the same id. */
  readonly digestId: string
  /** At least two. The same addresses of a mail channel have ended for all of them. */
  readonly requests: readonly DeliveryRequest[]
}

/** What a message needs besides its alert. */
export interface MessageSetting {
  /** Base URL of links to the console; null for a message without such links. */
  readonly publicUrl: string | null
  /** The name of this installation. */
  readonly brandName: string
  readonly reader: Reader
  /** The names of other channels that get the alert. None if unknown. */
  readonly alsoSentTo?: readonly string[] | undefined
}

/** The setting of a message that is sent now. */
export function settingOf(
  { publicUrl, brandName, clock }: Pick<ChannelPorts, 'publicUrl' | 'brandName' | 'clock'>,
  { timeZone }: Pick<ProjectFacts, 'timeZone'>,
  request?: Pick<DeliveryRequest, 'also_sent_to'>,
): MessageSetting {
  return { publicUrl, brandName, reader: { timeZone, nowMs: clock.now() }, alsoSentTo: request?.also_sent_to }
}
