import { refusalOf, teamsChannel } from '@backstop/channels/test'
import { httpReceivers } from './http-receivers.ts'

const SIGNATURE = 'canary-of-the-signature-of-a-url'
const PATH = '/workflows/a1b2c3/triggers/manual/paths/invoke'

/** The answers of workflows in Power Automate. */
export const teamsReceivers = httpReceivers({
  channelTo: url => teamsChannel('chn_1', `${url}${PATH}?api-version=2016-06-01&sp=%2Ftriggers&sig=${SIGNATURE}`),
  secrets: [SIGNATURE],
  unreadable: channel => ({ ...channel, config: teamsChannel('chn_other', 'http://127.0.0.1:9').config }),
  answers: {
    accepts: { status: 202 },
    fails: { status: 502, body: '{"error":{"code":"NoResponse"}}' },
    is_gone: {
      status: 400,
      body: `{"error":{"code":"WorkflowTriggerIsNotEnabled","message":"Could not execute workflow trigger 'manual' of workflow 'a1b2c3' because it is in state 'Deleted'."}}`,
    },
  },
  refusalTo({ body }) {
    const refusal = refusalOf('teams', String(body))
    return refusal === undefined ? undefined : { status: 400, body: refusal }
  },
  // Teams messages have no id, so the body identifies a message.
  identityOf: ({ body }) => String(body),
})
