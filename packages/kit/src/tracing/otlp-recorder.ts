/** Records spans with the SDK of OpenTelemetry and sends them as OTLP over HTTP. Loaded only if traces are on. */
import { type Span as OtelSpan, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AlwaysOnSampler, BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Logger } from '../logger.ts'
import type { TraceContext } from './traceparent.ts'
import type { RecordedStart, SpanAttributes, SpanRecorder } from './tracing.ts'

export interface OtlpOptions {
  /** Where the spans are posted to. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Attributes of the process, for example service.name. */
  readonly resource: Readonly<Record<string, string>>
  readonly logger: Logger
  /** Milliseconds since any start. */
  readonly now: () => number
}

/** Spans that wait for their export. Further spans are dropped. */
const MAX_QUEUED_SPANS = 2_048
const MAX_BATCH_SPANS = 512
const EXPORT_EVERY_MS = 2_000
/** Time limit of one export with its repeats, in milliseconds. */
const EXPORT_TIMEOUT_MS = 5_000
/** Time limit of the last export, in milliseconds. A process has 25 seconds to stop, and its work needs 21. */
const FLUSH_MS = 2_000
/** A receiver that is down is logged once in this time, in milliseconds. */
const LOG_EVERY_MS = 600_000
/** Longest text of an attribute, in characters. */
const MAX_TEXT_LENGTH = 256

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const

export function createOtlpRecorder(options: OtlpOptions): SpanRecorder {
  // The ids are chosen before the span exists, because they decide whether it does.
  let ids = { traceId: '', spanId: '' }
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ ...options.resource }),
    sampler: new AlwaysOnSampler(),
    idGenerator: { generateTraceId: () => ids.traceId, generateSpanId: () => ids.spanId },
    spanLimits: { attributeValueLengthLimit: MAX_TEXT_LENGTH },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: watchExporter(options),
        maxQueueSize: MAX_QUEUED_SPANS,
        maxExportBatchSize: MAX_BATCH_SPANS,
        scheduledDelayMillis: EXPORT_EVERY_MS,
        exportTimeoutMillis: 2 * EXPORT_TIMEOUT_MS,
      }),
    ],
  })
  const tracer = provider.getTracer('backstop')
  return {
    record(name, start) {
      ids = start
      const links = start.links.map(link => ({ context: otelContext(link) }))
      const span = tracer.startSpan(name, { kind: KINDS[start.kind], links }, parentContext(start))
      return {
        rename: other => void span.updateName(other),
        set: attributes => setPresent(span, attributes),
        end: errorCode => endSpan(span, errorCode),
      }
    },
    async stop() {
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, FLUSH_MS)
      await Promise.race([provider.shutdown().catch(() => {}), late])
      clearTimeout(timer)
    },
  }
}

function endSpan(span: OtelSpan, errorCode: string | undefined): void {
  if (errorCode !== undefined) span.setAttribute('error.type', errorCode).setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}

function parentContext({ parent }: RecordedStart) {
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, otelContext(parent))
}

function otelContext({ traceId, spanId, isSampled }: TraceContext) {
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true }
}

function setPresent(span: OtelSpan, attributes: SpanAttributes): void {
  for (const [name, value] of Object.entries(attributes)) if (value != null) span.setAttribute(name, value)
}

/** The exporter, which logs a failure once in a while and drops its spans. */
function watchExporter({ url, headers, logger, now }: OtlpOptions): SpanExporter {
  const exporter = new OTLPTraceExporter({
    url,
    headers: { ...headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
    concurrencyLimit: 4,
  })
  let dropped = 0
  let loggedAtMs = Number.NEGATIVE_INFINITY
  return {
    export(spans, done) {
      exporter.export(spans, result => {
        if (result.error !== undefined || result.code !== 0) {
          dropped += spans.length
          if (now() - loggedAtMs >= LOG_EVERY_MS) {
            logger.warn({ spans: dropped, error: result.error }, 'traces.not_sent')
            dropped = 0
            loggedAtMs = now()
          }
        }
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  }
}
