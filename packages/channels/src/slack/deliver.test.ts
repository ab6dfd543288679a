import type { Alert, DeliveryRequest } from '@backstop/contracts'
import type { EgressRequest } from '@backstop/kit/egress'
import { createManualClock } from '@backstop/kit/test'
import { expect, test } from 'vitest'
import { alert, secretBox, slackChannel as slackDocument } from '../../test/fixtures.ts'
import type { AttemptAnswer } from '../answer/answer.ts'
import { classifyAnswer } from '../answer/classify-answer.ts'
import { noMailer } from '../mailer.ts'
import { slackChannel } from './deliver.ts'

const URL = 'https://hooks.slack.com/services/T0/B0/canary-of-hook'
const request = { delivery_id: 'dlv_1', channel_id: 'chn_1', project_id: 'prj_test', attempt: 1, test: false }

/** Delivers to a Slack receiver that answers after `tookMs`. Returns the posted messages and the answer. */
async function deliverTo(
  answer: (body: { blocks?: unknown }) => { status: number; body: string },
  tookMs = 0,
  alerts: readonly Alert[] = [alert()],
) {
  const clock = createManualClock()
  const posted: EgressRequest[] = []
  const egress = {
    checkUrl: () => undefined,
    async request(one: EgressRequest) {
      posted.push(one)
      await clock.advance(tookMs)
      const { status, body } = answer(JSON.parse(String(one.body)))
      return { status, headers: {}, body: Buffer.from(body), complete: true }
    },
    async stop() {},
  }
  const ports = {
    egress,
    mailer: noMailer,
    secretBox,
    clock,
    publicUrl: null,
    brandName: 'Backstop',
    apiPublicUrl: null,
    attemptMs: 20_000,
  }
  const project = { branding: {}, timeZone: 'UTC', suppressed: new Map() }
  const channel = slackDocument('chn_1', URL)
  const requests = alerts.map(one => ({ ...request, alert: one }))
  const [first] = requests as [DeliveryRequest]
  const outcome =
    alerts.length > 1
      ? slackChannel.digest?.deliver(channel, { digestId: 'dlv_digest', requests }, ports, project, [])
      : slackChannel.deliver(channel, first, ports, project)
  return { answer: await outcome, posted }
}

test.each(['invalid_payload', 'invalid_blocks', 'invalid_attachments'])(
  'a message that Slack rejects with %s is sent again without blocks',
  async word => {
    const { answer, posted } = await deliverTo(({ blocks }) =>
      blocks === undefined ? { status: 200, body: 'ok' } : { status: 400, body: word },
    )
    expect(answer).toMatchObject({ kind: 'http', status: 200, body: 'ok' })
    expect(JSON.parse(String(posted[1]?.body))).toEqual({ text: expect.stringContaining('EUR 24.99') })
  },
)

test('the second request has the rest of the time limit of the attempt', async () => {
  const { posted } = await deliverTo(() => ({ status: 400, body: 'invalid_payload' }), 15_000)
  expect(posted.map(one => one.timeoutMs)).toEqual([20_000, 5_000])
})

test.each([200, 403, 404, 429, 500])('after %i the message is not sent again without blocks', async status => {
  const { posted } = await deliverTo(() => ({ status, body: 'whatever' }))
  expect(posted).toHaveLength(1)
})

test('a digest whose blocks Slack rejects is sent without blocks, with every alert', async () => {
  const alerts = Array.from({ length: 25 }, (_, index) => alert({ id: `alr_${index}` }))
  const { answer, posted } = await deliverTo(
    ({ blocks }) => (blocks === undefined ? { status: 200, body: 'ok' } : { status: 400, body: 'invalid_blocks' }),
    0,
    alerts,
  )
  expect(answer).toMatchObject({ kind: 'http', status: 200 })
  const { text } = JSON.parse(String(posted[1]?.body))
  for (const one of alerts) expect(text).toContain(`inc_${one.alert_id}`)
})

test.each([
  { name: 'the token', body: 'no_team for canary-of-hook' },
  { name: 'team, app and token', body: 'no_service T0/B0/canary-of-hook' },
  { name: 'app and token, with escaped slashes', body: '{"error":"B0\\/canary-of-hook"}' },
  { name: 'the path', body: 'Cannot POST /services/T0/B0/canary-of-hook' },
])('the stored answer and its error do not contain $name of the URL', async ({ body }) => {
  const { answer } = await deliverTo(() => ({ status: 404, body }))
  const report = JSON.stringify([answer, classifyAnswer('slack', answer as AttemptAnswer, 0)])
  expect(report).not.toMatch(/canary|T0|B0/)
  expect(report).toContain('[secret]')
})
