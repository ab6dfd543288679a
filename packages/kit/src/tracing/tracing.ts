/**
 * Traces as a narrow port. It decides which traces are recorded, so that an event of any other trace costs one random
 * id; a recorder (otlp-recorder.ts) does the rest. Code outside this folder does not depend on OpenTelemetry.
 */
import { HEADERS } from '@backstop/contracts'
import { AppError } from '../errors.ts'
import { newTraceIds } from './random-ids.ts'
import { readTraceparent, type TraceContext, writeTraceparent } from './traceparent.ts'

/** Ids, codes, counts and names of our own: never personal data, and never text of a payload. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | null | undefined>>

export type SpanKind = 'server' | 'client' | 'producer' | 'consumer'

/** One step of the work on an event. A span that is never ended is not sent. */
export interface Span {
  /** What messages carry, so that their consumer continues the trace. */
  readonly traceparent: string
  /** True if the span is sent. Attributes of other spans need not be computed. */
  readonly isSampled: boolean
  rename(name: string): void
  set(attributes: SpanAttributes): void
  /** @param error the error or the code with which the step failed; of an error only the code is recorded */
  end(error?: unknown): void
}

export interface SpanStart {
  readonly kind: SpanKind
  /** The span that this one is a part of. Without it, the span starts a trace. */
  readonly parent?: Span
  /** The untrusted traceparent of a request. The new trace links to it, but it does not decide whether the trace is recorded. */
  readonly sender?: string | undefined
}

export interface Tracing {
  start(name: string, start: SpanStart): Span
  /**
   * Starts the span of a message by its headers. After a delay line, it starts a trace of its own that links to the
   * sending span, because one trace over a minute or a day could not be read. Undefined if the message carries no trace.
   */
  continueFrom(name: string, kind: SpanKind, headers: Readonly<Record<string, string>>): Span | undefined
  /** Sends the finished spans, in two seconds at most. */
  stop(): Promise<void>
}

/** A span to record. */
export interface RecordedStart {
  readonly kind: SpanKind
  readonly traceId: string
  readonly spanId: string
  readonly parent: TraceContext | undefined
  readonly links: readonly TraceContext[]
}

export interface SpanRecorder {
  record(name: string, start: RecordedStart): Pick<Span, 'rename' | 'set'> & { end(errorCode?: string): void }
  stop(): Promise<void>
}

/** @param ratio the share of the traces to record, from 0 to 1 */
export function createTracing(recorder: SpanRecorder, ratio: number): Tracing {
  const limit = ratio * 2 ** 48

  /** Starts a trace. Traces that follow from a recorded one are recorded too. */
  function startTrace(name: string, kind: SpanKind, links: readonly TraceContext[], follows: boolean): Span {
    const ids = newTraceIds()
    const [traceId, spanId] = [ids.slice(0, 32), ids.slice(32)]
    // The last digits of a trace id are random (W3C trace context, level 2).
    if (!follows && Number.parseInt(ids.slice(20, 32), 16) >= limit) {
      return new UnsampledSpan(writeTraceparent(traceId, spanId, false))
    }
    return sampled(name, { kind, traceId, spanId, parent: undefined, links })
  }

  function startChild(name: string, kind: SpanKind, parent: TraceContext): Span {
    const { traceId } = parent
    return sampled(name, { kind, traceId, spanId: newTraceIds().slice(32), parent, links: [] })
  }

  function sampled(name: string, start: RecordedStart): Span {
    const recorded = recorder.record(name, start)
    return {
      traceparent: writeTraceparent(start.traceId, start.spanId, true),
      isSampled: true,
      rename: other => recorded.rename(other),
      set: attributes => recorded.set(attributes),
      end: error => recorded.end(error === undefined ? undefined : errorCodeOf(error)),
    }
  }

  return {
    start(name, { kind, parent, sender }) {
      if (parent === undefined) {
        const linked = readTraceparent(sender)
        return startTrace(name, kind, linked === undefined ? [] : [linked], false)
      }
      const context = parent.isSampled ? readTraceparent(parent.traceparent) : undefined
      return context === undefined ? parent : startChild(name, kind, context)
    },
    continueFrom(name, kind, headers) {
      const text = headers[HEADERS.traceparent]
      const context = readTraceparent(text)
      if (text === undefined || context === undefined) return undefined
      if (!context.isSampled) return new UnsampledSpan(text)
      const isDelayed = headers[HEADERS.dueAt] !== undefined
      return isDelayed ? startTrace(name, kind, [context], true) : startChild(name, kind, context)
    },
    stop: () => recorder.stop(),
  }
}

/** A span that is not sent. It carries its trace id on, which log lines and incidents show. */
class UnsampledSpan implements Span {
  readonly traceparent: string
  readonly isSampled = false

  constructor(traceparent: string) {
    this.traceparent = traceparent
  }

  rename(): void {}
  set(): void {}
  end(): void {}
}

/** A message may quote a payload, so it is not recorded. */
function errorCodeOf(error: unknown): string {
  if (typeof error === 'string') return error
  if (error instanceof AppError) return error.code
  return error instanceof Error ? error.name : 'unknown'
}
