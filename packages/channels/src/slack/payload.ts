import type { Alert } from '@backstop/contracts'
import type { ChannelPorts } from '../channel.ts'
import { digestInWords, digestMessage } from './digest.ts'
import { type SlackMessage, slackMessage, slackText } from './message.ts'

/** What is posted to an incoming webhook. */
export interface SlackPost {
  readonly message: SlackMessage
  /** Posted instead when Slack does not understand the blocks of the message. */
  readonly inWords: SlackMessage
}

type Surroundings = Pick<ChannelPorts, 'publicUrl' | 'brandName'>

export function slackPost(alert: Alert, { publicUrl, brandName }: Surroundings): SlackPost {
  return { message: slackMessage(alert, publicUrl, brandName), inWords: { text: slackText(alert) } }
}

/** One post that tells all of these alerts. */
export function digestPost(alerts: readonly Alert[], { publicUrl, brandName }: Surroundings): SlackPost {
  return { message: digestMessage(alerts, publicUrl, brandName), inWords: digestInWords(alerts) }
}
