import type { StoredChannel } from '@backstop/contracts'
import { Secret } from '@backstop/kit/config'
import type { SecretBox } from '@backstop/kit/secret-box'
import type { AttemptAnswer } from '../answer/answer.ts'
import { toHttpAnswer } from '../answer/http-answer.ts'
import type { ChannelModule, ChannelPorts } from '../channel.ts'
import type { WebhookUrlConfig } from './form.ts'

/** The URL of an incoming webhook. It is a secret, because anyone who has it can post. */
export interface WebhookUrlTarget {
  readonly url: Secret
  /**
   * The parts of the URL that are masked in answers: the URL, its path, each suffix of the path down to the token, and
   * the long values of its query. Error pages repeat the path without the host, and Slack's errors contain the team,
   * the app or the token.
   */
  readonly echoes: readonly Secret[]
}

/** The limits of a chat that accepts about one message a second for each webhook. */
export const ONE_MESSAGE_A_SECOND = {
  concurrency: 1,
  pace: { intervalMs: 1_000, targetOf: ({ fingerprint }) => fingerprint },
} satisfies Pick<ChannelModule<WebhookUrlConfig>, 'concurrency' | 'pace'>

/** Posts a message to the webhook of a chat. @param lane the id of the channel */
export function postJson(
  lane: string,
  { url, echoes }: Pick<WebhookUrlTarget, 'echoes'> & { readonly url: string },
  message: object,
  { egress, attemptMs: timeoutMs }: Pick<ChannelPorts, 'egress' | 'attemptMs'>,
): Promise<AttemptAnswer> {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  const body = JSON.stringify(message)
  return toHttpAnswer(
    egress.request({ url, method: 'POST', headers, body, lane, timeoutMs, partialBody: 'accept' }),
    echoes,
  )
}

/** @throws AppError `secret_unreadable` */
export function openWebhookUrl(channel: StoredChannel<WebhookUrlConfig>, secretBox: SecretBox): WebhookUrlTarget {
  const { _id: id, project_id: projectId, config } = channel
  const url = secretBox.open(config.webhook_url, { collection: 'channels', id, field: 'webhook_url', projectId })
  return { url, echoes: [url, ...partsOf(url.reveal()).map(part => new Secret(part))] }
}

/** Minimum length of a masked value of the query, in characters. Shorter values are versions and other ordinary words. */
const MIN_VALUE_LENGTH = 16

function partsOf(url: string): string[] {
  const parsed = URL.parse(url)
  if (parsed === null) return []
  const segments = parsed.pathname.split('/').filter(segment => segment !== '')
  const values = parsed.search.slice(1).split('&')
  return [
    ...segments.map((_, index) => segments.slice(index).join('/')),
    ...values.map(pair => pair.slice(pair.indexOf('=') + 1)),
    ...parsed.searchParams.values(),
  ].filter((part, index) => index < segments.length || part.length >= MIN_VALUE_LENGTH)
}
