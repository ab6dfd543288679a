import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ProviderKind } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import {
  announcedLength,
  answerBytes,
  type BodyLimits,
  hasShortBody,
  headerValuesOf,
  readBody,
} from '@backstop/kit/http'
import { LogLimit } from '@backstop/kit/log-budget'
import type { Logger } from '@backstop/kit/logger'
import type { Intake, IntakeOutcome, ReceivedEvent } from '../intake/intake.ts'
import type { JudgeLoad } from '../overload/judge-load.ts'
import type { Answer } from './answers.ts'
import * as answers from './answers.ts'
import type { RejectionReason } from './rejection-reasons.ts'
import type { RequestMetrics } from './request-metrics.ts'
import { routeRequest } from './rules/route.ts'
import { sendAnswer, sendAnswerEarly } from './send-answer.ts'

export interface HandlerParts {
  readonly intake: Intake
  readonly judgeLoad: JudgeLoad
  readonly bodyLimits: BodyLimits
  /** Names of the headers that may carry each provider's credential, in lower case. */
  readonly credentialHeaders: Readonly<Record<ProviderKind, ReadonlySet<string>>>
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: RequestMetrics
  /** While true, every answer closes its connection. */
  isStopping(): boolean
}

/** The outcome of a request: its answer, and the values for its log line and the metrics. */
interface RequestOutcome {
  readonly answer: Answer
  readonly result: 'received' | 'refused' | 'rate_limited' | 'malformed' | 'unavailable' | 'overloaded' | 'failed'
  /** Why the notification was not received; null if it was received. */
  readonly reason: RejectionReason | null
  /** More fields of the log line. */
  readonly facts?: Readonly<Record<string, unknown>>
  /** The event, if the notification is authentic and well-formed. */
  readonly event?: ReceivedEvent
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly beganMs: number
  readonly provider: ProviderKind | null
  readonly connectionId: string | null
  /** True if the client probably continues to send its body although the request is refused. */
  readonly isSending: boolean
}

/** Longest connection id in the log, because a path may contain any text. */
const LOGGED_ID_LENGTH = 64

/** Handles one request from its headers to its answer, and writes one log line for it, within a limit. Never rejects. */
export class WebhookHandler {
  readonly #parts: HandlerParts
  readonly #logLimit: LogLimit

  constructor(parts: HandlerParts) {
    this.#parts = parts
    this.#logLimit = new LogLimit(parts)
  }

  /**
   * Refuses a notification that would wait too long, before Node.js creates a response.
   * @returns the bytes of the answer, or undefined if the request must be handled
   */
  refuseEarly(request: IncomingMessage): Buffer | undefined {
    const { judgeLoad, isStopping, clock } = this.#parts
    const route = routeRequest(request.method ?? '', request.url ?? '')
    if (route.kind !== 'webhook' || isStopping()) return undefined
    const judgement = judgeLoad(route.provider)
    if (judgement.kind === 'bearable') return undefined
    const { provider, connectionId } = route
    this.#record({ request, provider, connectionId, beganMs: clock.now() }, overloaded(judgement.reason), null)
    return OVERLOADED_BYTES
  }

  /** @param expectsContinue the client waits for "100 Continue" before it sends its body */
  async handle(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): Promise<void> {
    const { clock, bodyLimits } = this.#parts
    const beganMs = clock.now()
    // Without listeners, the error of a broken connection could end the process. The 'close' event already reports the broken connection.
    request.on('error', ignore)
    response.on('error', ignore)
    const route = routeRequest(request.method ?? '', request.url ?? '')
    const provider = route.kind === 'webhook' ? route.provider : null
    const connectionId = route.kind === 'webhook' ? route.connectionId : null
    const isSending = !expectsContinue && announcedLength(request) !== 0
    const exchange: Exchange = { request, response, beganMs, provider, connectionId, isSending }
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      return this.#endEarly(exchange, refused(answers.HOST_MISSING, 'host_missing'))
    }
    if (route.kind === 'not_found') return this.#endEarly(exchange, refused(answers.NOT_FOUND, 'not_found'))
    if (route.kind === 'method_not_allowed') {
      return this.#endEarly(exchange, refused(answers.METHOD_NOT_ALLOWED, 'method_not_allowed'))
    }
    const early = this.#refuseByHeaders(request, route.provider)
    if (early !== undefined) return this.#endEarly(exchange, early)

