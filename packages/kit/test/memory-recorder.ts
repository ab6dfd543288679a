import type { RecordedStart, SpanAttributes, SpanRecorder } from '../src/tracing/tracing.ts'

/** A span as a test sees it. */
export interface MemorySpan extends RecordedStart {
  name: string
  attributes: SpanAttributes
  /** Undefined if the span ended without an error. */
  errorCode: string | undefined
}

/** A recorder that keeps the finished spans. */
export function createMemoryRecorder(): SpanRecorder & { readonly finished: MemorySpan[] } {
  const finished: MemorySpan[] = []
  return {
    finished,
    record(name, start) {
      const span: MemorySpan = { ...start, name, attributes: {}, errorCode: undefined }
      return {
        rename(other) {
          span.name = other
        },
        set(attributes) {
          span.attributes = { ...span.attributes, ...attributes }
        },
        end(errorCode) {
          span.errorCode = errorCode
          finished.push(span)
        },
      }
    },
    stop: async () => {},
  }
}
