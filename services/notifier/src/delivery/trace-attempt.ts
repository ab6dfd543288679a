import type { Span, Tracing } from '@backstop/kit/tracing'
import type { DeliveryJob } from '../jobs/delivery-job.ts'
import type { AttemptOutcome } from './rules/outcome-of-attempt.ts'

/** Starts the span of an attempt: in the trace of the alert or, after a delay line, in a trace of its own with a link. */
export function startAttemptSpan(tracing: Tracing, { channelKind, messages }: DeliveryJob): Span {
  const name = `deliver ${channelKind}`
  const headers = messages[0]?.message.headers ?? {}
  return tracing.continueFrom(name, 'client', headers) ?? tracing.start(name, { kind: 'client' })
}

/** The address of the receiver is no attribute, because it may contain a secret. */
export function endAttemptSpan(span: Span, { request, channelKind }: DeliveryJob, outcome: AttemptOutcome): void {
  span.set({
    'backstop.project_id': request.project_id,
    'backstop.channel_id': request.channel_id,
    'backstop.channel': channelKind,
    'backstop.alert_id': request.alert.alert_id,
    'backstop.alert_event': request.alert.event,
    'backstop.delivery_id': request.delivery_id,
    'backstop.attempt': request.attempt,
    'backstop.state': outcome.state,
    'backstop.reason': outcome.reasonCode,
    'http.response.status_code': outcome.record?.status,
  })
  span.end(outcome.record?.outcome === 'delivered' ? undefined : outcome.reasonCode)
}