    if (expectsContinue) response.writeContinue()
    const read = await readBody(request, bodyLimits, clock)
    if (read.kind === 'incomplete') {
      const isSending = read.reason !== 'too_slow'
      return this.#endEarly({ ...exchange, isSending }, INCOMPLETE_BODY_OUTCOMES[read.reason])
    }
    try {
      const outcome = await this.#parts.intake.receive({
        provider: route.provider,
        connectionId: route.connectionId,
        headerValues: headerValuesOf(request.rawHeaders, this.#parts.credentialHeaders[route.provider]),
        // Node joins repeated headers, which makes them invalid.
        traceparent: request.headers.traceparent as string | undefined,
        body: read.body,
      })
      this.#end(exchange, requestOutcomeOf(route.provider, outcome), read.body.length)
    } catch (error) {
      this.#end(exchange, failed(error), read.body.length)
    } finally {
      bodyLimits.budget.release(read.body.length)
    }
  }

  /** Refuses a request by its headers, before any byte of its body is read. Undefined if the headers are acceptable. */
  #refuseByHeaders(request: IncomingMessage, provider: ProviderKind): RequestOutcome | undefined {
    const { intake, judgeLoad, bodyLimits } = this.#parts
    const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? ''
    if (encoding !== '' && encoding !== 'identity') return refused(answers.CONTENT_ENCODED, 'content_encoded')
    if ((announcedLength(request) ?? 0) > bodyLimits.maxBytes) return refused(answers.TOO_LARGE, 'too_large')
    const unready = intake.unready()
    if (unready !== undefined) return { answer: answers.UNAVAILABLE, result: 'unavailable', reason: unready }
    const judgement = judgeLoad(provider)
    if (judgement.kind === 'overloaded') return overloaded(judgement.reason)
    return undefined
  }

  #end(exchange: Exchange, outcome: RequestOutcome, bodyBytes: number): void {
    sendAnswer(exchange.response, outcome.answer, this.#parts.isStopping())
    this.#record(exchange, outcome, bodyBytes)
  }

  async #endEarly(exchange: Exchange, outcome: RequestOutcome): Promise<void> {
    const { request, response } = exchange
    this.#record(exchange, outcome, null)
    if (response.destroyed || request.socket.destroyed) return
    // Node.js drops the body after the answer.
    const isDropped = exchange.isSending && hasShortBody(request)
    if (exchange.isSending && !isDropped) return sendAnswerEarly(request, response, outcome.answer, this.#parts.clock)
    // After a dropped body, or without a body, the connection can be used for the next request.
    const isReusable = isDropped || announcedLength(request) === 0
    sendAnswer(response, outcome.answer, this.#parts.isStopping() || !isReusable)
  }

  #record(exchange: Omit<Exchange, 'response' | 'isSending'>, outcome: RequestOutcome, bodyBytes: number | null): void {
    const { request, provider, connectionId } = exchange
    const durationMs = this.#parts.clock.now() - exchange.beganMs
    this.#parts.metrics.record({
      method: request.method ?? '',
      provider,
      status: outcome.answer.status,
      result: outcome.result,
      reason: outcome.reason,
      durationS: durationMs / 1000,
      byOldSecret: outcome.result === 'received' && outcome.event?.byOldSecret === true,
    })
    const unwritten = this.#takeLogLine(outcome)
    if (unwritten === undefined) return
    const line = {
      provider,
      connection_id: connectionId?.slice(0, LOGGED_ID_LENGTH),
      ...(outcome.event && eventLogFields(outcome.event)),
      ...outcome.facts,
      status: outcome.answer.status,
      reason: outcome.reason ?? undefined,
      body_bytes: bodyBytes ?? undefined,
      duration_ms: durationMs,
      unwritten_lines: unwritten || undefined,
    }
    if (outcome.result === 'received') this.#parts.logger.info(line, 'event.ingested')
    else if (outcome.result === 'failed') this.#parts.logger.error(line, 'event.refused')
    else this.#parts.logger.info(line, 'event.refused')
  }

  /** Returns how many lines of the same kind were not written before this one; undefined if this one is not written either. */
  #takeLogLine({ result, reason, event }: RequestOutcome): number | undefined {
    if (result === 'failed') return 0
    return this.#logLimit.take(reason ?? (event?.byOldSecret ? 'received_by_old_secret' : 'received'))
  }
}

