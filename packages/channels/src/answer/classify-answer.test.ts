import type { ChannelKind } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { AttemptAnswer } from './answer.ts'
import { classifyAnswer, type Fault } from './classify-answer.ts'

const http = (status: number, body = '', retryAfter: string | null = null): AttemptAnswer => ({
  kind: 'http',
  status,
  body,
  retryAfter,
})
const smtp = (
  stage: Extract<AttemptAnswer, { kind: 'smtp' }>['stage'],
  code: number,
  said = 'said the server',
): AttemptAnswer => ({
  kind: 'smtp',
  stage,
  code,
  text: `${code} ${said}`,
})
const noAnswer = (reason: string): AttemptAnswer => ({ kind: 'no_answer', reason, message: 'Nobody answered' })

const SUCCESS = '{"status":"success","message":"Event processed","dedup_key":"inc_1"}'
const invalidEvent = (error: string) =>
  JSON.stringify({ status: 'invalid event', message: 'Event object is invalid', errors: [error] })

const triggerOff = (state: string) =>
  JSON.stringify({
    error: {
      code: 'WorkflowTriggerIsNotEnabled',
      message: `Could not execute workflow trigger 'manual' of workflow 'a1' because it is in state '${state}'.`,
    },
  })

interface Row {
  name: string
  channel: ChannelKind
  answer: AttemptAnswer
  kind: string
  reason: string
  /** The expected fault of a retry; `receiver` by default. */
  fault?: Fault
}

