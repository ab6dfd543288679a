import { slackChannel } from '@backstop/channels/test'
import { httpReceivers } from './http-receivers.ts'

const TOKEN = 'canary-of-hook'

export const slackReceivers = httpReceivers({
  channelTo: url => slackChannel('chn_1', `${url}/services/T0/B0/${TOKEN}`),
  secrets: [TOKEN],
  unreadable: channel => ({ ...channel, config: slackChannel('chn_other', 'http://127.0.0.1:9').config }),
  answers: {
    accepts: { status: 200, body: 'ok' },
    fails: { status: 500, body: 'rollup_error' },
    is_gone: { status: 404, body: 'no_service' },
  },
  // Slack messages have no id, so the body identifies a message.
  identityOf: ({ body }) => String(body),
})
