import { isRetryable } from '@backstop/kit/errors'
import type { Logger } from '@backstop/kit/logger'
import type { OutboxPublisher, PendingOutbox } from '@backstop/kit/outbox'

/** Publishes the outboxes of channels. An unavailable broker delays nothing here, because the sweeper publishes them later. */
export async function publishOrDefer(
  outboxes: readonly PendingOutbox[],
  { publisher, logger }: { readonly publisher: OutboxPublisher; readonly logger: Logger },
): Promise<void> {
  try {
    await publisher.publish(outboxes)
  } catch (error) {
    if (!isRetryable(error)) throw error
    logger.warn({ channels: outboxes.map(one => one.documentId), error }, 'outbox.publish_failed')
  }
}
