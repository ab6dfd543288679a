import { discordChannel, refusalOf } from '@backstop/channels/test'
import { httpReceivers } from './http-receivers.ts'

const TOKEN = 'canary-of-the-token-of-a-webhook'

/** The answers of https://discord.com/developers/docs/resources/webhook#execute-webhook. */
export const discordReceivers = httpReceivers({
  channelTo: url => discordChannel('chn_1', `${url}/api/webhooks/1290000000000000000/${TOKEN}`),
  secrets: [TOKEN],
  unreadable: channel => ({ ...channel, config: discordChannel('chn_other', 'http://127.0.0.1:9').config }),
  answers: {
    accepts: { status: 200, body: '{"id":"1290000000000000001","type":0}' },
    fails: { status: 500, body: '{"message": "500: Internal Server Error", "code": 0}' },
    is_gone: { status: 404, body: '{"message": "Unknown Webhook", "code": 10015}' },
  },
  refusalTo({ path, body }) {
    const refusal = path.endsWith('?wait=true') ? refusalOf('discord', String(body)) : 'The request does not wait'
    return refusal === undefined ? undefined : { status: 400, body: refusal }
  },
  // Discord messages have no id, so the body identifies a message.
  identityOf: ({ body }) => String(body),
})
