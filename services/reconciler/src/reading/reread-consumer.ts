import { HEADERS, type Readback, type Reread, sendAt } from '@backstop/contracts'
import type { Batch, BatchProgress, Bus, Consumer, IncomingMessage, OutgoingMessage, Producer } from '@backstop/kit/bus'
import { type Clock, within } from '@backstop/kit/clock'
import { type ConsumerMetrics, deadLetter } from '@backstop/kit/consume'
import { AppError } from '@backstop/kit/errors'
import type { Logger } from '@backstop/kit/logger'
import type { MessageCodec } from '@backstop/kit/registry'
import { untilAvailable } from '@backstop/kit/retry'
import type { Span, Tracing } from '@backstop/kit/tracing'
import { PROVIDERS } from '@backstop/providers'
import type { ConnectionReaders } from './connection-readers.ts'
import { RereadLanes } from './reread-lanes.ts'
import {
  type AskResult,
  decideRereadOutcome,
  RETRY_DELAY_MS,
  type RereadOutcome,
  timeToRead,
} from './rules/reread-answer.ts'

export interface RereadConsumerOptions {
  readonly bus: Bus
  readonly producer: Producer
  readonly codec: MessageCodec
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<ConsumerMetrics, 'deadLettered'>
  readonly readers: Pick<ConnectionReaders, 'readerFor' | 'healthOf'>
  /** Makes the sweep of a connection due whose key was refused. */
  readonly sweeps: { checkSoon(connectionId: string, now: number): Promise<void> }
  /** Undefined if traces are off. */
  readonly tracing?: Tracing | undefined
  onFatal(error: unknown): void
}

/** Re-reads in this process, queued or running. At this number no more messages are taken from Kafka. */
const MAX_IN_FLIGHT = 2_000
/** Re-reads that run at the same time. Each uses a socket while it waits for the provider. */
const PLACES = { quick: 64, slow: 64 }
const QUICK_FOR_MS = 3_000
/** A longer queue of a connection is postponed, because at 150 requests a minute the delay line is faster. */
const MAX_WAITING = 75
/** Low enough that 200 failing connections leave room for others. */
const MAX_WAITING_FOR_FAILING = 4
/** How long a partition pauses if the queues have no room for its next message, in milliseconds. */
const FULL_PAUSE_MS = 250
/** Grace after the deadline, in milliseconds. A reader that ends by itself in this time reports a better reason. */
const READER_GRACE_MS = 500
const TIMED_OUT: AskResult = {
  kind: 'failed',
  failure: 'unreachable',
  text: 'The provider was not read in time',
  retryAfterMs: null,
}

/**
 * Consumes `rereads`, asks the providers, and sends the answers to `readbacks`. A message is acknowledged after its
 * answer, or its copy for the delay line, was sent. Each connection has its own queue within the limits of its
 * provider.
 */
export class RereadConsumer {
  readonly #options: RereadConsumerOptions
  readonly #consumer: Consumer
  readonly #lanes: RereadLanes

