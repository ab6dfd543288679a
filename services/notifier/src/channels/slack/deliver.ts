import type { ChannelModule } from '../channel.ts'
import { toHttpAnswer } from '../http-answer.ts'
import { openSlackUrl } from './config.ts'
import { type SlackMessage, slackMessage, slackText } from './payload.ts'

/** Posts a message to an incoming webhook of Slack, or of a chat that speaks the same. */
export const slackChannel: ChannelModule<'slack'> = {
  kind: 'slack',
  // Slack takes one message a second for each webhook; more at once only earns 429.
  concurrency: 1,
  async deliver(channel, { alert }, ports) {
    const url = openSlackUrl(channel, ports.secretBox).reveal()
    const startedAtMs = ports.clock.now()
    const post = (message: SlackMessage) => {
      // Both tries are one attempt, so they share its limit.
      const timeoutMs = Math.max(1, startedAtMs + ATTEMPT_MS - ports.clock.now())
      return toHttpAnswer(ports.egress.request({ ...requestOf(message), url, lane: channel._id, timeoutMs }))
    }
    const answer = await post(slackMessage(alert, ports.publicUrl, ports.brandName))
    // Slack did not understand the blocks, whatever word it has for that: the words still have to arrive.
    return answer.kind === 'http' && answer.status === 400 ? post({ text: slackText(alert) }) : answer
  },
}

/** How long one attempt may take, in milliseconds. */
const ATTEMPT_MS = 20_000

function requestOf(message: SlackMessage) {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  return { method: 'POST', headers, body: JSON.stringify(message), partialBody: 'accept' } as const
}
