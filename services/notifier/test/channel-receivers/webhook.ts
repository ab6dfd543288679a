import { webhookChannel } from '@backstop/channels/test'
import { httpReceivers } from './http-receivers.ts'

const SECRET = 'canary-of-signing/secret'
const PREVIOUS = { secret: 'canary "of" previous secret', expiresAt: new Date('2100-01-01') }
const TOKEN = 'canary-of-header'

export const webhookReceivers = httpReceivers({
  channelTo: url =>
    webhookChannel('chn_1', `${url}/hook`, {
      secret: SECRET,
      previous: PREVIOUS,
      headers: { Authorization: `Scheme ${TOKEN}` },
    }),
  secrets: [SECRET, PREVIOUS.secret, TOKEN],
  unreadable: channel => ({ ...channel, config: webhookChannel('chn_other', 'http://127.0.0.1:9', SECRET).config }),
  answers: { accepts: { status: 204 }, fails: { status: 500 }, is_gone: { status: 410 } },
  identityOf: ({ headers, body }) => `${headers['webhook-id']} ${body}`,
})
