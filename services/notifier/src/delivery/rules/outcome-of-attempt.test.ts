import type { AttemptAnswer, MailsAnswer, MessageAnswer } from '@backstop/channels'
import type { ChannelKind } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { type AttemptFacts, outcomeOfAttempt, outcomeWithoutAttempt } from './outcome-of-attempt.ts'

const facts = (more: Partial<AttemptFacts>): AttemptFacts => ({
  deliveryId: 'dlv_1',
  channelKind: 'webhook',
  attempt: 1,
  test: false,
  firstAttemptAtMs: null,
  ladderAttemptsAtMs: [],
  startedAtMs: 1_000,
  endedAtMs: 1_250,
  answer: { kind: 'http', status: 200, retryAfter: null, body: 'thanks' },
  ...more,
})
const status = (code: number, body = '') => ({ kind: 'http', status: code, retryAfter: null, body }) as const

describe('an attempt that ended', () => {
  test('with success is recorded as delivered with the answer, and reports a working channel', () => {
    expect(outcomeOfAttempt(facts({}))).toMatchObject({
      state: 'delivered',
      next: null,
      record: {
        attempt: 1,
        at: new Date(1_000),
        duration_ms: 250,
        outcome: 'delivered',
        status: 200,
        response: 'thanks',
      },
      health: { kind: 'worked', atMs: 1_250 },
    })
  })

  test('with a failure is retried with a reason', () => {
    expect(outcomeOfAttempt(facts({ answer: status(500) }))).toMatchObject({
      state: 'retrying',
      reasonCode: 'receiver_failed',
      record: { outcome: 'failed', status: 500, response: null },
      next: { attempt: 2, dueAtMs: 6_250, topic: 'deliveries.retry.5s' },
      health: { kind: 'failed' },
    })
  })

  test('with 410 ends the delivery and disables the channel', () => {
    expect(outcomeOfAttempt(facts({ answer: status(410) }))).toMatchObject({
      state: 'dead',
      next: null,
      health: { kind: 'disable', reasonCode: 'receiver_gone' },
    })
  })

  test.each<{ name: string; channelKind: ChannelKind; answer: AttemptAnswer }>([
    { name: 'our proxy', channelKind: 'webhook', answer: { kind: 'no_answer', reason: 'proxy_failed', message: 'x' } },
    {
      name: 'our mail server',
      channelKind: 'email',
      answer: { kind: 'no_answer', reason: 'smtp_timeout', message: 'x' },
    },
    {
      name: 'our login at the mail server',
      channelKind: 'email',
      answer: { kind: 'smtp', code: 535, stage: 'session', text: '535 no' },
    },
    { name: 'our code', channelKind: 'slack', answer: { kind: 'not_sendable', reason: 'internal', message: 'x' } },
  ])('because of $name is retried, and is not held against the channel', ({ channelKind, answer }) => {
    expect(outcomeOfAttempt(facts({ channelKind, answer }))).toMatchObject({
      state: 'retrying',
      health: { kind: 'held_up' },
    })
  })

  test('with a message that Slack refuses ends the delivery, shows at the channel, and does not disable it', () => {
    const outcome = outcomeOfAttempt(facts({ channelKind: 'slack', answer: status(400, 'invalid_payload') }))
    expect(outcome).toMatchObject({ state: 'dead', health: { kind: 'held_up' } })
  })

  test('after 72 hours of failures is dead, and says both that and the last error', () => {
    const late = { firstAttemptAtMs: 0, startedAtMs: 72 * 3_600_000, endedAtMs: 72 * 3_600_000 + 5, attempt: 16 }
    const outcome = outcomeOfAttempt(facts({ ...late, answer: status(500) }))
    expect(outcome).toMatchObject({ state: 'dead', next: null, health: { kind: 'failed' } })
    expect(outcome.reason).toMatch(/72 hours.*answered 500/)
  })

  test('as a test says nothing about the channel, even with 410', () => {
    for (const answer of [status(200), status(500), status(410)]) {
      expect(outcomeOfAttempt(facts({ test: true, answer }))).toMatchObject({ health: null, next: null })
    }
  })

  test('at a blocked address records no response', () => {
    const answer = { kind: 'blocked', reason: 'resolved_address', message: 'Not there' } as const
    expect(outcomeOfAttempt(facts({ answer }))).toMatchObject({
      record: { status: null, response: null, error: 'Not there' },
    })
  })
})