const ignore = () => {}
const OVERLOADED_BYTES = answerBytes(answers.OVERLOADED, 'keep-alive')

const refused = (answer: Answer, reason: RejectionReason): RequestOutcome => ({ answer, result: 'refused', reason })
const overloaded = (reason: RejectionReason): RequestOutcome => ({
  answer: answers.OVERLOADED,
  result: 'overloaded',
  reason,
})
const failed = (error: unknown): RequestOutcome => ({
  answer: answers.INTERNAL_ERROR,
  result: 'failed',
  reason: 'internal',
  facts: { error },
})

const INCOMPLETE_BODY_OUTCOMES = {
  too_large: refused(answers.TOO_LARGE, 'too_large'),
  too_slow: refused(answers.BODY_TIMEOUT, 'too_slow'),
  // The client is gone and gets no answer, but the request is logged and counted.
  body_broken_off: refused(answers.BAD_REQUEST, 'body_broken_off'),
  budget_exhausted: overloaded('body_budget_exhausted'),
} as const

function requestOutcomeOf(provider: ProviderKind, outcome: IntakeOutcome): RequestOutcome {
  switch (outcome.kind) {
    case 'received':
      return {
        answer: answers.receivedAnswer(outcome.event.eventId),
        result: 'received',
        reason: null,
        event: outcome.event,
      }
    case 'not_authentic':
      return refused(answers.NOT_AUTHENTIC[provider], outcome.reason)
    case 'not_checked':
      return { answer: answers.UNAVAILABLE, result: 'unavailable', reason: outcome.reason }
    case 'rate_limited':
      return {
        answer: answers.rateLimited(outcome.retryAfterS),
        result: 'rate_limited',
        reason: 'connection_rate_limit',
        facts: { project_id: outcome.projectId },
      }
    case 'malformed':
      return { answer: answers.MALFORMED[outcome.reason], result: 'malformed', reason: outcome.reason }
    case 'not_stored':
      return notStoredOutcome(outcome)
    default:
      return outcome satisfies never
  }
}

function notStoredOutcome({ result, event }: Extract<IntakeOutcome, { kind: 'not_stored' }>): RequestOutcome {
  switch (result.kind) {
    case 'unavailable':
      return { answer: answers.UNAVAILABLE, result: 'unavailable', reason: result.reason, event }
    case 'overloaded':
      return { answer: answers.OVERLOADED, result: 'overloaded', reason: result.reason, event }
    case 'failed':
      return { ...failed(result.error), event }
    default:
      return result satisfies never
  }
}

function eventLogFields(event: ReceivedEvent): Record<string, unknown> {
  return {
    project_id: event.projectId,
    event_id: event.eventId,
    event_type: event.eventType,
    subject: event.subject,
    trace_id: event.traceId,
    signature_age_s: event.ageS ?? undefined,
    secret_index: event.secretIndex,
    old_secret: event.byOldSecret ? true : undefined,
  }
}