const rows: Row[] = [
  { name: '200', channel: 'webhook', answer: http(200), kind: 'delivered', reason: 'accepted' },
  { name: '204', channel: 'webhook', answer: http(204), kind: 'delivered', reason: 'accepted' },
  { name: '299', channel: 'webhook', answer: http(299), kind: 'delivered', reason: 'accepted' },
  { name: '301', channel: 'webhook', answer: http(301), kind: 'retry', reason: 'redirected' },
  { name: '302', channel: 'webhook', answer: http(302), kind: 'retry', reason: 'redirected' },
  { name: '307', channel: 'webhook', answer: http(307), kind: 'retry', reason: 'redirected' },
  { name: '400', channel: 'webhook', answer: http(400), kind: 'retry', reason: 'receiver_refused' },
  { name: '401', channel: 'webhook', answer: http(401), kind: 'retry', reason: 'receiver_refused_credentials' },
  { name: '403', channel: 'webhook', answer: http(403), kind: 'retry', reason: 'receiver_refused_credentials' },
  { name: '404', channel: 'webhook', answer: http(404), kind: 'retry', reason: 'receiver_refused' },
  { name: '408', channel: 'webhook', answer: http(408), kind: 'retry', reason: 'receiver_refused' },
  { name: '410', channel: 'webhook', answer: http(410), kind: 'disable', reason: 'receiver_gone' },
  { name: '425', channel: 'webhook', answer: http(425), kind: 'retry', reason: 'receiver_refused' },
  { name: '429', channel: 'webhook', answer: http(429), kind: 'retry', reason: 'rate_limited' },
  { name: '500', channel: 'webhook', answer: http(500), kind: 'retry', reason: 'receiver_failed' },
  { name: '503', channel: 'webhook', answer: http(503), kind: 'retry', reason: 'receiver_failed' },
  {
    name: 'a status beyond the classes',
    channel: 'webhook',
    answer: http(999),
    kind: 'retry',
    reason: 'receiver_failed',
  },
  {
    name: 'a status below the classes',
    channel: 'webhook',
    answer: http(101),
    kind: 'retry',
    reason: 'unexpected_answer',
  },
  { name: 'ok', channel: 'slack', answer: http(200, 'ok'), kind: 'delivered', reason: 'accepted' },
  { name: 'ok with a line break', channel: 'slack', answer: http(200, 'ok\n'), kind: 'delivered', reason: 'accepted' },
  { name: '200 without ok', channel: 'slack', answer: http(200, '<html>'), kind: 'retry', reason: 'unexpected_answer' },
  {
    name: 'invalid_payload',
    channel: 'slack',
    answer: http(400, 'invalid_payload'),
    kind: 'dead_letter',
    reason: 'slack_message_refused',
  },
  {
    name: 'action_prohibited',
    channel: 'slack',
    answer: http(403, 'action_prohibited'),
    kind: 'disable',
    reason: 'slack_hook_gone',
  },
  { name: 'no_service', channel: 'slack', answer: http(404, 'no_service'), kind: 'disable', reason: 'slack_hook_gone' },
  {
    name: 'channel_is_archived',
    channel: 'slack',
    answer: http(410, 'channel_is_archived'),
    kind: 'disable',
    reason: 'slack_hook_gone',
  },
  { name: '429', channel: 'slack', answer: http(429, ''), kind: 'retry', reason: 'rate_limited' },
  {
    name: 'rollup_error',
    channel: 'slack',
    answer: http(500, 'rollup_error'),
    kind: 'retry',
    reason: 'receiver_failed',
  },
  { name: '202', channel: 'pagerduty', answer: http(202, SUCCESS), kind: 'delivered', reason: 'accepted' },
  { name: '200', channel: 'pagerduty', answer: http(200, '<html>'), kind: 'retry', reason: 'unexpected_answer' },
  {
    name: '400 for the routing key',
    channel: 'pagerduty',
    answer: http(400, invalidEvent("Length of 'routing_key' is incorrect (should be 32 characters)")),
    kind: 'disable',
    reason: 'pagerduty_key_refused',
  },
  {
    name: '400 for an unknown routing key',
    channel: 'pagerduty',
    answer: http(400, invalidEvent('Invalid routing key')),
    kind: 'disable',
    reason: 'pagerduty_key_refused',
  },
  {
    name: '400 for the event',
    channel: 'pagerduty',
    answer: http(400, invalidEvent("'payload.summary' is missing or blank")),
    kind: 'dead_letter',
    reason: 'pagerduty_event_refused',
  },
  { name: '429', channel: 'pagerduty', answer: http(429), kind: 'retry', reason: 'rate_limited' },
  { name: '500', channel: 'pagerduty', answer: http(500), kind: 'retry', reason: 'receiver_failed' },
  { name: '202', channel: 'teams', answer: http(202), kind: 'delivered', reason: 'accepted' },
  { name: '200', channel: 'teams', answer: http(200, '1'), kind: 'delivered', reason: 'accepted' },
  {
    name: '200 with a body of the workflow',
    channel: 'teams',
    answer: http(200, '{"status":"ok","error":null}'),
    kind: 'delivered',
    reason: 'accepted',
  },
  {
    name: '200 with the text of an error',
    channel: 'teams',
    answer: http(
      200,
      'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId tcid=1',
    ),
    kind: 'retry',
    reason: 'teams_reported_failure',
  },
  {
    name: '202 with an error as JSON',
    channel: 'teams',
    answer: http(202, '{"error": {"code": "ActionFailed"}}'),
    kind: 'retry',
    reason: 'teams_reported_failure',
  },
  {
    name: '400 of a deleted workflow',
    channel: 'teams',
    answer: http(400, triggerOff('Deleted')),
    kind: 'disable',
    reason: 'teams_workflow_deleted',
  },
  {
    name: '400 of a workflow that is switched off',
    channel: 'teams',
    answer: http(400, triggerOff('Disabled')),
    kind: 'retry',
    reason: 'teams_workflow_off',
  },
  {
    name: '400 for the message',
    channel: 'teams',
    answer: http(400, '{"error":{"code":"TriggerInputSchemaMismatch"}}'),
    kind: 'retry',
    reason: 'receiver_refused',
  },
  { name: '401', channel: 'teams', answer: http(401), kind: 'retry', reason: 'receiver_refused' },
  { name: '404', channel: 'teams', answer: http(404), kind: 'retry', reason: 'receiver_refused' },
  { name: '410', channel: 'teams', answer: http(410), kind: 'disable', reason: 'receiver_gone' },
  { name: '429', channel: 'teams', answer: http(429), kind: 'retry', reason: 'rate_limited' },
  { name: '502', channel: 'teams', answer: http(502), kind: 'retry', reason: 'receiver_failed' },
  { name: '200', channel: 'discord', answer: http(200, '{"id":"1"}'), kind: 'delivered', reason: 'accepted' },
  {
    name: '404',
    channel: 'discord',
    answer: http(404, '{"message": "Unknown Webhook", "code": 10015}'),
    kind: 'disable',
    reason: 'discord_hook_gone',
  },
  {
    name: '401 for the token',
    channel: 'discord',
    answer: http(401, '{"message": "Invalid Webhook Token", "code": 50027}'),
    kind: 'disable',
    reason: 'discord_hook_gone',
  },
  { name: '401', channel: 'discord', answer: http(401), kind: 'retry', reason: 'receiver_refused' },
  { name: '403', channel: 'discord', answer: http(403, '<html>'), kind: 'retry', reason: 'receiver_refused' },
  {
    name: '400',
    channel: 'discord',
    answer: http(400, '{"message": "Invalid Form Body", "code": 50035}'),
    kind: 'dead_letter',
    reason: 'discord_message_refused',
  },
  {
    name: '429',
    channel: 'discord',
    answer: http(429, '{"message":"You are being rate limited.","retry_after":0.65,"global":false}', '1'),
    kind: 'retry',
    reason: 'rate_limited',
  },
  { name: '502', channel: 'discord', answer: http(502), kind: 'retry', reason: 'receiver_failed' },
  { name: '250 after the content', channel: 'email', answer: smtp('sent', 250), kind: 'delivered', reason: 'accepted' },
  {
    name: '550 for every address',
    channel: 'email',
    answer: smtp('recipient', 550),
    kind: 'disable',
    reason: 'address_refused',
  },
  {
    name: '550 5.1.1 for every address',
    channel: 'email',
    answer: smtp('recipient', 550, '5.1.1 no such user'),
    kind: 'disable',
    reason: 'address_refused',
  },
  {
    name: '554 5.7.1 for every address, from a server that blocks this installation',
    channel: 'email',
    answer: smtp('recipient', 554, '5.7.1 Service unavailable; client host blocked'),
    kind: 'retry',
    reason: 'mail_server_refused_us',
    fault: 'ours',
  },
  {
    name: '550 for relaying, from a server that requires a login',
    channel: 'email',
    answer: smtp('recipient', 550, 'relay not permitted'),
    kind: 'retry',
    reason: 'mail_server_refused_us',
    fault: 'ours',
  },
  {
    name: '530 for every address',
    channel: 'email',
    answer: smtp('recipient', 530, 'Authentication required'),
    kind: 'retry',
    reason: 'mail_server_refused_us',
    fault: 'ours',
  },
  {
    name: '450 for every address',
    channel: 'email',
    answer: smtp('recipient', 450),
    kind: 'retry',
    reason: 'mail_deferred',
  },
  {
    name: '554 for the content',
    channel: 'email',
    answer: smtp('content', 554),
    kind: 'dead_letter',
    reason: 'mail_refused',
  },
  {
    name: '451 for the content',
    channel: 'email',
    answer: smtp('content', 451),
    kind: 'retry',
    reason: 'mail_deferred',
  },
  {
    name: '550 for our sender',
    channel: 'email',
    answer: smtp('sender', 550),
    kind: 'retry',
    reason: 'mail_server_refused_us',
    fault: 'ours',
  },
  {
    name: '535 for our login',
    channel: 'email',
    answer: smtp('session', 535),
    kind: 'retry',
    reason: 'mail_server_refused_us',
    fault: 'ours',
  },
  {
    name: '421 as greeting',
    channel: 'email',
    answer: smtp('session', 421),
    kind: 'retry',
    reason: 'mail_server_refused_us',
    fault: 'ours',
  },
  {
    name: '454 for our login',
    channel: 'email',
    answer: smtp('session', 454, '4.7.0 Temporary authentication failure'),
    kind: 'retry',
    reason: 'mail_server_refused_us',
    fault: 'ours',
  },
  {
    name: '451 for our sender',
    channel: 'email',
    answer: smtp('sender', 451, '4.7.1 sending rate exceeded'),
    kind: 'retry',
    reason: 'mail_server_refused_us',
    fault: 'ours',
  },
  {
    name: '421 for the address, from a server that shuts down',
    channel: 'email',
    answer: smtp('recipient', 421, '4.3.2 shutting down'),
    kind: 'retry',
    reason: 'mail_server_refused_us',
    fault: 'ours',
  },
  {
    name: '454 for the content, from a provider whose daily quota is used up',
    channel: 'email',
    answer: smtp('content', 454, 'Throttling failure: Daily message quota exceeded'),
    kind: 'retry',
    reason: 'mail_server_refused_us',
    fault: 'ours',
  },
  {
    name: 'no valid address',
    channel: 'email',
    answer: { kind: 'not_sendable', reason: 'no_valid_address', message: 'None of them' },
    kind: 'disable',
    reason: 'no_valid_address',
  },
  {
    name: 'no mail server',
    channel: 'email',
    answer: { kind: 'not_sendable', reason: 'smtp_not_configured', message: 'None of them' },
    kind: 'retry',
    reason: 'smtp_not_configured',
    fault: 'ours',
  },
  {
    name: 'a refused connection',
    channel: 'webhook',
    answer: noAnswer('connect_refused'),
    kind: 'retry',
    reason: 'connect_refused',
  },
  { name: 'the deadline', channel: 'slack', answer: noAnswer('deadline'), kind: 'retry', reason: 'deadline' },
  {
    name: 'a blocked address',
    channel: 'webhook',
    answer: { kind: 'blocked', reason: 'resolved_address', message: 'Blocked' },
    kind: 'retry',
    reason: 'resolved_address',
  },
]

