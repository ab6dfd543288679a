import { pagerDutyChannel, refusalOf } from '@backstop/channels/test'
import { httpReceivers } from './http-receivers.ts'

const KEY = 'canary0ofrouting0key000000000000'

/** The answers of https://developer.pagerduty.com/docs/events-api-v2-overview. */
export const pagerDutyReceivers = httpReceivers({
  channelTo: url => pagerDutyChannel('chn_1', `${url}/v2/enqueue`, KEY),
  secrets: [KEY],
  unreadable: channel => ({ ...channel, config: pagerDutyChannel('chn_other', 'http://127.0.0.1:9', KEY).config }),
  answers: {
    accepts: { status: 202, body: '{"status":"success","message":"Event processed","dedup_key":"inc_1"}' },
    fails: { status: 500, body: '{"status":"error","message":"Internal Server Error"}' },
    is_gone: {
      status: 400,
      body: '{"status":"invalid event","message":"Event object is invalid","errors":["Invalid routing key"]}',
    },
  },
  refusalTo({ body }) {
    const refusal = refusalOf('pagerduty', String(body))
    return refusal === undefined ? undefined : { status: 400, body: JSON.stringify({ errors: [refusal] }) }
  },
  identityOf: ({ body }) => String(body),
})
