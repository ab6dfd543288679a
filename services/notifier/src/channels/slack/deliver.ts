import type { Answer } from '../../domain/answer.ts'
import type { ChannelModule, ChannelPorts } from '../channel.ts'
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
    const answer = await post(url, channel._id, slackMessage(alert, ports.publicUrl, ports.brandName), ports)
    // Slack did not understand the blocks: the words still have to arrive.
    if (answer.kind === 'http' && answer.status === 400 && answer.body.trim() === 'invalid_payload') {
      return post(url, channel._id, { text: slackText(alert) }, ports)
    }
    return answer
  },
}

function post(url: string, lane: string, message: SlackMessage, { egress }: ChannelPorts): Promise<Answer> {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  return toHttpAnswer(
    egress.request({ url, method: 'POST', headers, body: JSON.stringify(message), lane, partialBody: 'accept' }),
  )
}