describe('the meaning of an answer', () => {
  test.each(rows)('$channel: $name is $kind, because $reason', ({ channel, answer, kind, reason, fault }) => {
    const outcome = classifyAnswer(channel, answer, 0)
    expect(outcome).toMatchObject({ kind, reason, ...(kind === 'retry' ? { fault: fault ?? 'receiver' } : {}) })
    if (outcome.kind !== 'delivered') expect(outcome.error).toMatch(/^[A-Z].{5,}[^.]$/)
  })

  test.each([
    { name: 'in one line', text: '550 5.1.1 no such user' },
    { name: 'in several lines', text: '550-5.1.1 no\r\n550-such\n550 user', as: '550 5.1.1 no such user' },
    { name: 'without its code', text: '5.1.1 no such user', as: '550 5.1.1 no such user' },
  ])('the error quotes a reply $name with its code once', ({ text, as = text }) => {
    const outcome = classifyAnswer('email', { kind: 'smtp', stage: 'recipient', code: 550, text }, 0)
    expect(outcome.error).toBe(
      `The mail server refused every address permanently (${as}); correct them, then enable the channel again`,
    )
  })

  test('a webhook delivery is retried after any status except 2xx and 410', () => {
    for (let status = 100; status < 600; status++) {
      const { kind } = classifyAnswer('webhook', http(status), 0)
      expect(kind).toBe(status >= 200 && status < 300 ? 'delivered' : status === 410 ? 'disable' : 'retry')
    }
  })

  test('a retry takes Retry-After from any refusal', () => {
    for (const status of [302, 429, 503]) {
      expect(classifyAnswer('webhook', http(status, '', '30'), 0)).toMatchObject({ retryAfterMs: 30_000 })
    }
  })
})
