/** Reads the spans that a product sent to an OTLP/HTTP receiver of the test. */
import type { Receiver } from '@backstop/kit/test'

/** A span of the protocol OTLP, with the name of its service and its attributes as plain values. */
export interface SentSpan {
  readonly service: string
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly kind: number
  readonly startMs: number
  readonly endMs: number
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly attributes: Readonly<Record<string, unknown>>
  readonly isError: boolean
}

interface OtlpAttribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface OtlpSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly attributes?: readonly OtlpAttribute[]
  readonly status?: { readonly code?: number }
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[]
  }[]
}

/** All spans that the receiver has got, in the order of arrival. */
export function readSpans({ requests }: Pick<Receiver, 'requests'>): SentSpan[] {
  return requests.flatMap(({ body }) => {
    const { resourceSpans } = JSON.parse(body.toString()) as OtlpRequest
    return resourceSpans.flatMap(({ resource, scopeSpans }) => {
      const service = String(plain(resource.attributes)['service.name'])
      return scopeSpans.flatMap(({ spans }) => spans.map(span => toSentSpan(service, span)))
    })
  })
}

const ERROR_STATUS = 2

function toSentSpan(service: string, span: OtlpSpan): SentSpan {
  const { name, traceId, spanId, parentSpanId = '', kind, links = [], attributes = [], status } = span
  return {
    service,
    name,
    traceId,
    spanId,
    parentSpanId,
    kind,
    startMs: Number(span.startTimeUnixNano) / 1e6,
    endMs: Number(span.endTimeUnixNano) / 1e6,
    links,
    attributes: plain(attributes),
    isError: status?.code === ERROR_STATUS,
  }
}

function plain(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