describe('an attempt that ended for some addresses of a mail channel', () => {
  const full: MessageAnswer = { kind: 'smtp', code: 452, stage: 'recipient', text: '452 4.2.2 full' }
  const ofMails = (ended: MailsAnswer['ended'], more: Partial<AttemptFacts> = {}) => {
    const answer: AttemptAnswer = {
      kind: 'mails',
      decisive: full,
      ended,
      tally: { accepted: 1, refused: 0, pending: 1, suppressed: [] },
    }
    return outcomeOfAttempt(facts({ channelKind: 'email', attempt: 2, answer, ...more }))
  }

  test('is retried for the others, and a good report about the channel when anybody took it', () => {
    expect(ofMails([{ tag: 'a', end: 'taken' }])).toMatchObject({
      state: 'retrying',
      record: { outcome: 'failed', status: 452, response: '452 4.2.2 full' },
      endedAddresses: [{ tag: 'a', end: 'taken', attempt: 2 }],
      health: { kind: 'worked', error: expect.stringMatching(/^Accepted for 1 of 2/) },
      paceSignal: { kind: 'worked' },
    })
  })

  test('is no evidence against the channel when only a straggler is left', () => {
    const outcome = ofMails([])
    expect(outcome).toMatchObject({ state: 'retrying', health: { kind: 'held_up' }, paceSignal: null })
    expect(outcome.endedAddresses).toBeUndefined()
  })

  test('is dead after 72 hours, and says how many have it', () => {
    const late = { firstAttemptAtMs: 0, startedAtMs: 72 * 3_600_000, endedAtMs: 72 * 3_600_000 + 5, attempt: 16 }
    expect(ofMails([], late)).toMatchObject({
      state: 'dead',
      reason: expect.stringMatching(/72 hours.*Accepted for 1 of 2 addresses, pending for 1/),
    })
  })
})

test('a delivery ends without an attempt if its channel is deleted', () => {
  const verdict = { kind: 'ends', reason: 'channel_deleted', text: 'Gone' } as const
  expect(outcomeWithoutAttempt({ deliveryId: 'dlv_1', attempt: 2 }, verdict, 9)).toMatchObject({
    state: 'dead',
    reason: 'Gone',
    reasonCode: 'channel_deleted',
    record: null,
    health: null,
  })
})

describe('the pace signal of an attempt', () => {
  const answer = (code: number, retryAfter: string | null = null) => ({ ...status(code), retryAfter })
  test.each([
    { name: '200', answer: answer(200), paceSignal: { kind: 'worked', atMs: 1_250 } },
    { name: '500', answer: answer(500), paceSignal: { kind: 'failed', atMs: 1_250 } },
    { name: '429', answer: answer(429), paceSignal: { kind: 'throttled', retryAfterMs: null } },
    { name: '502', answer: answer(502), paceSignal: { kind: 'throttled', retryAfterMs: null } },
    { name: '504', answer: answer(504), paceSignal: { kind: 'throttled', retryAfterMs: null } },
    {
      name: '503 with Retry-After',
      answer: answer(503, '30'),
      paceSignal: { kind: 'throttled', retryAfterMs: 30_000 },
    },
    {
      name: 'no answer',
      answer: { kind: 'no_answer', reason: 'deadline', message: 'x' } as const,
      paceSignal: { kind: 'failed' },
    },
    { name: '410', answer: answer(410), paceSignal: { kind: 'failed' } },
  ])('$name: $paceSignal.kind', ({ answer, paceSignal }) => {
    expect(outcomeOfAttempt(facts({ answer })).paceSignal).toMatchObject(paceSignal)
  })

  test('is null if one message was refused for its content, or for a test', () => {
    expect(
      outcomeOfAttempt(facts({ channelKind: 'slack', answer: status(400, 'invalid_payload') })).paceSignal,
    ).toBeNull()
    expect(outcomeOfAttempt(facts({ test: true })).paceSignal).toBeNull()
  })
})

describe('an attempt with a digest', () => {
  test('with success delivers each delivery and records the digest', () => {
    expect(outcomeOfAttempt(facts({ digestId: 'dlv_digest' }))).toMatchObject({
      state: 'delivered',
      coveredBy: 'dlv_digest',
      reason: 'Delivered as one of several in a digest',
    })
  })

  test('that is refused ends no delivery, because the answer does not name the alert at fault', () => {
    const refused = facts({ channelKind: 'slack', digestId: 'dlv_digest', answer: status(400, 'invalid_blocks') })
    const outcome = outcomeOfAttempt(refused)
    expect(outcome).toMatchObject({ state: 'retrying', reasonCode: 'slack_message_refused', goesAlone: true })
    expect(outcome.coveredBy).toBeUndefined()
  })

  test('that is refused does not change the channel’s health', () => {
    const refused = facts({ channelKind: 'slack', digestId: 'dlv_digest', answer: status(400, 'invalid_blocks') })
    expect(outcomeOfAttempt(refused)).toMatchObject({ health: null, paceSignal: null })
  })

  test('to an unavailable receiver is retried as a digest', () => {
    const unavailable = facts({ channelKind: 'slack', digestId: 'dlv_digest', answer: status(500, 'rollup_error') })
    expect(outcomeOfAttempt(unavailable)).toMatchObject({ state: 'retrying', health: { kind: 'failed' } })
    expect(outcomeOfAttempt(unavailable).goesAlone).toBeUndefined()
  })
})
