import type { MessageName } from '@backstop/contracts'
import type { Received } from '@backstop/kit/consume'
import type { Span, Tracing } from '@backstop/kit/tracing'
import type { BatchReport } from './reconcile-batch.ts'
import type { WorkItem } from './work-item.ts'

/**
 * Reconciles the messages of a batch, each within its own trace. A span lasts as long as the batch, because a batch is
 * decided and stored as a whole.
 */
export async function reconcileTraced<N extends MessageName>(
  messages: readonly Received<N>[],
  tracing: Tracing,
  toItem: (message: Received<N>) => WorkItem,
  reconcile: (items: readonly WorkItem[]) => Promise<BatchReport>,
): Promise<void> {
  const spans: Span[] = []
  const items = messages.map(message => {
    const span = tracing.continueFrom(`process ${message.topic}`, 'consumer', message.headers)
    if (span === undefined) return toItem(message)
    if (span.isSampled) spans.push(describe(span, message, messages.length))
    return { ...toItem(message), traceparent: span.traceparent }
  })
  try {
    const report = await reconcile(items)
    if (spans.length > 0) addVerdicts(spans, report)
    for (const span of spans) span.end()
  } catch (error) {
    for (const span of spans) span.end(error)
    throw error
  }
}

function describe<N extends MessageName>(span: Span, message: Received<N>, batchSize: number): Span {
  const { topic, partition, offset } = message
  span.set({
    'messaging.system': 'kafka',
    'messaging.operation.type': 'process',
    'messaging.destination.name': topic,
    'messaging.destination.partition.id': String(partition),
    'messaging.kafka.offset': Number(offset),
    'messaging.batch.message_count': batchSize,
  })
  return span
}

/** Of several actions that one message decided, the last. */
function addVerdicts(spans: readonly Span[], { decided, traceparents }: BatchReport): void {
  const byTraceparent = new Map(spans.map(span => [span.traceparent, span]))
  for (const action of decided) {
    byTraceparent.get(traceparents.get(action.action_id) ?? '')?.set({
      'backstop.project_id': action.project_id,
      'backstop.connection_id': action.connection_id,
      'backstop.action_id': action.action_id,
      'backstop.verdict': action.verdict,
      'backstop.reason': action.reason,
      'backstop.incident_id': action.incident_id,
    })
  }
}