  constructor(options: RereadConsumerOptions) {
    this.#options = options
    this.#lanes = new RereadLanes({
      clock: options.clock,
      places: PLACES,
      quickForMs: QUICK_FOR_MS,
      maxWaiting: MAX_WAITING,
      maxWaitingForFailing: MAX_WAITING_FOR_FAILING,
      healthOf: id => options.readers.healthOf(id),
    })
    this.#consumer = options.bus.consumer({
      groupId: 'reconciler.rereads',
      topics: ['rereads'],
      commit: 'completed',
      onFatal: options.onFatal,
      onBatch: batch => this.#onBatch(batch),
    })
  }

  start(): Promise<void> {
    return this.#consumer.start()
  }

  stop(): Promise<void> {
    return this.#consumer.stop()
  }

  msSinceProgress(): number {
    return this.#consumer.msSinceProgress()
  }

  async #onBatch(batch: Batch): Promise<BatchProgress> {
    let accepted = 0
    for (const message of batch.messages) {
      if (this.#lanes.size >= MAX_IN_FLIGHT || batch.signal.aborted) return { accepted, resumeAfterMs: FULL_PAUSE_MS }
      const reread = await this.#decode(message)
      if (reread === 'later') return { accepted, resumeAfterMs: FULL_PAUSE_MS }
      this.#enqueue(batch, message, reread)
      accepted++
    }
    return { accepted }
  }

  async #decode(message: IncomingMessage): Promise<Reread | AppError | 'later'> {
    try {
      return await this.#options.codec.decode('reread', message.value)
    } catch (error) {
      const known = error instanceof AppError ? error : new AppError('message_invalid', 'The message cannot be decoded')
      return known.retryable ? 'later' : known
    }
  }

  #enqueue(batch: Batch, message: IncomingMessage, reread: Reread | AppError): void {
    if (reread instanceof AppError) {
      void this.#deadLetter(batch, message, reread)
      return
    }
    const { connection_id, provider } = reread
    if (!this.#lanes.hasRoom(connection_id)) {
      // The attempt is not counted, because the provider was not asked.
      const traceparent = message.headers[HEADERS.traceparent]
      void this.#send(batch, message, () =>
        this.#retryMessage(reread, this.#options.clock.now() + RETRY_DELAY_MS, traceparent),
      )
      return
    }
    this.#lanes.add(connection_id, PROVIDERS[provider].readBack.limits.concurrent, () =>
      this.#processReread(batch, message, reread),
    )
  }

  async #deadLetter(batch: Batch, message: IncomingMessage, fault: AppError): Promise<void> {
    const isSent = await this.#send(batch, message, () => deadLetter(message, 'inbound.dead', fault))
    if (isSent) this.#options.metrics.deadLettered(message.topic, fault.code)
  }

  async #processReread(batch: Batch, message: IncomingMessage, reread: Reread): Promise<void> {
    if (batch.signal.aborted) return batch.abandon(message)
    const askedAt = this.#options.clock.now()
    const span = this.#options.tracing?.continueFrom('read provider', 'client', message.headers)
    const asked = await this.#askProvider(reread, batch.signal)
    // Another process has the partition now and asks again. The answer of this process may be incomplete.
    if (batch.signal.aborted) return batch.abandon(message)
    const answer = decideRereadOutcome(reread, asked, askedAt, this.#options.clock.now())
    this.#log(reread, answer)
    if (asked.kind === 'failed' && asked.failure === 'key_refused') await this.#reportRefusedKey(reread)
    if (span?.isSampled) endSpan(span, reread, answer)
    const traceparent = span?.traceparent ?? message.headers[HEADERS.traceparent]
    await this.#send(batch, message, () =>
      answer.kind === 'again'
        ? this.#retryMessage(answer.reread, answer.dueAt, traceparent)
        : this.#answerMessage(answer.readback, message.key, traceparent),
    )
  }

  /** The next sweep records that the key is refused, which people see. Without this it could be five minutes later. */
  async #reportRefusedKey({ connection_id }: Reread): Promise<void> {
    const { sweeps, clock, logger } = this.#options
    // A failure delays only this report: the regular sweep finds the refusal too.
    await sweeps.checkSoon(connection_id, clock.now()).catch(error => logger.warn({ error }, 'sweep.not_woken'))
  }

  async #askProvider(reread: Reread, signal: AbortSignal): Promise<AskResult> {
    const { clock, readers } = this.#options
    const ask = async (): Promise<AskResult> => {
      const opened = await readers.readerFor(reread.connection_id)
      if (opened.kind === 'none') return { kind: 'cannot_ask', text: opened.text }
      const ms = timeToRead(reread, clock.now())
      return within(
        clock,
        ms + READER_GRACE_MS,
        aborted => opened.reader.read(reread.targets, ms, aborted),
        TIMED_OUT,
        signal,
      )
    }
    return untilAvailable(ask, { clock, signal }).catch(error => ({ kind: 'cannot_ask', text: textOf(error) }))
  }

  /**
   * Sends a message until the broker has accepted it, then acknowledges.
   * @returns true if the broker accepted it
   */
  async #send(batch: Batch, message: IncomingMessage, make: () => OutgoingMessage): Promise<boolean> {
    const { producer, clock, logger, onFatal } = this.#options
    const { signal } = batch
    const onFailure = (error: AppError) => logger.warn({ error, offset: String(message.offset) }, 'reread.not_sent')
    try {
      await untilAvailable(() => producer.send([make()]), { clock, signal, onFailure })
      batch.complete(message)
      return true
    } catch (error) {
      if (error === signal.reason) batch.abandon(message)
      else onFatal(error)
      return false
    }
  }

  #retryMessage(reread: Reread, dueAt: number, traceparent: string | undefined): OutgoingMessage {
    const message = {
      key: reread.connection_id,
      value: this.#options.codec.encode('reread', reread),
      headers: { [HEADERS.messageId]: `${reread.reread_id}:${reread.attempt}`, ...traceHeader(traceparent) },
    }
    return sendAt('rereads.retry', message, dueAt)
  }

  #answerMessage(readback: Readback, key: string, traceparent: string | undefined): OutgoingMessage {
    return {
      topic: 'readbacks',
      key,
      value: this.#options.codec.encode('readback', readback),
      headers: { [HEADERS.messageId]: readback.readback_id, ...traceHeader(traceparent) },
    }
  }

  #log(reread: Reread, answer: RereadOutcome): void {
    const { connection_id, project_id, reason, attempt } = reread
    const facts = {
      connection_id,
      project_id,
      purpose: reason,
      attempt,
      targets: reread.targets,
      reason: answer.reason,
    }
    const isFault = answer.kind === 'again' || answer.reason === 'unanswered'
    const failure = answer.kind === 'answered' ? answer.readback.failure : null
    this.#options.logger[isFault ? 'warn' : 'info']({ ...facts, failure }, 'reread.attempted')
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function traceHeader(traceparent: string | undefined): Record<string, string> {
  return traceparent === undefined ? {} : { [HEADERS.traceparent]: traceparent }
}

function endSpan(span: Span, { provider, project_id, connection_id, attempt }: Reread, answer: RereadOutcome): void {
  span.set({
    'backstop.provider': provider,
    'backstop.project_id': project_id,
    'backstop.connection_id': connection_id,
    'backstop.attempt': attempt,
    'backstop.reason': answer.reason,
  })
  span.end(answer.kind === 'again' || answer.reason === 'unanswered' ? answer.reason : undefined)
}
