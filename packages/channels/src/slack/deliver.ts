import type { StoredChannel } from '@backstop/contracts'
import type { Answer } from '../answer.ts'
import type { ChannelModule, ChannelPorts } from '../channel.ts'
import { toHttpAnswer } from '../http-answer.ts'
import { SLACK_DIGEST } from './digest.ts'
import type { SlackConfig } from './form.ts'
import type { SlackMessage } from './message.ts'
import { digestPost, type SlackPost, slackPost } from './payload.ts'
import { openSlackTarget } from './target.ts'

/** Posts a message to an incoming webhook of Slack, or of a chat that speaks the same. */
export const slackChannel: ChannelModule<SlackConfig> = {
  kind: 'slack',
  // Slack takes one message a second for each webhook (guides: reliability §7); more only earns 429.
  concurrency: 1,
  pace: { intervalMs: 1_000, targetOf: ({ fingerprint }) => fingerprint },
  deliver: (channel, { alert }, ports) => postTo(channel, slackPost(alert, ports), ports),
  digest: {
    ...SLACK_DIGEST,
    deliver(channel, requests, ports) {
      const alerts = requests.map(({ alert }) => alert)
      return postTo(channel, digestPost(alerts, ports), ports)
    },
  },
}

async function postTo(
  channel: StoredChannel<SlackConfig>,
  { message, inWords }: SlackPost,
  ports: ChannelPorts,
): Promise<Answer> {
  const target = openSlackTarget(channel, ports.secretBox)
  const url = target.url.reveal()
  const startedAtMs = ports.clock.now()
  const post = (one: SlackMessage) => {
    // Both tries are one attempt, so they share its limit.
    const timeoutMs = Math.max(1, startedAtMs + ports.attemptMs - ports.clock.now())
    return toHttpAnswer(ports.egress.request({ ...requestOf(one), url, lane: channel._id, timeoutMs }), target.forms)
  }
  const answer = await post(message)
  // Slack did not understand the blocks, whatever word it has for that: the words still have to arrive.
  return answer.kind === 'http' && answer.status === 400 ? post(inWords) : answer
}

function requestOf(message: SlackMessage) {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  return { method: 'POST', headers, body: JSON.stringify(message), partialBody: 'accept' } as const
}
